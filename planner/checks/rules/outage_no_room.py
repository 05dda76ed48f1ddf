"""`outage-no-room`: a zone or node whose pods find no place elsewhere, even once it is removed."""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import Finding, Proof
from planner.checks.outages import outages, waits
from planner.checks.rule import Rule
from planner.checks.subject import Subject
from planner.words import conjoined, count_of

ID = "outage-no-room"


def _find(subject: Subject) -> Iterator[Finding]:
    tried = outages(subject)
    short = [
        each
        for each in subject.workloads
        if ID not in each.silent and any(waits(outage, each)[1] for outage in tried)
    ]
    if not short:
        return
    counts = [(each, sum(waits(each, workload)[1] for workload in short)) for each in tried]
    worst, most = max(counts, key=lambda pair: pair[1])
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
            f"Tried: each {what} removed; "
            + ", ".join(f"{each.domain} {count}" for each, count in counts[:6] if count)
            + " pods wait.",
        ),
        facts={each.domain: count for each, count in counts if count},
        proof=Proof("simulated", seeds=1, seen=1),
    )


RULE = Rule(ID, "warning", True, "an outage that leaves too little room", _find)
