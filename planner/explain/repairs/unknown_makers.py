"""Pods that a controller of an unknown kind makes: nobody here knows where their spec comes from.

An operator's custom resource has fields of its own, and what is changed on the objects that it
makes, it sets back. So changes of such specs are no repairs that could be offered.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.replacement import known_controller
from planner.explain.repairs.proposal import Case
from planner_models.meta import OwnerReference
from planner_models.pod import Pod

_ABOVE = frozenset(("Deployment", "CronJob"))
"""Kinds that make controllers, beside those that make pods."""


def unknown_maker(cluster: Cluster, workload: WorkloadRef, pod: Pod) -> OwnerReference | None:
    """Who decides on the spec of a workload's pods, if planner does not know how."""
    if pod.owner is None:
        return None
    if not known_controller(pod.owner):
        return pod.owner
    found = cluster.owners.controllers.get(workload)
    above = found.metadata.controller if found is not None else None
    if above is None or above.kind in _ABOVE or known_controller(above):
        return None
    return above


def unknown_maker_of(case: Case) -> OwnerReference | None:
    """Of the pod that waits."""
    return unknown_maker(case.subject.cluster, case.subject.workload, case.subject.record)


def spec_changes_not_known(case: Case) -> Iterator[str]:
    """What is missing from the list of repairs, and where to look."""
    subject, maker = case.subject, unknown_maker_of(case)
    if maker is not None:
        yield (
            f"Not listed: changes of the spec of {subject.name}, which {maker.kind} {maker.name} "
            "decides on. planner does not know that kind: change the pods where it describes them."
        )
