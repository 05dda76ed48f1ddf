"""Cheaper sets near those that are known, by chance, with ever less patience for worse ones.

A step is kept if the set gets no worse by more than what is drawn (simulated annealing,
Kirkpatrick, Gelatt and Vecchi 1983). Sets that leave pods waiting take part (`shortfall`): from
many answers no single step leads to a cheaper one. Several chains go on at a time, with several
steps drawn for each; all these sets are filled together, and of those that may be kept the best is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from random import Random

from planner.pools.fill import Counts
from planner.pools.neighbours import Neighbours
from planner.pools.search import Search
from planner.pools.shortfall import NOTHING, Missing, Shortfall

ROUNDS = 2
"""Each begins hot; what it has found is tried in full at its end."""
HOT = 0.015
"""How much worse a set may get at first, as a part of the cost, on average."""
CHAINS, STEPS = 16, 4
"""Where sets are filled side by side: searches at a time, and steps that are drawn for each."""
LONG = 8
"""Steps that a search has to be able to make: where there is time for few there are fewer of them,
with more steps that are drawn for each."""
AGAIN = 3
"""So many times as many steps are drawn, if they lead to sets that are known."""
STRICT = 8.0
"""How many times as much those who wait count at the end of a round as at its start."""
OFTEN = 8
"""After so many steps of all chains the worst quarter of them goes on from where the best is."""


@dataclass
class _Chain:
    counts: Counts
    cost: int
    missing: Missing
    stuck: bool = False

    def value(self, strict: float) -> float:
        return self.cost + strict * self.missing.cost

    def go_on(self, other: _Chain) -> None:
        self.counts, self.cost, self.missing = other.counts, other.cost, other.missing
        self.stuck = other.stuck


def anneal(search: Search, starts: Sequence[Counts], worth: Sequence[float], until: float) -> None:
    """Keep the cheapest answer that is found; `worth` says how well a node of an offer pays."""
    shortfall = Shortfall(search)
    random = Random(0)
    neighbours = Neighbours(search, worth, random)
    every = sorted(set(starts))
    missing = shortfall.missing_of(every, [float("inf")] * len(every))
    begin = [
        _Chain(counts, search.least.cost(counts), more)
        for counts, more in zip(every, missing, strict=True)
    ]
    begin.sort(key=lambda chain: chain.value(1.0))
    for number in range(ROUNDS):
        if search.spent > until or not search.open:
            return
        end = search.spent + (until - search.spent) / (ROUNDS - number)
        chains = _chains(search, begin, number, end - search.spent)
        if not chains:
            return
        steps = max(min(search.lanes, STEPS), search.lanes // len(chains))
        passed = _Round(search, shortfall, neighbours, random, steps).run(chains, end)
        for each in sorted(passed, key=search.value):
            if search.beaten(each) or search.try_set(each):
                break


def _chains(search: Search, begin: Sequence[_Chain], number: int, seconds: float) -> list[_Chain]:
    """From the best answer and from sets that are near one, later more from the best answer."""
    found = search.found
    often = seconds / search.filling_seconds(sum(begin[0].counts)) if begin else 0
    size = max(1, min(CHAINS, search.lanes // STEPS, int(often / LONG)))
    made = list(begin)
    if found is not None:
        counts = found.added.counts
        best = _Chain(counts, search.least.cost(counts), NOTHING)
        made = sorted([best, *made], key=lambda chain: chain.value(1.0))[: max(1, size >> number)]
        made += [best] * (size - len(made)) if number else []
    return [replace(made[i % len(made)]) for i in range(size)] if made else []


def _follow(chains: Sequence[_Chain], strict: float) -> None:
    """Chains that are behind, or can't go on, continue from where the best ones are."""
    ranked = sorted(chains, key=lambda chain: (chain.stuck, chain.value(strict)))
    for best, worst in zip(ranked[: len(ranked) // 4], ranked[::-1], strict=False):
        worst.go_on(best)


class _Round:
    def __init__(
        self,
        search: Search,
        shortfall: Shortfall,
        neighbours: Neighbours,
        random: Random,
        steps: int,
    ) -> None:
        self._search, self._shortfall = search, shortfall
        self._neighbours, self._random = neighbours, random
        self._steps = steps
        self._known: dict[Counts, Missing] = {}

    def run(self, chains: Sequence[_Chain], until: float) -> set[Counts]:
        """Sets that were filled under every seed and cost less than the answer."""
        search, begun, passed = self._search, self._search.spent, set[Counts]()
        found = search.found
        best = None if found is None else search.least.cost(found.added.counts)
        number = 0
        while search.spent < until:
            left = 1 - (search.spent - begun) / max(until - begun, 1e-9)
            strict = STRICT - (STRICT - 1) * left
            number += 1
            if number % OFTEN == 0:
                _follow(chains, strict)
            drawn = [self._drawn(chain, strict, HOT * left * left) for chain in chains]
            for chain, near in zip(chains, drawn, strict=True):
                chain.stuck = not near
            if not any(drawn):
                return passed
            self._fill(drawn)
            for chain, near in zip(chains, drawn, strict=True):
                kept: list[_Chain] = []
                for each, allowed in near:
                    then = _Chain(each, search.least.cost(each), self._known[each])
                    if not then.missing.cost and (best is None or then.cost < best):
                        best = then.cost
                        passed.add(each)
                    kept += [then] if then.value(strict) <= allowed else []
                if kept:
                    chain.go_on(min(kept, key=lambda each: each.value(strict)))
        return passed

    def _drawn(self, chain: _Chain, strict: float, heat: float) -> list[tuple[Counts, float]]:
        """Sets near the chain's, and up to which value each of them would be taken."""
        if chain.stuck:
            return []
        drawn: list[tuple[Counts, float]] = []
        new, value = 0, chain.value(strict)
        for _ in range(AGAIN * self._steps):
            allowed = value * (1 - heat * log(1 - self._random.random()))
            each = self._neighbours.sensible(chain.counts, allowed, chain.missing.who)
            if each is not None:
                drawn.append((each, allowed))
                new += each not in self._known
            if each is None or new == self._steps:
                break
        return drawn

    def _fill(self, drawn: Sequence[Sequence[tuple[Counts, float]]]) -> None:
        """What is missing in all sets that were not seen yet."""
        new: dict[Counts, float] = {}
        for near in drawn:
            for each, allowed in near:
                if each not in self._known:
                    new[each] = max(allowed, new.get(each, 0.0))
        missing = self._shortfall.missing_of(tuple(new), tuple(new.values()))
        self._known.update(zip(new, missing, strict=True))
