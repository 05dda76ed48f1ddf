"""A bound on moves from prices, in whole numbers: nothing here is rounded the wrong way.

Every final state without excess that places everything is a choice per node (which big pods land,
which pods leave) and a choice per group (how many leave and land in each domain). Two sums tie them
together: pods of class h that land in domain d, and departures of a pair (group, domain). With a
price pay[h, d] >= 0 for each landing and a price fee[i] for each departure of a pair, the choices
fall apart, and

    sum over groups of  min( (1 - fee) x departures + pay x landings )
  + sum over nodes  of  min( 0, evictions + fees - pay of what lands )

is at most the number of moves of any such state (weak duality: adding prices times differences that
are zero). Each minimum may itself be replaced by something smaller. Prices are multiples of 1/UNIT,
so that all sums are exact integers.

Fees of due pairs are at least 0, those of other promoted pairs at least 1, as `room` assumes. None
is above 1 + the pay for landing the pod in its domain again, so departures that no rule asks for
never make a group's part smaller.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.large.bundles import UNIT, Bundles, Offer, bundles
from planner.solver.large.classes import Size
from planner.solver.large.node_states import Pair, Room, gratis
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.room_by_evictions import DEPTH, NEVER
from planner.solver.large.state import State

FAR = 1 << 40


@dataclass(frozen=True, eq=False)
class Prices:
    """`pay[h]` per domain of the class (one number without a rule); `fee[i]` per pair."""

    pay: list[IntArray]
    fee: IntArray


@dataclass(frozen=True, eq=False)
class Market:
    """Classes and all states in which one more pod of them could fit, with the evictions.

    For class h: `states[h]`, `domain[h]` and `evictions[h]` run in parallel. Evictions are exact as
    far as `room_by_evictions` knows them; the others are the least that it takes, until somebody
    asks for them (`settle`). Nodes of one kind admit the same tasks, in the same domains.
    """

    room: Room
    big: list[Size]
    states: list[IntArray]
    domain: list[IntArray]
    evictions: list[IntArray]
    kinds: IntArray
    kind_of: IntArray
    settled: set[tuple[int, int]] = field(default_factory=set)

    def most(self, h: int, domain: int) -> int:
        """Pods of class h that can land on one node of the domain, whatever room it has."""
        return min(int(self.big[h].most[domain]), self.big[h].together)

    def settle(self, h: int, chosen: IntArray) -> int:
        """Finds what it really takes to land class h in these states of it; how many took more."""
        before = self.evictions[h][chosen]
        for i in chosen[before > DEPTH].tolist():
            if (h, i) not in self.settled:
                self.settled.add((h, i))
                state = int(self.states[h][i])
                self.evictions[h][i] = self.room.exactly(state, self.big[h].request)
        return int((self.evictions[h][chosen] > before).sum())

    def within(self, pay: list[IntArray], fee: IntArray) -> Prices:
        """The prices with fees brought into their limits."""
        pairs = self.room.pairs
        of = {t.group: h for h, size in enumerate(self.big) for t in size.members}
        again = [int(pay[of[g]][domain]) if g in of else 0 for g, domain in pairs.all]
        high = UNIT + np.array(again, np.int64)
        return Prices(pay, np.clip(fee, np.where(pairs.due, 0, UNIT), high))


def market_of(room: Room, big: list[Size]) -> Market:
    """Evictions of every class in every state; states that can never hold it are left out."""
    states: list[IntArray] = []
    domain: list[IntArray] = []
    evictions: list[IntArray] = []
    for size in big:
        chosen = np.flatnonzero(size.landing[room.host[room.node]])
        needed = room.evictions(chosen, size.request)
        chosen, needed = chosen[needed < NEVER], needed[needed < NEVER]
        states.append(chosen)
        evictions.append(needed)
        domain.append(size.domain_at(room.host[room.node[chosen]]))
    rows = np.full((len(room.first), len(big)), -1, np.int64)
    for h in range(len(big)):
        rows[room.node[states[h]], h] = domain[h]
    kinds, kind_of = np.unique(rows, axis=0, return_inverse=True)
    return Market(room, big, states, domain, evictions, kinds, kind_of.reshape(-1))


def fees(room: Room, fee: IntArray) -> IntArray:
    """What the units that are gone cost, per state."""
    padded = np.append(fee, 0)
    paid: IntArray = padded[room.unit_pair].sum(axis=1)
    return paid


def reduced(market: Market, prices: Prices, h: int, paid: IntArray) -> IntArray:
    """Evictions + fees - pay for landing one pod of class h, per state of it."""
    chosen = market.states[h]
    return UNIT * market.evictions[h] + paid[chosen] - prices.pay[h][market.domain[h]]


def singles(market: Market, prices: Prices, paid: IntArray) -> IntArray:
    """The least value of each node with one big pod or none."""
    room = market.room
    best = np.zeros(len(room.first), np.int64)
    for h in range(len(market.big)):
        if prices.pay[h].any() and len(market.states[h]):
            np.minimum.at(best, room.node[market.states[h]], reduced(market, prices, h, paid))
    return best


def several(market: Market, prices: Prices, paid: IntArray, most: int = 0) -> Bundles:
    """The least value of each node with several big pods, optimistically, or `most`."""
    return bundles(market.room, _offers(market, prices), paid, most)


def _offers(market: Market, prices: Prices) -> list[Offer]:
    """By kind of node: which tasks pay anything there."""
    offers: list[Offer] = []
    for kind, row in enumerate(market.kinds):
        chosen = [h for h in np.flatnonzero(row >= 0).tolist() if prices.pay[h][row[h]] > 0]
        request = [market.big[h].request[market.room.columns] for h in chosen]
        offers.append(
            Offer(
                nodes=np.flatnonzero(market.kind_of == kind),
                task=np.array(chosen, np.int64),
                pay=np.array([prices.pay[h][row[h]] for h in chosen], np.int64),
                most=np.array([market.most(h, int(row[h])) for h in chosen], np.int64),
                request=np.array(request, np.int64).reshape(-1, 2),
            )
        )
    return offers


@dataclass(frozen=True, eq=False)
class Priced:
    """Prices and what they prove: `nodes` are the least values of the nodes, part of `total`."""

    market: Market
    prices: Prices
    paid: IntArray
    alone: IntArray
    together: Bundles
    total: int

    @property
    def nodes(self) -> IntArray:
        """The least value of each node."""
        return np.minimum(self.alone, self.together.value)

    @property
    def moves(self) -> int:
        """No state without excess that places everything has fewer moves."""
        return -(-self.total // UNIT)


def priced(state: State, market: Market, prices: Prices) -> Priced:
    """The bound of these prices."""
    paid = fees(market.room, prices.fee)
    alone, together = singles(market, prices, paid), several(market, prices, paid)
    nodes = int(np.minimum(alone, together.value).sum())
    total = nodes + groups_value(state, market, prices)
    return Priced(market, prices, paid, alone, together, total)


def groups_value(state: State, market: Market, prices: Prices) -> int:
    """The groups' part of the bound."""
    pay = {t.group: prices.pay[h] for h, size in enumerate(market.big) for t in size.members}
    return sum(
        _group_value(task, pay.get(task.group), market.room.pairs.index, prices.fee)
        for task in state.tasks.values()
        if task.bound or task.waiting or task.group in pay
    )


def _group_value(
    task: PlainGroup, pay: IntArray | None, index: dict[Pair, int], fee: IntArray
) -> int:
    """The least over all final counts f of what the group's departures and landings cost.

    With c pods now, the least number of departures from a domain is max(forced, c - f, 0), since
    every departure beyond it is landed again and costs 1 - fee + pay >= 0. So the cost is

        sum over domains of  pay x (f - c) + (1 - fee + pay) x max(forced, c - f, 0)
    """
    if gratis(task):
        return UNIT * task.bound + (0 if pay is None else int(pay.min()) * task.waiting)
    size = 1 if task.main is None else task.rules[task.main].size
    at = [index.get((task.group, domain), -1) for domain in range(size)]
    if pay is None and not any(fee[i] for i in at if i >= 0):
        return UNIT * task.bound
    pay = np.zeros(size, np.int64) if pay is None else pay
    back = np.array([UNIT - int(fee[i]) if i >= 0 else 0 for i in at], np.int64) + pay
    movable, forced = task.by_domain(task.start), task.by_domain(task.forced)
    if task.main is None:
        return int(pay[0]) * task.waiting + int(back[0] * forced[0])
    now = task.counts[task.main]
    return min(_at(task, low, pay, back, now, np.stack((movable, forced))) for low in task.lows)


def _at(
    task: PlainGroup, low: int, pay: IntArray, back: IntArray, now: IntArray, pods: IntArray
) -> int:
    """For one L: counts start at L (or what can't leave) and rise where the next pod costs least.

    The cost of a domain is convex in its count, so taking the cheapest step each time is exact.
    """
    skew = task.rules[task.main or 0].skew
    movable, forced = pods
    count = np.maximum(low, now - movable)
    left = int(now.sum()) + task.waiting - int(count.sum())
    if (count > low + skew).any() or left < 0:
        return FAR
    while left > 0:
        step = pay - np.where(now - count > forced, back, 0)
        step = np.where(count < low + skew, step, FAR)
        domain = int(step.argmin())
        if step[domain] == FAR:
            return FAR
        count[domain] += 1
        left -= 1
    return int((pay * (count - now) + back * np.maximum(forced, now - count)).sum())
