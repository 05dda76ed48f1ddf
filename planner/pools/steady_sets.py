"""Sets that hardly depend on chance, judged by what is missing in them on average over seeds.

Large sets are all filled alike and differ in little: under one seed many pass by luck, and whoever
goes on from these ends at sets that others turn down. So cheap sets are bred first in which little
is missing on average, each tried under a few seeds before it is under more. Then these grow, until
nobody waits under any seed, and whatever is cheaper is looked for near the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

from planner.pools.fill import Counts
from planner.pools.mixed_sets import MixedSets
from planner.pools.search import SURE_SEEDS, Search
from planner.pools.shortfall import Shortfall
from planner.pools.variations import Variations

BEGUN = 400
"""Sets that are drawn to begin with."""
SEEDS = tuple(range(1, 11))
"""Under which sets are bred; seed 0 takes the first of equal nodes, which is none of chance."""
FEWEST = 8
"""Sets that were tried under fewer seeds are judged as if nothing were missing under the others."""
BRED, KEPT = 20, 8
"""Sets that others are bred from, and that grow."""
FIRST, SECOND = 24, 8
"""How many new sets are tried under a few seeds, and under all."""
A_FEW = 3
KEEN = 4
"""The rank of a set that others are bred from, on average."""
STRICT, STRICTER = 6.0, 16.0
"""How many times counts what is missing on average, first and later."""
BREEDING = 0.5
"""The part of the time for sets that miss a little."""
DRAWS = 2_000
"""Changes that are drawn for as many new sets as are filled at once."""
DRAW_SECONDS, MIXED_SECONDS = 5e-5, 3e-4
"""For a change that is drawn; and for a set to begin with, if any come of it."""
GROWN = 24, 8
"""Changes of the best set, and of each other one, that are tried at a time."""


def steady_sets(search: Search, worth: Sequence[float], until: float) -> None:
    """Keep the cheapest answer that is found; `worth` says how well a node of an offer pays.

    Nothing is done where few sets can be drawn: then pods ask for nodes of many pools.
    """
    random = Random(0)
    mixed = MixedSets(search, worth, random).some(BEGUN)
    if len(mixed) < BRED:
        return
    search.spent += BEGUN * MIXED_SECONDS
    trials = _Trials(search)
    begun = trials.under(mixed, lambda counts: SEEDS[:1])
    varied = Variations(search, worth, random)
    middle = search.spent + BREEDING * (until - search.spent)
    bred = _Breeding(trials, varied, random).run(begun, middle)
    _Growing(trials, varied, random).run(bred, until)


class _Trials:
    """What is missing in sets, by seed."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._shortfall = Shortfall(search)
        self.missing: dict[Counts, dict[int, float]] = {}

    def under(
        self, sets: Iterable[Counts], seeds: Callable[[Counts], Iterable[int]]
    ) -> list[Counts]:
        """The same sets, filled under these seeds of each, those of few nodes first."""
        found = sorted(sets, key=lambda counts: (sum(counts), counts))
        chosen = [
            (counts, seed)
            for counts in found
            for seed in seeds(counts)
            if seed not in self.missing.setdefault(counts, {})
        ]
        for (counts, seed), cost in zip(chosen, self._shortfall.under(chosen), strict=True):
            self.missing[counts][seed] = cost
        return found

    def value(self, counts: Counts, strict: float) -> float:
        """The cost, and several times what is missing on average."""
        missing = self.missing[counts].values()
        return self.search.least.cost(counts) + strict * sum(missing) / max(len(missing), FEWEST)

    def best(self, sets: Iterable[Counts], strict: float, most: float) -> list[Counts]:
        """Those whose value is no more than that, the best ones first."""
        values = {counts: self.value(counts, strict) for counts in sets}
        chosen = [counts for counts, value in values.items() if value <= most]
        return sorted(chosen, key=lambda counts: (values[counts], counts))

    def hard(self, counts: Counts) -> list[int]:
        """The seeds under which something is missing, those of most first."""
        missing = self.missing[counts]
        return sorted((seed for seed in missing if missing[seed]), key=lambda s: (-missing[s], s))

    def new(self, counts: Counts, most: float) -> bool:
        """Whether the set was not seen, costs no more, and could be a better answer."""
        search = self.search
        search.spent += DRAW_SECONDS
        cost = search.least.cost(counts)
        return (
            counts not in self.missing
            and search.bound_now <= cost <= most
            and not search.beaten(counts)
            and search.filling.allowed(counts)
            and search.opens(counts)
            and search.least.has_room(counts)
        )

    def keep(self, counts: Counts) -> None:
        """Try the set in full if nothing was missing under any seed."""
        if not self.search.beaten(counts) and not self.hard(counts):
            self.search.try_set(counts)


class _Breeding:
    """Sets that miss little; every new one is tried under more seeds as long as it is as good."""

    def __init__(self, trials: _Trials, varied: Variations, random: Random) -> None:
        self._trials, self._varied, self._random = trials, varied, random

    def run(self, begun: Sequence[Counts], until: float) -> list[Counts]:
        """The best sets, tried under all seeds of breeding."""
        trials, search = self._trials, self._trials.search
        bred = trials.best(begun, STRICT, float("inf"))[: 2 * BRED]
        trials.under(bred, lambda counts: SEEDS[:A_FEW])
        bred = trials.best(bred, STRICT, float("inf"))[:BRED]
        trials.under(bred, lambda counts: SEEDS)
        new, second = list[Counts](), list[Counts]()
        while search.spent < until and bred:
            bred = trials.best(set(bred), STRICT, float("inf"))[:BRED]
            good, last = (trials.value(bred[i], STRICT) for i in (len(bred) // 3, -1))
            first = trials.best(new, STRICT, good)[:FIRST]
            third = trials.best(second, STRICT, good)[:SECOND]
            seeds = {counts: self._more(counts, A_FEW) for counts in first}
            seeds |= {counts: self._more(counts, len(SEEDS)) for counts in third}
            room = search.wide_lanes(sum(bred[0])) - sum(map(len, seeds.values()))
            drawn = self._drawn(bred, good, room)
            if not seeds and not drawn:
                break
            trials.under([*seeds, *drawn], lambda counts: (seeds | drawn)[counts])  # noqa: B023
            new, second = list(drawn), first
            bred += trials.best(third, STRICT, last)
        return bred

    def _more(self, counts: Counts, seeds: int) -> list[int]:
        """So many more seeds that the set was tried under so many."""
        known = self._trials.missing[counts]
        left = [seed for seed in SEEDS if seed not in known]
        self._random.shuffle(left)
        return left[: max(0, seeds - len(known))]

    def _drawn(self, bred: Sequence[Counts], most: float, number: int) -> dict[Counts, list[int]]:
        """New sets, each with the seed under which most is missing in the one it comes from."""
        found: dict[Counts, list[int]] = {}
        for _ in range(DRAWS):
            if len(found) >= number:
                break
            rank = min(int(self._random.expovariate(1 / KEEN)), len(bred) - 1)
            counts = self._varied.vary(bred[rank], bred)
            if counts not in found and self._trials.new(counts, most):
                hard = self._trials.hard(bred[rank])[:1]
                found[counts] = hard or [self._random.choice(SEEDS)]
        return found


class _Growing:
    """Sets that become answers, and cheaper ones near the best answer."""

    def __init__(self, trials: _Trials, varied: Variations, random: Random) -> None:
        self._trials, self._varied, self._random = trials, varied, random

    def run(self, bred: Sequence[Counts], until: float) -> None:
        """Each new set is tried first under the seeds that turned down the one it comes from."""
        trials, search, every = self._trials, self._trials.search, range(SURE_SEEDS)
        kept = trials.under(trials.best(bred, STRICT, float("inf"))[:KEPT], lambda counts: every)
        while search.spent < until and search.open:
            for counts in kept:
                trials.keep(counts)
            kept = [each for each in set(kept) if not search.beaten(each)]
            kept = trials.best(kept, STRICTER, float("inf"))[:KEPT]
            if search.found is not None and search.found.added.counts in trials.missing:
                kept.insert(0, search.found.added.counts)
            grown = self._grown(kept)
            if not grown:
                break
            trials.under(grown, lambda counts: grown[counts])  # noqa: B023
            good = trials.best(grown, STRICTER, float("inf"))[:KEPT]
            trials.under(good, lambda counts: (*SEEDS[:A_FEW], *SEEDS[-A_FEW:]))
            good = trials.best(good, STRICTER, float("inf"))[: KEPT // 2]
            kept += trials.under(good, lambda counts: every)

    def _grown(self, kept: Sequence[Counts]) -> dict[Counts, list[int]]:
        """Sets near these, with the seeds that turned down the one they come from."""
        found: dict[Counts, list[int]] = {}
        if not kept:
            return found
        most = max(self._trials.value(counts, STRICTER) for counts in kept)
        for number, counts in enumerate(kept):
            hard = self._trials.hard(counts)[:A_FEW]
            seeds = hard or self._random.sample(range(SURE_SEEDS), A_FEW)
            for _ in range(GROWN[min(number, 1)]):
                near = self._varied.grow(counts)
                if near not in found and self._trials.new(near, most):
                    found[near] = seeds
        return found
