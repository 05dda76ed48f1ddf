"""A rule of `planner check`: an id, how bad a breach is, what it needs, and who looks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.checks.finding import Finding
    from planner.checks.subject import Subject
    from planner.checks.workloads import CheckedWorkload
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
    unless: tuple[str, ...] = ()
    """Rules whose finding about an object says the same and why: one of the two is enough."""

    @property
    def module(self) -> str:
        """Where it is looked for; loaded by whoever asks it, for most need a simulator."""
        return f"planner.checks.rules.{self.id.replace('-', '_')}"

    def find(self, subject: Subject) -> Iterator[Finding]:
        """Every breach."""
        found: Iterator[Finding] = import_module(self.module).find(subject)
        return found


def per_workload(find: Callable[[Subject, CheckedWorkload], Iterator[Finding]]) -> Find:
    """A rule that looks at each checked workload by itself."""

    def run(subject: Subject) -> Iterator[Finding]:
        for workload in subject.workloads:
            yield from find(subject, workload)

    return run
