"""The pods of a StatefulSet in a snapshot, and those that it may make under the same names.

All of them are put into one snapshot before a rollout begins, so that its runs differ in placement
alone. Which template an old revision had is not in the input: pods below a `partition` are made as
they are, and rolling back counts as a new template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from planner.cluster import GONE, Cluster
from planner.cluster.new_pods import with_new_pods
from planner.cluster.owners import WorkloadRef
from planner.disruption.ordinals import ordinal_of
from planner.disruption.templates import another_pod
from planner.scenario.controller_run import Stage
from planner.scenario.new_revision import labelled, replica_mould, same_revision
from planner.scenario.stateful_set import Policy
from planner.scenario.workload_pods import workload_pods
from planner.scheduler.profile import Profile
from planner.sources.replicas import Mould, owner_of, stateful_pod
from planner_models.pod import Pod, PodTemplate
from planner_models.workload import REVISION_LABEL, StatefulSet


@dataclass(frozen=True)
class Slot:
    """The pods of one ordinal: that of the snapshot, and the one that is made when it is gone.

    They are the same where the controller would make the pod as it is. `stored_updated` says that
    the snapshot's is of the new revision already.
    """

    stored: int | None
    again: int | None
    stored_updated: bool = False

    @property
    def pods(self) -> tuple[int, ...]:
        """All that may be there, the stored one first."""
        return tuple(p for p in dict.fromkeys((self.stored, self.again)) if p is not None)


@dataclass(frozen=True)
class Revisions:
    """The StatefulSet as the snapshot has it and as it will be, with the name of the new one."""

    before: StatefulSet
    after: StatefulSet
    name: str

    def has(self, pod: Pod) -> bool:
        """Whether the pod is of the new revision."""
        template, label = self.before.spec.template, pod.labels.get(REVISION_LABEL)
        if not same_revision(template, self.after.spec.template):
            return False
        if label and self.before.status.update_revision:
            return label == self.name
        return not another_pod(template, pod, same_template=False)


def stateful_set_stage(
    cluster: Cluster, profile: Profile, revisions: Revisions, policy: Policy
) -> tuple[Stage, dict[int, Slot]]:
    """The stage, and the pods by ordinal."""
    stored = stored_pods(cluster, revisions.before)
    moulds = _Moulds(cluster, revisions, stored.values())
    slots: dict[int, Slot] = {}
    made: list[Pod] = []
    for ordinal in sorted(stored.keys() | set(policy.ordinals)):
        pod = stored.get(ordinal)
        updated = pod is not None and revisions.has(cluster.pods[pod])
        due = ordinal in policy.updated
        again = pod if pod is not None and not cluster.pods[pod].terminating else None
        if ordinal not in policy.ordinals:
            again = None
        elif again is None or (due and not updated):
            again = len(cluster.pods) + len(made)
            made.append(moulds.pod(ordinal, pod, due=due))
        slots[ordinal] = Slot(pod, again, updated)
    owners = cluster.owners.with_controllers((revisions.after,))
    staged = with_new_pods(cluster, made, owners)
    return Stage(staged, profile, [pod for each in slots.values() for pod in each.pods]), slots


def stored_pods(cluster: Cluster, stateful_set: StatefulSet) -> dict[int, int]:
    """The StatefulSet's pods in the snapshot by ordinal, those that are leaving included."""
    ref = WorkloadRef(stateful_set.namespace, "StatefulSet", stateful_set.name)
    numbered = ((ordinal_of(cluster.pods[pod].name), pod) for pod in workload_pods(cluster, ref))
    return {ordinal: pod for ordinal, pod in numbered if ordinal is not None}


class _Moulds:
    """New pods of both revisions."""

    def __init__(self, cluster: Cluster, revisions: Revisions, stored: Iterable[int]) -> None:
        self._cluster = cluster
        self._after = revisions.after
        self._sibling = next((cluster.pods[pod] for pod in stored), None)
        self._same_spec = revisions.before.spec.template.spec == revisions.after.spec.template.spec
        self._old = revisions.before.spec.template
        self._new = labelled(revisions.after.spec.template, REVISION_LABEL, revisions.name)
        self._made: dict[bool, Mould] = {}

    def pod(self, ordinal: int, stored: int | None, *, due: bool) -> Pod:
        """What is made for an ordinal: of the new revision where it is due, otherwise as before."""
        if not due and stored is not None:
            record = self._cluster.pods[stored]
            fresh = {"uid": "", "node_name": "", "ready": False, "terminating": False}
            return msgspec.structs.replace(record, phase="Pending", synthesised=True, **fresh)
        if due not in self._made:
            self._made[due] = self._mould(self._new if due else self._old, due=due)
        return stateful_pod(self._made[due], self._after, ordinal)

    def _mould(self, template: PodTemplate, *, due: bool) -> Mould:
        owner = owner_of("StatefulSet", self._after.metadata)
        sibling = self._sibling if self._same_spec or not due else None
        return replica_mould(self._cluster, template, self._after.namespace, owner, sibling)


def named_apart(ended: Cluster, slots: Mapping[int, Slot]) -> Cluster:
    """Of two pods of one name only the one that is there keeps it."""
    renamed: dict[int, Pod] = {}
    for each in slots.values():
        for pod in each.pods if len(each.pods) > 1 else ():
            if ended.node_of[pod] == GONE:
                renamed[pod] = msgspec.structs.replace(ended.pods[pod], name=f"{pod}-gone")
    return ended.with_pods(renamed)
