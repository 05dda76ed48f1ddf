"""`outage-no-room`: a zone or node whose pods find no place elsewhere, even once it is removed.

Replicas that required anti-affinity keeps apart, one for each domain, are meant to be fewer then:
nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import Finding, Proof
from planner.checks.outages import Outage, outages, waits
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined, count_of

ID = "outage-no-room"


def find(subject: Subject) -> Iterator[Finding]:
    tried = outages(subject)
    others = max((each.others for each in tried), default=0)
    if others:
        subject.undecided[ID] = (
            f"whether room is left for them when other workloads need places, too: up to {others} "
            "pods are too many to try"
        )
    short = [
        each
        for each in subject.workloads
        if ID not in each.silent and any(_short(outage, each) for outage in tried)
    ]
    if not short:
        return
    counts = [(each, sum(_short(each, workload) for workload in short)) for each in tried]
    worst, most = max(counts, key=lambda pair: pair[1])
    first = next(each for each in short if _short(worst, each))
    what = subject.options.survive
    yield Finding(
        rule=ID,
        severity="warning",
        objects=tuple(each.object for each in short),
        field=short[0].field("containers[*].resources.requests"),
        title=(
            f"if {what} {worst.domain} fails, {count_of(most, 'pod')} "
            f"{'has' if most == 1 else 'have'} no place: {conjoined([e.name for e in short])}"
        ),
        text=(
            f"Tried: each {what} removed. Then so many pods wait: "
            + ", ".join(f"{each.domain} {count}" for each, count in counts[:6] if count)
            + ".",
            f"kube-scheduler says: {worst.messages[first.ref]}",
        ),
        facts={each.domain: count for each, count in counts if count},
        proof=Proof("simulated", seeds=1, seen=1),
    )


def _short(outage: Outage, workload: CheckedWorkload) -> int:
    """Pods that wait, unless their own anti-affinity alone keeps them apart."""
    apart = "didn't match pod anti-affinity rules"
    message = outage.messages.get(workload.ref, "")
    if apart in message and "Insufficient" not in message:
        return 0
    return waits(outage, workload)[1]
