"""`rollout-ends-uneven`: a rolling update after which pods are over the limit of their own spread.

While old and new pods are there together, both are counted. When the old ones are gone the new ones
may stand unevenly, and nothing moves them (kubernetes#98215).
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.changes import all_of, in_constraint
from planner.checks.finding import Finding, Idea, Proof
from planner.checks.rollouts import Rollouts, rollouts_of
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined, count_of, short_key
from planner_models.workload import HASH_LABEL

ID = "rollout-ends-uneven"
FEW = 6
"""Domains whose counts are shown one by one."""
HEADER = ("DEPLOYMENT", "SURGE/UNAVAILABLE", "UNEVEN", "OF ROLLOUTS", "FOR EXAMPLE")


def find(subject: Subject) -> Iterator[Finding]:
    found = [
        (each, rollouts)
        for each in subject.workloads
        if ID not in each.silent
        and (rollouts := rollouts_of(subject, each)) is not None
        and rollouts.uneven
    ]
    if not found:
        return
    found.sort(key=lambda pair: -len(pair[1].uneven))
    names = [each.name for each, _ in found]
    index = _index(subject, found[0][0])
    yield Finding(
        rule=ID,
        severity="warning",
        objects=tuple(each.object for each, _ in found),
        field=found[0][0].field(f"topologySpreadConstraints[{index}]"),
        title=f"a rollout may end uneven: {conjoined(names)}",
        text=("Old and new pods are counted together while both are there.",),
        table=(HEADER, *(_row(each, rollouts) for each, rollouts in found)),
        proof=Proof(
            "simulated",
            seeds=max(len(rollouts.runs) for _, rollouts in found),
            seen=max(len(rollouts.uneven) for _, rollouts in found),
        ),
        ideas=(_idea(subject, [each for each, _ in found]),),
    )


def _row(workload: CheckedWorkload, found: Rollouts) -> tuple[str, ...]:
    worst = max(found.uneven, key=lambda run: run.excess)
    spread = max(worst.spread, key=lambda each: each.excess)
    counts = "/".join(map(str, spread.counts))
    where = short_key(spread.topology_key)
    example = (
        counts
        if len(spread.counts) <= 6
        else f"{where}: {min(spread.counts)} to {max(spread.counts)}"
    )
    strategy = found.strategy
    return (
        workload.name,
        f"{strategy.surge}/{strategy.unavailable}",
        str(len(found.uneven)),
        str(len(found.runs)),
        example,
    )


def _index(subject: Subject, workload: CheckedWorkload) -> int:
    """The first hard constraint that does not tell revisions apart."""
    constraints = subject.spec(workload).topology_spread_constraints
    return next(
        (i for i, each in enumerate(constraints) if each.hard and not each.match_label_keys), 0
    )


def _idea(subject: Subject, workloads: list[CheckedWorkload]) -> Idea:
    changes = [
        in_constraint(each, index, match_label_keys=(HASH_LABEL,))
        for each in workloads
        for index, constraint in enumerate(subject.spec(each).topology_spread_constraints)
        if constraint.hard and not constraint.match_label_keys
    ]
    pods = sum(each.replicas for each in workloads)
    return Idea(
        f"matchLabelKeys: [{HASH_LABEL}]",
        all_of(changes),
        then=f"then even in every rollout of {count_of(len(workloads), 'Deployment')}",
        restarts=pods,
    )
