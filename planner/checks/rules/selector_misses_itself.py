"""`selector-misses-itself`: a spread constraint that does not count the pods which carry it.

The API server takes it. No domain ever counts one of the workload's own pods, so kube-scheduler
may put all of them into one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.finding import READ, Finding, Proof
from planner.checks.rule import per_workload
from planner.checks.rules.spread_no_selector import own_labels
from planner.checks.subject import Subject
from planner.checks.texts import selector_text
from planner.checks.tried import second_pod
from planner.checks.workloads import CheckedWorkload
from planner.words import count_of, short_key
from planner_models.topology_spread import TopologySpreadConstraint

ID = "selector-misses-itself"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    labels = subject.sample(workload).labels
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        selector = constraint.label_selector
        if selector is None or selector.is_empty or selector.matches(labels):
            continue
        key = short_key(constraint.topology_key)
        name = workload.name
        text = f"{selector_text(selector)} matches no {name} pod, so no {key} ever counts one."
        tried = _tried(subject, workload, constraint)
        yield Finding(
            rule=ID,
            severity="warning",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}].labelSelector"),
            title=f"the {key} spread of {workload.name} does nothing for its own pods",
            text=(text, tried) if tried else (text,),
            proof=Proof("simulated", seeds=1, seen=1) if tried else READ,
            ideas=tuple(own_labels(subject, workload, index)),
        )


def _tried(
    subject: Subject, workload: CheckedWorkload, constraint: TopologySpreadConstraint
) -> str:
    """What the second pod may do once the first one runs, where nodes are there to try it."""
    found = second_pod(subject, workload) if subject.has_nodes else None
    if found is None or not len(found.passing):
        return ""
    domain_of = subject.samples.topology(constraint.topology_key).domain_of
    if domain_of[found.first] < 0:
        return ""
    beside = int(np.count_nonzero(domain_of[found.passing] == domain_of[found.first]))
    where = count_of(len(found.passing), "node")
    key = short_key(constraint.topology_key)
    together = f", {beside} of them in the same {key}" if beside else ""
    return f"Tried: with the first pod running, the second may go to {where}{together}."
