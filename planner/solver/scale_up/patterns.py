"""Column generation over patterns: a bound on the cost of all sets of nodes, and good sets.

Given prices for the rows (`master_problem`), no set costs less than

    sum over rows of   price x the end of its range that the price pushes against
  + sum over extra variables of  the least of  - price x value
  + sum over places of  the least of  nodes x (cost - prices of a node - what its pods pay at most)

(weak duality). `knapsack` bounds what the pods of a node pay from above, in whole numbers, so that
the sum is a proof whatever the linear program says. Where a place has no limit on its nodes: no set
of interest costs more than some C, so that all such places add at least -C x the largest part of
its cost by which a node is paid too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.scale_up.first_prices import first_prices
from planner.solver.scale_up.knapsack import Filled, Node, value_of
from planner.solver.scale_up.master_problem import UNIT, Master, Prices
from planner.solver.scale_up.places import Places
from planner.solver.scale_up.question import Counts

ROUNDS = 200
"""Rounds of prices."""
SLACK = 2_000
"""A part of the cost that is not worth looking at: one in so many."""
EXACT_CELLS = 3_000
"""Groups times places up to which patterns are generated."""
MOST_KINDS = 50
"""Kinds of nodes that are there, up to which each is filled exactly."""
WORK_SECONDS = 2.5
QUICK_SECONDS = 3e-4
PATTERN_SECONDS = 2e-5
FIRST_SECONDS = 3e-4
"""A deterministic second of CP-SAT; filling a node quickly, for ten groups; a linear program, for
each pattern; and the first one, for each group and place."""
T = TypeVar("T")


Key = tuple[bytes, bytes, bytes]


@dataclass(frozen=True)
class _Proof:
    """No set of cost C or less costs less than total - C x over / cost, in units of prices."""

    total: int
    over: int
    cost: int

    def bound(self, most_cost: int) -> int:
        """No set costs less, unless it costs more than that."""
        least = self.total + -(self.over * most_cost) // self.cost
        return min(-(-least // UNIT), most_cost + 1)


class Patterns:
    """The search over the places of one question."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._proofs: list[_Proof] = []
        self._parted = [0.0] * len(places.cost)
        self._complete = False
        self.worth = [1.0] * places.offers
        """What pods pay for a node of each offer at most, as a part of its cost."""
        self.spent = 0.0
        """About seconds, counted in steps."""
        self._nodes = [
            Node(places.request, free, cap)
            for free, cap in zip(places.free, places.cap, strict=True)
        ]
        self._small = places.cap.size <= EXACT_CELLS
        """Whether patterns are worth their time: with many pods on a node, parts are whole."""
        self._used = [p for p, most in enumerate(places.most) if most != 0]
        self._master = Master(places)
        for group, caps in enumerate(places.cap.T):
            able = [p for p in self._used if caps[p]]
            for place in sorted(able, key=lambda p: (places.cost[p] / caps[p], p))[:1]:
                self._master.add(place, ((group, int(caps[place])),))

    def generate(self, seconds: float) -> None:
        """Patterns until none is worth adding; each exact round of prices proves something.

        Prices of a young linear program swing. Those half way to the ones that proved most prove
        more, and the patterns last (Wentges 1997).
        """
        until, anchor = self.spent + seconds, self._first_prices()
        if not self._small:
            return
        best = self._last if anchor is not None else 0
        for _ in range(ROUNDS):
            prices = self._prices()
            if prices is None or self.spent > until:
                return
            if self._quick(prices):
                continue
            middle = prices if anchor is None else prices.towards(anchor)
            added = self._exact(middle)
            if self._last > best:
                best, anchor = self._last, middle
            if not added and middle is not prices:
                added = self._exact(prices)
            if not added:
                self._complete = True
                return

    def bound(self, most_cost: int) -> int:
        """No set costs less, unless it costs more than that."""
        return max((proof.bound(most_cost) for proof in self._proofs), default=0)

    def rounded(self) -> Counts:
        """Nodes of each offer as the linear program has them, rounded.

        Where there was no time for patterns, that in which pods and nodes may be parted.
        """
        prices = self._prices() if self._complete else None
        used = [0.0] * len(self._places.cost) if prices is not None else self._parted
        for (place, _), times in prices.used.items() if prices is not None else ():
            used[place] += times
        return self._within(self._carried(used))

    def _carried(self, used: list[float]) -> list[int]:
        """Whole nodes for about the same cost: what is rounded off goes to the next smaller one."""
        found, carry = [0] * len(used), 0.0
        for p in sorted(range(self._places.offers), key=lambda p: (-self._places.cost[p], p)):
            cost = float(self._places.cost[p])
            found[p] = int((used[p] * cost + carry) / cost + 1e-6) if used[p] else 0
            carry += (used[p] - found[p]) * cost
        return found

    def whole(self, seconds: float) -> Counts | None:
        """Nodes of each offer by whole patterns, if they are found."""
        found, spent = self._master.whole(seconds)
        self.spent += spent
        if found is None:
            return None
        used = [0] * len(self._places.cost)
        for (place, _), times in found.items():
            used[place] += times
        return self._within(used)

    def _within(self, nodes: list[int]) -> Counts:
        offers = zip(
            nodes[: self._places.offers], self._places.least, self._places.most, strict=False
        )
        return tuple(
            max(int(least), n if most is None else min(n, most)) for n, least, most in offers
        )

    def _first_prices(self) -> Prices | None:
        first = first_prices(self._places)
        self.spent += FIRST_SECONDS * self._places.cap.size
        if first is None:
            return None
        self._parted = first.nodes
        prices = self._master.paying(first.duals)
        if self._small:
            self._quick(prices)
        self._exact(prices)
        return prices

    def _prices(self) -> Prices | None:
        self.spent += PATTERN_SECONDS * len(self._master.patterns)
        return self._master.prices()

    def _quick(self, prices: Prices) -> int:
        """Patterns that are found quickly and worth using; how many."""
        pay = self._pay(prices)
        found = self._by_key(self._used, pay, lambda p: sorted(self._nodes[p].quickly(pay[p])))
        return sum(
            self._master.add(p, pods)
            for p, every in found.items()
            for pods in every
            if value_of(pods, pay[p]) > self._enough(prices, p)
        )

    def _key(self, place: int, pay: IntArray) -> Key:
        """What decides about the best pods of a node."""
        node = self._nodes[place]
        return node.free.tobytes(), node.cap.tobytes(), pay[place].tobytes()

    def _exact(self, prices: Prices) -> int:
        """A proof by these prices, and the patterns that they make worth using; how many.

        What decides is the place whose pods pay most for its cost: whoever can't pay more than that
        by the quick bound need not be looked at.
        """
        pay, added = self._pay(prices), 0
        due = {p: self._due(prices, p) for p in self._used}
        quick = self._by_key(self._used, pay, lambda p: self._nodes[p].at_most(pay[p]))
        known: dict[Key, Filled] = {}
        filled: dict[int, Filled] = {}
        worst = 0.0
        for p in sorted(self._used, key=lambda p: (-quick[p] / max(due[p], 1), p)):
            key = self._key(p, pay)
            if key not in known and quick[p] / max(due[p], 1) > worst and self._looked_at(p):
                known[key] = self._nodes[p].exactly(pay[p])
                self.spent += QUICK_SECONDS + WORK_SECONDS * known[key].work
            filled[p] = known.get(key, Filled((), 0, quick[p], 0.0))
            if due[p] > 0:
                worst = max(worst, filled[p].most / due[p])
            if p < self._places.offers:
                self.worth[p] = min(filled[p].most, quick[p]) / max(due[p], 1)
            if filled[p].value > self._enough(prices, p):
                added += self._master.add(p, filled[p].pods)
        self._proofs.append(self._proof(prices, filled))
        return added

    def _looked_at(self, place: int) -> bool:
        """Nodes that are there, if they are of many kinds, are judged by the quick bound alone."""
        if not self._small:
            return False
        return place < self._places.offers or len(self._used) - self._places.offers <= MOST_KINDS

    def _by_key(
        self, places: Iterable[int], pay: IntArray, make: Callable[[int], T]
    ) -> dict[int, T]:
        """Something for each place, made once for those that agree in what decides about it."""
        known: dict[Key, T] = {}
        found: dict[int, T] = {}
        for p in places:
            key = self._key(p, pay)
            if key not in known:
                known[key] = make(p)
                self.spent += QUICK_SECONDS * (1 + len(self._places.groups) / 10)
            found[p] = known[key]
        return found

    def _enough(self, prices: Prices, place: int) -> int:
        """What pods have to pay for a node to be worth looking at."""
        return self._due(prices, place) + UNIT * int(self._places.cost[place]) // SLACK

    def _due(self, prices: Prices, place: int) -> int:
        """What a node costs beyond what rows pay for it."""
        rows = zip(self._places.node_rows, prices.node_rows, strict=True)
        paid = sum(int(row.each[place]) * price for row, price in rows)
        return UNIT * int(self._places.cost[place]) - paid

    def _proof(self, prices: Prices, filled: Mapping[int, Filled]) -> _Proof:
        """What these prices prove; if all nodes cost more than their pods pay, higher ones."""
        places, total, worst = self._places, self._ends(prices), (0, 1)
        gains = {p: self._due(prices, p) - each.most for p, each in filled.items()}
        unpaid = [p for p, gain in gains.items() if gain < 0 and places.cost[p]]
        for p, gain in gains.items():
            cost, most = int(places.cost[p]), places.most[p]
            if gain >= 0:
                total += gain * int(places.least[p])
            elif most is not None:
                total += gain * most
            elif -gain * worst[1] > worst[0] * cost:
                worst = -gain, cost
        if not unpaid and not any(prices.node_rows) and not places.least.any():
            rates = [(self._due(prices, p), e.most) for p, e in filled.items() if places.cost[p]]
            up = min((r for r in rates if r[1] > 0), key=lambda r: r[0] / r[1], default=(1, 1))
            if all(up[0] * most <= due * up[1] for due, most in rates) and total > 0:
                total = total * up[0] // up[1]
        return _Proof(total, *worst)

    @property
    def _last(self) -> int:
        """What the last proof amounts to for sets that cost about as much."""
        proof = self._proofs[-1]
        return proof.bound(max(1, proof.total // UNIT))

    def _pay(self, prices: Prices) -> IntArray:
        """`pay[p, g]`: what a pod of a group pays in a place."""
        places = self._places
        pay = np.zeros((len(places.cost), len(places.groups)), np.int64)
        for row, price in zip(places.rows, prices.rows, strict=True):
            if price:
                pay[np.ix_(row.places, row.groups)] += row.weight * price
        return pay

    def _ends(self, prices: Prices) -> int:
        """What rows and extra variables amount to at least."""
        places, total = self._places, 0
        extra = [0] * len(places.extra)
        for row, price in zip(places.rows, prices.rows, strict=True):
            total += price * ((row.lower if price > 0 else row.upper) or 0)
            for number, amount in row.extra.items():
                extra[number] -= price * amount
        total += sum(min(0, each) * upper for each, upper in zip(extra, places.extra, strict=True))
        for node_row, price in zip(places.node_rows, prices.node_rows, strict=True):
            total += price * ((node_row.lower if price > 0 else node_row.upper) or 0)
        return total
