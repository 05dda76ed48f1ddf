"""What prices prove: no set of nodes costs less.

Given prices for the rows (`master_problem`), no set costs less than

    sum over rows of   price x the end of its range that the price pushes against
  + sum over extra variables of  the least of  - price x value
  + sum over places of  the least of  nodes x (cost - prices of a node - what its pods pay at most)

(weak duality). Where a place has no limit on its nodes, the last must not be below 0: all prices
are made smaller by one factor until a node of no such place is paid more than its cost (Farley
1990), or larger as long as none is. All of it is done in whole numbers, so that the sum is a proof
whatever the linear program says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.scale_up.master_problem import UNIT, Prices
from planner.solver.scale_up.places import Places

LARGEST = 2
"""Prices are made no larger than so many times."""


@dataclass(frozen=True, eq=False)
class Proof:
    """Prices by which no set costs less than `total`, in their units.

    `pods_pay` is what the pods of a node of each place pay at most.
    """

    prices: Prices
    pods_pay: Mapping[int, int]
    total: int

    @property
    def bound(self) -> int:
        """The cost below which no set is."""
        return max(0, -(-self.total // UNIT))


def proof_by(places: Places, prices: Prices, pods_pay: Mapping[int, int]) -> Proof:
    """The best proof by these prices, made smaller or larger, for places that may have nodes."""
    ends = row_ends(places, prices)
    paid = {p: paid_for(places, prices, p) + pods for p, pods in pods_pay.items()}
    cost = {p: UNIT * int(places.cost[p]) for p in paid}
    dear = {p: Fraction(cost[p], amount) for p, amount in paid.items() if amount > 0 and cost[p]}
    endless = (factor for p, factor in dear.items() if places.most[p] is None)
    largest = min(endless, default=Fraction(LARGEST))
    largest = min(largest, Fraction(LARGEST))
    limited = {f for p, f in dear.items() if places.most[p] is not None and f < largest}

    def total(factor: Fraction) -> Fraction:
        gains = ((p, cost[p] - factor * amount) for p, amount in paid.items())
        return factor * ends + sum(gain * nodes_for(places, p, gain) for p, gain in gains)

    return _scaled(places, prices, pods_pay, max((Fraction(0), largest, *limited), key=total))


def _scaled(places: Places, prices: Prices, pods_pay: Mapping[int, int], factor: Fraction) -> Proof:
    """The proof with prices times a factor, rounded so that nobody pays more than that."""
    up, down = factor.numerator, factor.denominator
    scaled = Prices(
        [price * up // down for price in prices.rows],
        [price * up // down for price in prices.node_rows],
        {},
    )
    pay = {p: pods * up // down for p, pods in pods_pay.items()}
    total = row_ends(places, scaled)
    for p, pods in pay.items():
        gain = UNIT * int(places.cost[p]) - paid_for(places, scaled, p) - pods
        total += gain * nodes_for(places, p, gain)
    return Proof(scaled, pay, total)


def nodes_for(places: Places, place: int, gain: Fraction | int) -> int:
    """The nodes of a place with which a gain for each adds the least."""
    if gain >= 0:
        return int(places.least[place])
    most = places.most[place]
    assert most is not None, "prices are made small enough"
    return most


def paid_for(places: Places, prices: Prices, place: int) -> int:
    """What rows pay for a node of a place."""
    rows = zip(places.node_rows, prices.node_rows, strict=True)
    return sum(int(row.each[place]) * price for row, price in rows)


def row_ends(places: Places, prices: Prices) -> int:
    """What rows and extra variables amount to at least."""
    total = 0
    extra = [0] * len(places.extra)
    for row, price in zip(places.rows, prices.rows, strict=True):
        total += price * ((row.lower if price > 0 else row.upper) or 0)
        for number, amount in row.extra.items():
            extra[number] -= price * amount
    total += sum(min(0, each) * upper for each, upper in zip(extra, places.extra, strict=True))
    for node_row, price in zip(places.node_rows, prices.node_rows, strict=True):
        total += price * ((node_row.lower if price > 0 else node_row.upper) or 0)
    return total


def pay_of(places: Places, prices: Prices) -> IntArray:
    """`pay[p, g]`: what a pod of a group pays in a place."""
    pay = np.zeros((len(places.cost), len(places.groups)), np.int64)
    for row, price in zip(places.rows, prices.rows, strict=True):
        if price:
            pay[np.ix_(row.places, row.groups)] += row.weight * price
    return pay
