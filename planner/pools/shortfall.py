"""How far a set of nodes is from an answer: its cost, and what those who wait would cost beside.

A pod that waits counts with the least that its share of any node costs, several times. So sets that
leave few waiting compare with sets that leave none, and a search can pass through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cluster.topology import IntArray
from planner.pools.fill import Counts, Fill
from planner.pools.many_fills import ManyFills
from planner.pools.room import FreshNodes
from planner.pools.search import SURE_SEEDS, Search

WEIGHT = 2.0
"""How many times a pod that waits costs what it would cost to run."""
FIRST = 5
"""Seeds under which a set has to be filled before all others are tried."""
FloatArray = NDArray[np.float64]


class Missing(NamedTuple):
    """What those who wait would cost, and one of them."""

    cost: float
    who: int = -1


class Price(NamedTuple):
    """The least that a pod's share of a node costs, and that a node costs that takes it."""

    share: float
    node: float


NOTHING = Missing(0.0)


class Shortfall:
    """Seeds that turned sets down come first: they turn most others down, too."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._many = search.many if search.survival is None else None
        seeds = search.seeds if self._many is None else max(search.seeds, SURE_SEEDS)
        self._order = list(range(seeds))
        cluster = search.filling.cluster
        self._group_of = cluster.group_of
        self._prices = _prices(search)

    def value(self, counts: Counts, most: float = float("inf")) -> float:
        """Cost and what is missing under the worst seed; may end as soon as it is above `most`."""
        return self._search.least.cost(counts) + self.missing_of([counts], [most])[0].cost

    def missing_of(self, sets: Sequence[Counts], most: Sequence[float]) -> list[Missing]:
        """What is missing in each of several sets; the search may give up where it is too much."""
        if self._many is None:
            return [self._alone(counts, limit) for counts, limit in zip(sets, most, strict=True)]
        return self._together(self._many, sets)

    def under(self, chosen: Sequence[tuple[Counts, int]]) -> list[float]:
        """What is missing in each set under its seed."""
        if not chosen:
            return []
        if self._many is None:
            return [self._under(counts, seed) for counts, seed in chosen]
        at_once = self._search.wide_lanes(max(sum(counts) for counts, _ in chosen))
        waiting = self._search.waiting(self._many, chosen, at_once)
        return [missing.cost for missing in self._of_lanes(self._many, waiting)]

    def _under(self, counts: Counts, seed: int) -> float:
        filling = self._search.filling
        self._search.charge(counts, 1)
        return self.missing(filling.fill(filling.add(counts), seed).waiting).cost

    def _together(self, many: ManyFills, sets: Sequence[Counts]) -> list[Missing]:
        """One seed turns most sets down, few others most of the rest; only what may be a better
        answer has to stand them all.
        """
        search, found = self._search, [NOTHING] * len(sets)
        order = tuple(self._order)
        left = list(range(len(sets)))
        for seeds in (order[:1], order[1:FIRST], order[FIRST:]):
            chosen = [(i, seed) for i in left for seed in seeds]
            if not chosen:
                break
            waiting = search.waiting(many, [(sets[i], seed) for i, seed in chosen])
            for (i, seed), more in zip(chosen, self._of_lanes(many, waiting), strict=True):
                found[i] = max(found[i], more)
                if more.cost:
                    self._order.remove(seed)
                    self._order.insert(0, seed)
            left = [i for i in left if not found[i].cost and not search.beaten(sets[i])]
        return found

    def _alone(self, counts: Counts, most: float) -> Missing:
        search, found = self._search, NOTHING
        cost = search.least.cost(counts)
        added, fills = search.filling.add(counts), list[Fill]()
        for seed in tuple(self._order):
            fills.append(search.filling.fill(added, seed))
            if fills[-1].waiting:
                found = max(found, self.missing(fills[-1].waiting))
                self._order.remove(seed)
                self._order.insert(0, seed)
            if cost + found.cost > most:
                break
        search.charge(counts, len(fills))
        loss = None if found.cost else search.loss(fills[-1])
        return found if loss is None else self.missing(loss.waiting)

    def missing(self, waiting: Iterable[int]) -> Missing:
        """What pods that wait count: several times their shares, and a node for them at least."""
        priced = [(pod, self._prices[group]) for pod in waiting for group in self._groups([pod])]
        if not priced:
            return NOTHING
        node, who = max((price.node, pod) for pod, price in priced)
        return Missing(max(WEIGHT * sum(price.share for _, price in priced), node), who)

    def _groups(self, pods: Iterable[int]) -> list[int]:
        """The groups of those pods that have to run."""
        found = (int(self._group_of[pod]) for pod in pods)
        return [group for group in found if group in self._prices]

    def _of_lanes(self, many: ManyFills, waiting: IntArray) -> list[Missing]:
        """The same by lane, of pods that wait in each run."""
        shares, nodes = self._of_runs
        least = np.where(waiting > 0, nodes, 0.0)
        costs = np.maximum(WEIGHT * (waiting @ shares), least.max(axis=1, initial=0.0))
        dearest = zip(costs.tolist(), least.argmax(axis=1).tolist(), strict=True)
        return [Missing(cost, many.runs[run].pods[0]) if cost else NOTHING for cost, run in dearest]

    @cached_property
    def _of_runs(self) -> tuple[FloatArray, FloatArray]:
        """By run: a pod's share, and a node for it; others' pods count nothing."""
        many, goal = self._many, set(self._search.filling.goal)
        prices = [
            self._prices[int(self._group_of[run.pods[0]])] if run.pods[0] in goal else Price(0, 0)
            for run in (() if many is None else many.runs)
        ]
        return np.array([each.share for each in prices]), np.array([each.node for each in prices])


def _prices(search: Search) -> dict[int, Price]:
    """By group of the goal."""
    fresh, offers = FreshNodes(search.filling), search.filling.offers
    found: dict[int, Price] = {}
    for pod in search.filling.goal:
        group = int(search.filling.cluster.group_of[pod])
        if group not in found:
            slots = fresh.slots(pod)[fresh.nodes].tolist()
            taking = [(offer.cost, n) for offer, n in zip(offers, slots, strict=True) if n]
            found[group] = Price(
                min((cost / n for cost, n in taking), default=0.0),
                min((cost for cost, _ in taking), default=0),
            )
    return found
