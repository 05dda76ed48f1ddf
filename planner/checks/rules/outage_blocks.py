"""`outage-blocks`: replacements that wait while lost nodes are unreachable, and run once removed.

An unreachable node stays in the cluster until somebody removes it. Under nodeTaintsPolicy Ignore,
the default, it counts as a domain with 0 pods, and no other domain may go above maxSkew
(kubernetes#106127).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.checks.changes import all_of, in_constraint
from planner.checks.finding import Finding, Idea, Proof
from planner.checks.outages import Outage, outages, waits
from planner.checks.subject import Subject
from planner.checks.texts import between
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined, count_of

ID = "outage-blocks"


def find(subject: Subject) -> Iterator[Finding]:
    tried = outages(subject)
    blocked = [
        each
        for each in subject.workloads
        if ID not in each.silent and any(_blocked(outage, each) for outage in tried)
    ]
    if not blocked:
        return
    numbers = [(each, sum(_blocked(each, w) for w in blocked)) for each in tried]
    hit = [(outage, count) for outage, count in numbers if count]
    what = subject.options.survive
    few = between(count for _, count in hit)
    lost = max(outage.lost for outage, _ in hit)
    yield Finding(
        rule=ID,
        severity="warning",
        objects=tuple(each.object for each in blocked),
        field=blocked[0].field("topologySpreadConstraints[0]"),
        title=(
            f"if a {what} fails, {few} of its {count_of(lost, 'pod')} can't come back while its "
            f"nodes are unreachable: {conjoined([each.name for each in blocked])}"
        ),
        text=(
            f"Unreachable nodes still count as a {what} (nodeTaintsPolicy is Ignore, the default), "
            f"with 0 pods. Then no other {what} may go above maxSkew.",
            _tried(hit),
        ),
        facts={outage.domain: count for outage, count in hit},
        proof=Proof("simulated", seeds=1, seen=1),
        ideas=tuple(_ideas(subject, blocked, len(hit))),
    )


def _blocked(outage: Outage, workload: CheckedWorkload) -> int:
    """Pods that would run if the nodes were removed."""
    unreachable, removed = waits(outage, workload)
    return max(0, unreachable - removed)


def _tried(hit: Sequence[tuple[Outage, int]]) -> str:
    some = [f"{outage.domain} {count} pending" for outage, count in hit[:6]]
    more = f" and {len(hit) - 6} more" if len(hit) > 6 else ""
    return f"Tried: {', '.join(some)}{more}; with the nodes removed they run."


def _ideas(subject: Subject, workloads: Sequence[CheckedWorkload], domains: int) -> Iterator[Idea]:
    """Taints honoured by the first constraint alone, then by all of them."""
    pods = sum(each.replicas for each in workloads)
    for text, few in (("nodeTaintsPolicy: Honor", True), ("nodeTaintsPolicy: Honor on all", False)):
        changes = [
            in_constraint(each, index, node_taints_policy="Honor")
            for each in workloads
            for index, constraint in enumerate(subject.spec(each).topology_spread_constraints)
            if constraint.hard and (not few or index == 0)
        ]
        if changes:
            where = "in it" if domains == 1 else "in both" if domains == 2 else f"in all {domains}"
            yield Idea(
                text,
                all_of(changes),
                then=f"then 0 pending {where}",
                restarts=pods,
                if_nothing_else=not few,
            )
