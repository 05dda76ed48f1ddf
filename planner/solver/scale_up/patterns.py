"""Column generation over patterns: a bound on the cost of all sets of nodes, and good sets.

Patterns are asked for by prices (Gilmore and Gomory 1961): whoever pays more for a node than it
costs becomes a column of the linear program (`master_problem`), until nobody does. `knapsack`
bounds what the pods of a node pay from above, and `proof` makes a bound of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.cluster.topology import IntArray
from planner.solver.model.knapsack import Filled, Nodes, Pods, value_of
from planner.solver.scale_up.first_prices import first_prices
from planner.solver.scale_up.master_problem import UNIT, Master, Pattern, Prices
from planner.solver.scale_up.places import Places
from planner.solver.scale_up.proof import Proof, paid_for, pay_of, proof_by
from planner.solver.scale_up.question import Counts

ROUNDS = 200
"""Rounds of prices."""
SLACK = 2_000
"""A part of the cost that is not worth looking at: one in so many."""
FEW = 10
"""If no more patterns are found quickly than one for so many places, exact ones are looked for."""
AT_ONCE = 2
"""Patterns of a place that are added in a round, of those that are found quickly."""
MOST_KINDS = 50
"""Kinds of nodes that are there, up to which each is filled exactly."""
WORK_SECONDS = 2.5
QUICK_SECONDS = 4e-5
PATTERN_SECONDS = 2e-5
FIRST_SECONDS = 1.2e-4
"""A deterministic second of CP-SAT; filling a node quickly, for ten groups; a linear program, for
each pattern; and the first one, for each group and place."""


class Patterns:
    """The search over the places of one choice, which begins with patterns that are known."""

    def __init__(self, places: Places, known: Iterable[Pattern] = ()) -> None:
        self.places = places
        self.bound = 0
        """No set of these places costs less."""
        self.proof: Proof | None = None
        """The best one so far."""
        self.complete = False
        """Whether no pattern is worth adding any more, or GLOP has given up."""
        self.nodes = [0.0] * len(places.cost)
        """Nodes of each place as the last linear program has them."""
        self.worth = [1.0] * places.offers
        """What pods pay for a node of each offer at most, as a part of its cost."""
        self.spent = 0.0
        """About seconds, counted in steps."""
        self._used = [alike[0] for alike in places.alike()]
        self._fitting = Nodes(places.request, places.free[self._used], places.cap[self._used])
        self._master = Master(places)
        for group, caps in enumerate(places.cap.T):
            able = [p for p in self._used if caps[p]]
            for place in sorted(able, key=lambda p: (places.cost[p] / caps[p], p))[:1]:
                self._master.add(place, ((group, int(caps[place])),))
        for place, pods in known:
            if all(n <= places.cap[place, g] for g, n in pods):
                self._master.add(place, pods)
        self._anchor = self._first_prices()

    @property
    def patterns(self) -> list[Pattern]:
        """Those of offers that were found."""
        return [each for each in self._master.patterns if each[0] < self.places.offers]

    def raise_bound(self, bound: int) -> None:
        """It is known that no set costs less."""
        self.bound = max(self.bound, bound)

    def generate(self, seconds: float) -> None:
        """Patterns until none is worth adding; each exact round of prices proves something.

        Prices of a young linear program swing. Those half way to the ones that proved most prove
        more, and the patterns last (Wentges 1997).
        """
        until = self.spent + seconds
        for _ in range(ROUNDS):
            prices = self._prices()
            if prices is None:
                self.complete = True
                return
            if self.spent > until:
                return
            if self._quick(prices) > len(self._used) // FEW:
                continue
            middle = prices if self._anchor is None else prices.towards(self._anchor)
            before = self.bound
            added = self._exact(middle)
            if self.bound > before:
                self._anchor = middle
            if not added and middle is not prices:
                added = self._exact(prices)
            if not added:
                self.complete = True
                return

    def rounded(self) -> Counts:
        """Nodes of each offer as the linear program has them, rounded.

        Where there was no time for patterns, that in which pods and nodes may be parted.
        """
        return self._within(self._carried(self.nodes))

    def _carried(self, used: Sequence[float]) -> list[int]:
        """Whole nodes for about the same cost: what is rounded off goes to the next smaller one."""
        found, carry = [0] * len(used), 0.0
        for p in sorted(range(self.places.offers), key=lambda p: (-self.places.cost[p], p)):
            cost = float(self.places.cost[p])
            found[p] = int((used[p] * cost + carry) / cost + 1e-6) if used[p] else 0
            carry += (used[p] - found[p]) * cost
        return found

    def whole(self, seconds: float) -> Counts | None:
        """Nodes of each offer by whole patterns, if they are found."""
        found, spent = self._master.whole(seconds)
        self.spent += spent
        if found is None:
            return None
        used = [0] * len(self.places.cost)
        for (place, _), times in found.items():
            used[place] += times
        return self._within(used)

    def _within(self, nodes: list[int]) -> Counts:
        offers = zip(nodes[: self.places.offers], self.places.least, self.places.most, strict=False)
        return tuple(
            max(int(least), n if most is None else min(n, most)) for n, least, most in offers
        )

    def _first_prices(self) -> Prices | None:
        first = first_prices(self.places)
        self.spent += FIRST_SECONDS * self.places.cap.size
        if first is None:
            return None
        self.nodes = first.nodes
        prices = self._master.paying(first.duals)
        pay = pay_of(self.places, prices)
        self._prove(prices, self._at_most(pay))
        return prices

    def _prices(self) -> Prices | None:
        self.spent += PATTERN_SECONDS * len(self._master.patterns)
        prices = self._master.prices()
        if prices is not None:
            self.nodes = [0.0] * len(self.places.cost)
            for (place, _), times in prices.used.items():
                self.nodes[place] += times
        return prices

    def _quick(self, prices: Prices) -> int:
        """Patterns that are found quickly and worth using; how many."""
        pay = pay_of(self.places, prices)
        first, same = self._different(pay)
        ways = self._fitting.some(first).quickly(pay[self._used][first])
        self.spent += self._quick_seconds(len(first))
        enough = {p: self._enough(prices, p) for p in self._used}
        added = 0
        for p, i in zip(self._used, same, strict=True):
            worth = sorted((-value_of(pods, pay[p]), pods) for pods in ways[i])[:AT_ONCE]
            added += sum(self._master.add(p, pods) for value, pods in worth if -value > enough[p])
        return added

    def _at_most(self, pay: IntArray) -> dict[int, int]:
        """What no pods pay more than for a node of each place."""
        first, same = self._different(pay)
        most = self._fitting.some(first).at_most(pay[self._used][first])
        self.spent += self._quick_seconds(len(first))
        return {p: most[i] for p, i in zip(self._used, same, strict=True)}

    def _quick_seconds(self, nodes: int) -> float:
        return QUICK_SECONDS * nodes * (1 + len(self.places.groups) / 10)

    def _different(self, pay: IntArray) -> tuple[list[int], list[int]]:
        """One of the used places for each that differs in what decides about its pods.

        For all of them, which of these stands for it.
        """
        known: dict[tuple[bytes, ...], int] = {}
        first, same = list[int](), list[int]()
        for i, p in enumerate(self._used):
            places = self.places
            key = places.free[p].tobytes(), places.cap[p].tobytes(), pay[p].tobytes()
            if key not in known:
                known[key] = len(first)
                first.append(i)
            same.append(known[key])
        return first, same

    def _exact(self, prices: Prices) -> int:
        """A proof by these prices, and the patterns that they make worth using; how many.

        What decides is the place whose pods pay most for its cost: whoever can't pay more than that
        by the quick bound need not be looked at.
        """
        pay = pay_of(self.places, prices)
        found: dict[tuple[bytes, bytes], set[Pods]] = {}
        due = {p: self._due(prices, p) for p in self._used}
        quick = self._at_most(pay)
        first, same = self._different(pay)
        stands = dict(zip(self._used, same, strict=True))
        known: dict[int, Filled] = {}
        paid: dict[int, int] = {}
        worst = 0.0
        for p in sorted(self._used, key=lambda p: (-quick[p] / max(due[p], 1), p)):
            i = stands[p]
            if i not in known and quick[p] / max(due[p], 1) > worst and self._looked_at(p):
                known[i] = self._fitting.exactly(first[i], pay[p])
                self.spent += QUICK_SECONDS + WORK_SECONDS * known[i].work
            paid[p] = min(quick[p], known[i].most) if i in known else quick[p]
            if due[p] > 0:
                worst = max(worst, paid[p] / due[p])
            if i in known:
                found.setdefault(self._shape(p), set()).add(known[i].pods)
        self._prove(prices, paid)
        return sum(
            self._master.add(p, pods)
            for p in self._used
            for pods in sorted(found.get(self._shape(p), ()))
            if value_of(pods, pay[p]) > self._enough(prices, p)
        )

    def _shape(self, place: int) -> tuple[bytes, bytes]:
        """What decides which pods fit."""
        return self.places.free[place].tobytes(), self.places.cap[place].tobytes()

    def _prove(self, prices: Prices, paid: dict[int, int]) -> None:
        found = proof_by(self.places, prices, paid)
        if self.proof is None or found.total > self.proof.total:
            self.proof = found
            self.raise_bound(found.bound)
        for p, most in paid.items():
            if p < self.places.offers:
                self.worth[p] = most / max(self._due(prices, p), 1)

    def _looked_at(self, place: int) -> bool:
        """Nodes that are there, if they are of many kinds, are judged by the quick bound alone."""
        return place < self.places.offers or len(self._used) - self.places.offers <= MOST_KINDS

    def _enough(self, prices: Prices, place: int) -> int:
        """What pods have to pay for a node to be worth looking at."""
        return self._due(prices, place) + UNIT * int(self.places.cost[place]) // SLACK

    def _due(self, prices: Prices, place: int) -> int:
        """What a node costs beyond what rows pay for it."""
        return UNIT * int(self.places.cost[place]) - paid_for(self.places, prices, place)
