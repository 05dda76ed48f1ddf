"""A rule of `planner check`: an id, how bad a breach is, what it needs, and who looks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from planner.checks.finding import Finding
from planner.checks.subject import CheckedWorkload, Subject
from planner_models.check import Severity

Find = Callable[[Subject], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """`severity` is that of most of its findings; `needs_nodes` rules are skipped without any."""

    id: str
    severity: Severity
    needs_nodes: bool
    summary: str
    """What it says, in a few words, for lists of rules."""
    find: Find


def per_workload(find: Callable[[Subject, CheckedWorkload], Iterator[Finding]]) -> Find:
    """A rule that looks at each checked workload by itself."""

    def run(subject: Subject) -> Iterator[Finding]:
        for workload in subject.workloads:
            yield from find(subject, workload)

    return run
