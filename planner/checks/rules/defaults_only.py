"""`defaults-only`: replicas without a spread rule of their own.

kube-scheduler's defaults are soft (hostname maxSkew 3, zone maxSkew 5), and hold only for pods that
a Service, ReplicaSet or StatefulSet selects.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import READ, Finding
from planner.checks.rule import Rule
from planner.checks.rules.no_budget import SCALED
from planner.checks.subject import CheckedWorkload, Subject
from planner.words import conjoined

ID = "defaults-only"


def _find(subject: Subject) -> Iterator[Finding]:
    """One finding for all of them."""
    found = [
        each
        for each in subject.workloads
        if each.ref.kind in SCALED and each.most > 1 and not _spread(subject, each)
        if ID not in each.silent
    ]
    if not found:
        return
    verb = "has" if len(found) == 1 else "have"
    yield Finding(
        rule=ID,
        severity="note",
        objects=tuple(each.object for each in found),
        field=found[0].field("topologySpreadConstraints"),
        title=f"{conjoined([each.name for each in found])} {verb} no spread rule",
        text=(
            "kube-scheduler's own defaults apply: soft, at most 3 apart by host and 5 by zone, and "
            "given up where other scores weigh more.",
        ),
        proof=READ,
    )


def _spread(subject: Subject, workload: CheckedWorkload) -> bool:
    spec = subject.spec(workload)
    apart = spec.affinity.pod_anti_affinity
    return bool(spec.topology_spread_constraints or apart.required or apart.preferred)


RULE = Rule(ID, "note", True, "replicas without a spread rule", _find)
