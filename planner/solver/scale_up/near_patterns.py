"""All patterns that a set of some cost can have: those whose pods pay nearly what a node costs.

By the prices of a proof every node adds what its pods pay too little, and nothing adds less than 0
(`proof`). So in a set that costs no more than C, no node lacks more than C is above the bound: the
other patterns need not be looked at (Baldacci, Christofides and Mingozzi 2008). Of those that are
left only the ones are needed to which no pod can be added: whoever has room for more has it for
fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from planner.solver.model.knapsack import FINE, Nodes, Pods
from planner.solver.scale_up.master_problem import UNIT, Pattern
from planner.solver.scale_up.places import Places
from planner.solver.scale_up.proof import Proof, paid_for, pay_of


@dataclass(frozen=True)
class Near:
    """The patterns, and how much at least each of their nodes adds to the bound."""

    lacking: dict[Pattern, int]
    steps: int
    """What it took."""


def near_patterns(places: Places, proof: Proof, cost: int, steps: int) -> Near | None:
    """The patterns of sets that cost no more than this; None if that takes more steps."""
    gap = UNIT * cost - proof.total
    pay = pay_of(places, proof.prices).clip(min=0)
    found: dict[Pattern, int] = {}
    known: dict[tuple[object, ...], list[tuple[Pods, int]]] = {}
    taken = 0
    used = sorted(proof.pods_pay)
    nodes = Nodes(places.request, places.free[used], places.cap[used])
    unit_prices = nodes.unit_prices(pay[used])
    for i, p in enumerate(used):
        due = UNIT * int(places.cost[p]) - paid_for(places, proof.prices, p)
        gain = due - proof.pods_pay[p]
        base = gain if gain < 0 or places.least[p] else 0
        key = (due, base, places.free[p].tobytes(), places.cap[p].tobytes(), pay[p].tobytes())
        if key not in known:
            walk = _Walk(
                places.request.tolist(),
                places.cap[p].tolist(),
                pay[p].tolist(),
                unit_prices[i],
                due - base - gap,
                steps - taken,
            )
            known[key] = list(walk.patterns(places.free[p].tolist()))
            taken += walk.taken
            if taken > steps:
                return None
        for pods, value in known[key]:
            found[p, pods] = max(0, due - base - value)
    return Near(found, taken)


@dataclass(eq=False)
class _Walk:
    """All pods for one node that pay enough and leave no room for another one."""

    request: list[list[int]]
    cap: list[int]
    pay: list[int]
    unit_prices: list[int]
    enough: int
    steps: int
    taken: int = 0
    _order: list[int] = field(default_factory=list)
    _rest: list[int] = field(default_factory=list)

    def patterns(self, free: list[int]) -> Iterator[tuple[Pods, int]]:
        """Pods, and what they pay."""
        price = self.unit_prices
        worth = [
            (pay << FINE) - sum(x * n for x, n in zip(price, each, strict=True))
            for pay, each in zip(self.pay, self.request, strict=True)
        ]
        self._order = sorted((g for g, cap in enumerate(self.cap) if cap), key=lambda g: -worth[g])
        self._rest = [0]
        for g in reversed(self._order):
            self._rest.append(self._rest[-1] + self.cap[g] * max(0, worth[g]))
        self._rest.reverse()
        yield from self._from(0, free, 0, ())

    def _from(self, i: int, left: list[int], value: int, pods: Pods) -> Iterator[tuple[Pods, int]]:
        self.taken += 1
        if self.taken > self.steps:
            return
        room = sum(x * n for x, n in zip(self.unit_prices, left, strict=True))
        if (value - self.enough << FINE) + room + self._rest[i] < 0:
            return
        if i == len(self._order):
            if self._full(left, dict(pods)):
                yield tuple(sorted(pods)), value
            return
        group = self._order[i]
        request = self.request[group]
        fits = self.cap[group]
        for have, need in zip(left, request, strict=True):
            if need:
                fits = min(fits, have // need)
        for n in range(fits, -1, -1):
            after = [have - n * need for have, need in zip(left, request, strict=True)]
            more = (*pods, (group, n)) if n else pods
            yield from self._from(i + 1, after, value + n * self.pay[group], more)

    def _full(self, left: list[int], pods: dict[int, int]) -> bool:
        return not any(
            pods.get(group, 0) < self.cap[group]
            and all(need <= have for need, have in zip(self.request[group], left, strict=True))
            for group in self._order
        )
