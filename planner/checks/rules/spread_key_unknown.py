"""`spread-key-unknown`: no node has the topologyKey of a hard constraint, so no pod ever runs.

kube-scheduler refuses a node that lacks the key of a DoNotSchedule constraint.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import in_constraint
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.explain.situation.lookalikes import meant_key
from planner.words import count_of

ID = "spread-key-unknown"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    nodes = subject.samples.nodes
    usable = subject.node_rules.affinity(subject.spec(workload))
    for index, constraint in enumerate(subject.spec(workload).topology_spread_constraints):
        key = constraint.topology_key
        having = subject.node_rules.labelled(key)
        if not constraint.hard or not usable.any() or (having & usable).any():
            continue
        meant = meant_key(nodes, key)
        count = sum(meant in node.labels for node in nodes) if meant else 0
        question = (
            f" Did you mean {meant}? {'All ' if count == len(nodes) else ''}"
            f"{count_of(count, 'node')} {'has' if count == 1 else 'have'} it."
            if meant
            else ""
        )
        where = "No node" if not having.any() else f"No node that {workload.name} may use"
        yield Finding(
            rule=ID,
            severity="error",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}].topologyKey"),
            title=f"{where[:1].lower()}{where[1:]} has {key}",
            text=(f"A node without the key takes no pod: 0 of {workload.most} run.{question}",),
            proof=COUNTED,
            ideas=tuple(_ideas(subject, workload, index, meant)),
        )


def _ideas(
    subject: Subject, workload: CheckedWorkload, index: int, meant: str | None
) -> Iterator[Idea]:
    if meant is not None:
        change = in_constraint(workload, index, topology_key=meant)
        yield Idea(f"topologyKey: {meant}", change)
