"""Ways to use a node that prices leave to states with few moves: all of them, not only good ones.

The bound of prices (see `prices`) is a sum of least values, one for each node and group. A state
whose moves are only a little above it uses every node in a way that is worth nearly as little. A
way says which pods that are paid for land, which units leave, and how many others have to. Nodes
that can be used in the same ways are counted together.

A way that lands the same as another one, with no unit and no eviction fewer, is left out: whoever
uses it could use the other one, and leave the rest for nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.bundles import UNIT
from planner.solver.large.master_problem import Column
from planner.solver.large.prices import Market, Priced, reduced, several
from planner.solver.large.room_by_evictions import NEVER


@dataclass(frozen=True, order=True)
class Way:
    """`lands` as (class, domain, pods), `gone` as (pair, pods), and other evictions."""

    lands: tuple[tuple[int, int, int], ...]
    gone: tuple[tuple[int, int], ...]
    evictions: int

    def beats(self, other: Way) -> bool:
        """Whether it asks for no more where it lands the same."""
        if self == other or self.evictions > other.evictions:
            return False
        theirs = dict(other.gone)
        return all(pods <= theirs.get(pair, 0) for pair, pods in self.gone)


Ways = dict[tuple[Way, ...], list[int]]
"""Which nodes can be used in exactly these ways."""


def ways(found: Priced, most: int) -> Ways | None:
    """Of all nodes on which anything lands that is paid for; None if there are too many."""
    limit = found.nodes + UNIT * most - found.total
    by_node: dict[int, list[Way]] = defaultdict(list)
    for node, way in _singles(found, limit):
        by_node[node].append(way)
    together = several(found.market, found.prices, found.paid, int(limit.max()) + 1)
    left = tuning.MOST_BUNDLES
    for node in np.flatnonzero(together.value <= limit).tolist():
        left -= _bundled(found, node, int(limit[node]), left, by_node[node])
        if left <= 0:
            return None
    alike: Ways = defaultdict(list)
    for node, each in by_node.items():
        if each:
            alike[tuple(_undominated(each))].append(node)
    return alike


def bundle_columns(found: Priced, possible: Ways) -> Iterator[Column]:
    """Those with several pods, as columns."""
    ends = np.append(found.market.room.first, len(found.market.room.node)).tolist()
    for each, nodes in possible.items():
        for way in each:
            if sum(pods for _, _, pods in way.lands) > 1:
                lands = tuple((h, pods) for h, _, pods in way.lands)
                for node in nodes:
                    states = range(ends[node], ends[node + 1])
                    state = next(s for s in states if _gone(found.market, s) == way.gone)
                    yield Column(node, state, lands, way.evictions)


def _undominated(found: list[Way]) -> Iterator[Way]:
    by_landing: dict[tuple[tuple[int, int, int], ...], set[Way]] = defaultdict(set)
    for way in found:
        by_landing[way.lands].add(way)
    for lands in sorted(by_landing):
        alike = sorted(by_landing[lands])
        yield from (way for way in alike if not any(other.beats(way) for other in alike))


def _singles(found: Priced, limit: IntArray) -> Iterator[tuple[int, Way]]:
    """With one pod; evictions are counted exactly."""
    market, room = found.market, found.market.room
    for h, states in enumerate(market.states):
        pay = found.prices.pay[h][market.domain[h]]
        within = np.flatnonzero(
            (pay > 0) & (reduced(market, found.prices, h, found.paid) <= limit[room.node[states]])
        )
        market.settle(h, within)
        worth = reduced(market, found.prices, h, found.paid)
        for i in within[worth[within] <= limit[room.node[states[within]]]].tolist():
            lands = ((h, int(market.domain[h][i]), 1),)
            needed = int(market.evictions[h][i])
            yield int(room.node[states[i]]), Way(lands, _gone(market, int(states[i])), needed)


def _gone(market: Market, state: int) -> tuple[tuple[int, int], ...]:
    pairs = market.room.unit_pair[state]
    return tuple(sorted(Counter(pairs[pairs >= 0].tolist()).items()))


def _bundled(found: Priced, node: int, limit: int, most: int, into: list[Way]) -> int:
    """Adds the ways with several pods, and says how many were looked at, of `most` at the most."""
    market, room = found.market, found.market.room
    domain = market.kinds[market.kind_of[node]]
    pay = np.array([found.prices.pay[h][d] if d >= 0 else 0 for h, d in enumerate(domain.tolist())])
    classes = np.flatnonzero(pay > 0).tolist()
    ends = np.append(room.first, len(room.node))
    states = np.arange(ends[node], ends[node + 1])
    sets: list[tuple[int, ...]] = [(h,) for h in classes]
    seen = 0
    while sets and seen < most:
        larger = [(*each, h) for each in sets for h in classes if h >= each[-1]]
        larger = [s for s in larger if s.count(s[-1]) <= market.most(s[-1], int(domain[s[-1]]))]
        seen += len(larger)
        sets = []
        for each in larger[: max(0, most - seen + len(larger))]:
            request = np.sum([market.big[h].request for h in each], axis=0)
            needed = room.evictions(states, request)
            worth = UNIT * needed + found.paid[states] - int(pay[list(each)].sum())
            lands = tuple((h, int(domain[h]), pods) for h, pods in sorted(Counter(each).items()))
            for i in np.flatnonzero((needed < NEVER) & (worth <= limit)).tolist():
                exact = room.exactly(int(states[i]), request)
                if worth[i] + UNIT * (exact - int(needed[i])) <= limit:
                    into.append(Way(lands, _gone(market, int(states[i])), exact))
            if (needed < NEVER).any():
                sets.append(each)
    return seen
