"""Patterns for every choice of new domains and numbers of nodes: the bound over all sets.

A choice is parted where its linear program adds so many hosts that fewer pods could be on each
(`Kinds.parted`). That of the least bound comes first, as nothing else raises the bound of all.
Where patterns are complete, whole ones raise it further.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from planner.solver.scale_up.kinds import Kinds
from planner.solver.scale_up.master_problem import Pattern
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.places import Choice
from planner.solver.scale_up.question import Counts, NodeQuestion
from planner.solver.scale_up.whole_bound import WholeBound

MOST = 64
"""Choices that are looked at."""


@dataclass(eq=False)
class _Leaf:
    choice: Choice
    patterns: Patterns
    whole: WholeBound | None = None


class EveryChoice:
    """The choices of one question, parted as far as there was time."""

    def __init__(self, question: NodeQuestion, known: Iterable[Pattern] = ()) -> None:
        self.question = question
        self._kinds = Kinds(question)
        self._leaves: list[_Leaf] = []
        self._spent_before = 0.0
        for choice in self._kinds.choices():
            self._add(choice, known)

    def _add(self, choice: Choice, known: Iterable[Pattern], bound: int = 0) -> None:
        patterns = Patterns(self._kinds.places(choice), known)
        patterns.raise_bound(bound)
        self._leaves.append(_Leaf(choice, patterns))

    def in_batches(self) -> EveryChoice:
        """The same question with nodes in batches, from the patterns that are known."""
        if [leaf.choice for leaf in self._leaves] == [Choice()]:
            return self
        known = dict.fromkeys(each for leaf in self._leaves for each in leaf.patterns.patterns)
        return EveryChoice(replace(self.question, in_batches=True), known)

    @property
    def spent(self) -> float:
        """About seconds, counted in steps."""
        return self._spent_before + sum(each.patterns.spent for each in self._leaves)

    @property
    def bound(self) -> int:
        """No set of nodes costs less."""
        return min(each.patterns.bound for each in self._leaves)

    @property
    def patterns(self) -> list[Patterns]:
        """Those of every choice, of the least bound first."""
        return [each.patterns for each in self._ordered()]

    def _ordered(self) -> list[_Leaf]:
        return sorted(self._leaves, key=lambda each: each.patterns.bound)

    @property
    def best(self) -> Counts | None:
        """The cheapest set by whole patterns, if it is known."""
        whole = self._ordered()[0].whole
        return None if whole is None else whole.best

    def generate(self, seconds: float, most_cost: int | None = None) -> None:
        """Raise the bound as long as there is time and a way, up to the most cost of interest."""
        until = self.spent + seconds
        while self.spent < until and (most_cost is None or self.bound < most_cost):
            leaf = self._ordered()[0]
            if leaf.whole is None and self._parted(leaf):
                continue
            if not leaf.patterns.complete:
                leaf.patterns.generate(until - self.spent)
            elif leaf.whole is None:
                leaf.whole = WholeBound(leaf.patterns)
            elif leaf.whole.ended:
                return
            else:
                leaf.whole.step(until - self.spent, most_cost)

    def _parted(self, leaf: _Leaf) -> bool:
        halves = self._kinds.parted(leaf.choice, leaf.patterns.nodes)
        if not halves or len(self._leaves) >= MOST:
            return False
        self._leaves.remove(leaf)
        self._spent_before += leaf.patterns.spent
        for choice in halves:
            self._add(choice, leaf.patterns.patterns, leaf.patterns.bound)
        return True
