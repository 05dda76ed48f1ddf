"""What the solver found: counts per cell, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.rules import RelaxableRule
from planner.solver.problem.problem import Cell

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Level:
    """One objective in its natural direction: `placed` counts up to its bound, the others down."""

    name: str
    kind: str
    value: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether nothing better exists, given the levels before."""
        return self.value == self.bound


@dataclass(frozen=True)
class BrokenRule:
    """A hard rule that --relax breaks, with its numbers.

    For spread: `count` pods in the domain where `allowed` would be right. For the rules between
    pods: `count` pods land against the rule, 0 would be right. Nodes without the label of a rule
    have no domain, and no landing there is right.
    """

    rule: RelaxableRule
    group: int
    index: int
    topology_key: str
    domain: str | None
    count: int
    allowed: int


@dataclass(frozen=True)
class Statistics:
    """How large the model was, and what the search cost."""

    cells: int = 0
    variables: int = 0
    constraints: int = 0
    deterministic_time: float = 0.0
    """In the unit of the time limit."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Solution:
    """A final state in counts of non-fixed pods; cells that are left out are empty.

    `unplaced[g]` are waiting pods of group g without a node, `displaced[g]` running ones that lose
    theirs (--preempt). Which pods these are is for planning to say.
    """

    status: Status
    counts: Mapping[Cell, int]
    unplaced: Mapping[int, int] = field(default_factory=dict)
    displaced: Mapping[int, int] = field(default_factory=dict)
    levels: tuple[Level, ...] = ()
    broken: tuple[BrokenRule, ...] = ()
    notes: tuple[str, ...] = ()
    statistics: Statistics = Statistics()
    interrupted: bool = False
    for_sequences: bool = False
    """Whether the bounds hold for whatever legal steps lead to, not for final states alone."""

    @property
    def rules_proven(self) -> bool:
        """Whether every level before the preferences is proven."""
        return self.status in ("optimal", "feasible") and all(
            level.proven
            for level in self.levels
            if level.kind not in ("preferences", "balance", "pack")
        )

    def level(self, kind: str) -> Level | None:
        """The (first) level of a kind."""
        return next((level for level in self.levels if level.kind == kind), None)
