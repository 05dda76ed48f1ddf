"""`spread-no-selector`: a spread constraint whose labelSelector counts no pod.

Without a labelSelector nothing matches (kubernetes#135797), and up to v1.36 an empty one counts no
running pod either (kubernetes#141339): the constraint is there and does nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from planner.checks.changes import in_constraint
from planner.checks.finding import READ, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.texts import braced
from planner.checks.workloads import CheckedWorkload
from planner.words import short_key
from planner_models.node import HOSTNAME
from planner_models.selectors import LabelSelector

ID = "spread-no-selector"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        selector = constraint.label_selector
        if selector is not None and not selector.is_empty:
            continue
        yield Finding(
            rule=ID,
            severity="error",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}]"),
            title=f"the spread constraint of {workload.name} counts no pod",
            text=(
                "Without a labelSelector nothing matches."
                if selector is None
                else "An empty labelSelector counts no running pod.",
                *_tried(subject, workload, index),
            ),
            proof=READ,
            ideas=tuple(own_labels(subject, workload, index)),
        )


def _tried(subject: Subject, workload: CheckedWorkload, index: int) -> Iterator[str]:
    """How uneven kube-scheduler then places them; with the key that was meant, if it is unknown."""
    if not subject.has_nodes or workload.replicas < 2:
        return
    from planner.checks.own_pods import own_pods
    from planner.explain.situation.lookalikes import meant_key

    constraint = subject.spec(workload).topology_spread_constraints[index]
    key, meant = constraint.topology_key, meant_key(subject.samples.nodes, constraint.topology_key)
    if meant is not None:
        subject = subject.changed(in_constraint(workload, index, topology_key=meant))
        key = meant
    cluster = subject.before_rollout
    domain_of = cluster.topology(key).domain_of
    homes = cluster.node_of[own_pods(cluster, workload)]
    counts = Counter(domain_of[homes[homes >= 0]].tolist())
    most, least = max(counts.values(), default=0), len(set(domain_of[domain_of >= 0].tolist()))
    if most - (min(counts.values()) if len(counts) == least else 0) <= constraint.max_skew:
        return
    corrected = " with the key corrected" if meant is not None else ""
    run, where = (
        sum(counts.values()),
        "on one node" if key == HOSTNAME else f"in one {short_key(key)}",
    )
    all_run = f"all {run} run" if run == workload.replicas else f"{run} of {workload.replicas} run"
    yield f"Tried{corrected}: {all_run}, {most} of them {where}."


def own_labels(subject: Subject, workload: CheckedWorkload, index: int) -> Iterator[Idea]:
    """The template's own labels as the selector of a constraint."""
    labels = dict(workload.template.metadata.labels)
    if labels:
        text = f"labelSelector: {{matchLabels: {braced(labels)}}}"
        selector = LabelSelector(match_labels=labels)
        yield Idea(text, in_constraint(workload, index, label_selector=selector))
