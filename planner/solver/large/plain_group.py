"""One plain group and its rules, as the greedy step and the models see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning


@dataclass(frozen=True, eq=False)
class Rule:
    """A hard constraint over compact domains: `domain_of[n]` is -1 for nodes that take no part."""

    domain_of: IntArray
    size: int
    skew: int


@dataclass(eq=False)
class PlainGroup:
    """One plain group: where its pods are, how many are in hand, what its rules ask for.

    `counts[i]` are the counts per domain of rule i (fixed pods included), `low[i]` the smallest
    count aimed at. `bound` is the closed form's number of moves, the largest of all rules; `alone`
    that of the main rule. `moved` is how many pods have left.
    """

    group: int
    request: IntArray
    needs: IntArray
    priority: int
    rules: tuple[Rule, ...]
    counts: list[IntArray]
    low: list[int]
    leave: IntArray
    bound: int
    alone: int
    waiting: int
    now: dict[int, int]
    start: dict[int, int]
    forced: dict[int, int]
    """Pods on nodes that rules about nodes refuse."""
    broken: dict[int, int]
    """How many of these rules do, by node."""
    hand: int = 0
    size: float = 0.0

    def copy(self) -> PlainGroup:
        """A group of its own; what never changes is shared. Searches make very many of them."""
        found = PlainGroup.__new__(PlainGroup)
        vars(found).update(vars(self))
        found.now = dict(self.now)
        found.counts = [counts.copy() for counts in self.counts]
        return found

    @cached_property
    def main(self) -> int | None:
        """The rule over the fewest domains, by which landings are planned; the others cap it."""
        sizes = [rule.size for rule in self.rules]
        return sizes.index(min(sizes)) if sizes and min(sizes) <= tuning.MANY_DOMAINS else None

    @property
    def caps(self) -> list[int]:
        """The other rules."""
        return [i for i in range(len(self.rules)) if i != self.main]

    def by_domain(self, cells: Mapping[int, int]) -> IntArray:
        """Pods on nodes, added up by domain of the main rule; one sum without a rule."""
        if self.main is None:
            return np.array([sum(cells.values())], np.int64)
        return by_domain(self.rules[self.main], cells)

    @property
    def lows(self) -> range:
        """Every smallest count that a state without excess can have, by the main rule."""
        return range(0) if self.main is None else self.lows_of(self.main)

    def lows_of(self, i: int) -> range:
        """The same by rule i: one domain at least has it, the others maxSkew more at most."""
        rule, total = self.rules[i], int(self.counts[i].sum()) + self.waiting
        least = -(-(total - (rule.size - 1) * rule.skew) // rule.size)
        return range(max(0, least), total // rule.size + 1)

    @property
    def moved(self) -> int:
        """Departures of the final state: how many pods fewer than before there are, by node."""
        return sum(max(0, was - self.now.get(n, 0)) for n, was in self.start.items())


def by_domain(rule: Rule, cells: Mapping[int, int]) -> IntArray:
    found = np.zeros(rule.size, np.int64)
    if cells:
        of = rule.domain_of[np.fromiter(cells, np.int64, len(cells))]
        amounts = np.fromiter(cells.values(), np.int64, len(cells))
        inside = of >= 0
        np.add.at(found, of[inside], amounts[inside])
    return found
