"""`planner drain --most` in a large cluster: a set by counting, mended and then made larger.

Counting says how many nodes of each class could be empty if pods were like water. They are tried in
one go; nodes whose pods found no place are left out, and the rest is tried anew until it ends well.
Where pods would drive others off, a go in which nobody does so shows which nodes they need. Then
more nodes are added, many at once as long as that helps, in the end one by one: what has to be
given back for them may be another node.

Nodes for pods of their own, by taints or selectors, are looked at one pool after the other before
all are tried together: what fails in one pool then costs no node of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from planner.drain.empty_nodes import EmptyingNodes, is_possible
from planner.drain.find import Drain
from planner.drain.many_nodes import ManyNodes, nodes_with_room

COUNTING_LIMIT = 10.0
"""CP-SAT's deterministic seconds for a bound by counting."""
SPARE = 0.02
"""Part of the requests for which room is left over at first."""
MENDED = 24
"""So often a set is tried anew without the nodes that failed."""
MENDED_AGAIN = 3
"""The same for a set that was made larger."""
NEAR = 0.995
"""A part of the bound that is good enough."""
WORK = 300_000_000
"""Evictions times nodes that are tried to make a set larger: about half a minute."""
BESIDE_NODES = 4_000
"""What an eviction costs beside looking at nodes, in nodes."""
FEWER = 10
"""One of so many nodes is left out where it is not seen which of them failed."""


@dataclass(eq=False)
class MostAtScale:
    """One search; `holds` says of a drain that ended well whether its end does, too."""

    emptying: EmptyingNodes
    prices: Mapping[int, int]
    holds: Callable[[Drain], bool]
    work: int = WORK
    goes: int = 0
    """How many sets were tried."""
    _left: int = 0
    _last: int = 0
    """What is left of the work, and what the last set took of it."""
    _best: Drain | None = None
    _price: int = 0
    _tried: set[frozenset[int]] = field(default_factory=set)

    def bound(self) -> int:
        """A price that no set exceeds."""
        return self.emptying.counting().most(self.prices, COUNTING_LIMIT).bound

    def best(self, bound: int) -> Drain | None:
        """The best set that was found."""
        pools = self._pools()
        if len(pools) > 1:
            found = [node for pool in pools for node in self._alone(pool, WORK // 2 // len(pools))]
            self._mended(found, MENDED)
        if not self._price:
            room = self.emptying.counting().with_spare(self.prices, COUNTING_LIMIT, SPARE)
            self._mended(nodes_with_room(self.emptying, room, self.prices), MENDED)
        self._left = self.work
        self._grow(bound)
        return self._best

    def _alone(self, nodes: Iterable[int], work: int) -> tuple[int, ...]:
        """The best set among these nodes if all others stay."""
        prices = {node: self.prices[node] for node in nodes}
        search = MostAtScale(self.emptying, prices, self.holds, work)
        found = search.best(search.bound())
        self.goes += search.goes
        return () if found is None else found.aim.drained

    def _pools(self) -> list[list[int]]:
        """The candidates, apart by which pods of their own they are for."""
        found: dict[bytes, list[int]] = {}
        masks = np.array([pool for pool, _ in self.emptying.counting().pools()])
        for node in self.prices:
            found.setdefault(masks[:, node].tobytes(), []).append(node)
        return list(found.values())

    @property
    def price(self) -> int:
        """What the best set is worth."""
        return self._price

    def _mended(self, nodes: Iterable[int], times: int) -> bool:
        """Whether the nodes, or most of them, are a better set than the best so far."""
        chosen = self._in_order(nodes)
        for _ in range(times):
            if self._worth(chosen) <= self._price or frozenset(chosen) in self._tried:
                return False
            self._tried.add(frozenset(chosen))
            go = ManyNodes(self.emptying, chosen)
            drain = self._ran(go)
            reached = drain.aim.drained
            if is_possible(drain) and self._worth(reached) > self._price and self.holds(drain):
                self._best, self._price = drain, self._worth(reached)
                return True
            if drain.tried.runs[0].preempted:
                go = ManyNodes(self.emptying, chosen, preempt=False)
                drain = self._ran(go)
            chosen = self._without_failing(go, drain)
        return False

    def _ran(self, go: ManyNodes) -> Drain:
        self.goes += 1
        drain = go.run()
        self._last = len(drain.evicted) * (len(self.emptying.cluster.nodes) + BESIDE_NODES)
        self._left -= self._last
        return drain

    def _without_failing(self, go: ManyNodes, drain: Drain) -> list[int]:
        """What was not given back, and less if that is all."""
        left = [node for node in drain.aim.drained if node not in go.in_vain]
        if left and len(left) < len(go.nodes):
            return self._in_order(left)
        failing = self.emptying.sources_of_failure(drain)
        fewer = [node for node in left if node not in failing]
        if fewer and len(fewer) < len(left):
            return self._in_order(fewer)
        chosen = self._in_order(left)
        return chosen[: len(chosen) - 1 - len(chosen) // FEWER]

    def _grow(self, bound: int) -> None:
        """More nodes than the best set, half of the others at first, as long as there is time."""
        many = len(self.prices) // 2
        while self._left > self._last and self._price < NEAR * bound:
            drained = () if self._best is None else self._best.aim.drained
            others = self._in_order(node for node in self.prices if node not in set(drained))
            if not others or not many:
                break
            parts = [others[i : i + many] for i in range(0, len(others), many)]
            if not any(self._grown(drained, part) for part in parts):
                many //= 2

    def _grown(self, drained: Iterable[int], more: Iterable[int]) -> bool:
        return self._left > self._last and self._mended((*drained, *more), MENDED_AGAIN)

    def _worth(self, nodes: Iterable[int]) -> int:
        return sum(self.prices[node] for node in nodes)

    def _in_order(self, nodes: Iterable[int]) -> list[int]:
        """Few evictions for much money first."""
        evictions = self.emptying.evictions
        return sorted(nodes, key=lambda node: (evictions[node] / self.prices[node], node))
