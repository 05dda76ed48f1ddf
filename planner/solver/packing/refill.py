"""Refilling: nodes that take the same pods are emptied and filled anew, with more pods than before.

Sums over the nodes say how many pods there could be at the most; from there downwards, which pods
leave the most room is chosen first, and then a filling is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.choose_pods import roomiest
from planner.solver.packing.enumeration import Effort
from planner.solver.packing.fill_nodes import Care, Filling
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import Packed, ceiling

CARES = tuple(Care(rows, last, Effort(*most)) for rows, last, *most in tuning.REFILL_CARE)


@dataclass
class Work:
    """What is left to be done, counted in sets."""

    left: int
    done: int = 0

    def count(self, sets: int) -> None:
        """Take so much off."""
        self.left -= sets
        self.done += sets


def refilled(stock: Stock, packed: Packed, work: Work, seed: int) -> IntArray:
    """A packing that places more, or the same one."""
    counts = packed.counts
    for nodes in _alike(stock):
        part, staying = _part(stock, counts, nodes)
        before = part.placed(counts[:, nodes] - staying)
        bounds = packed.bounds if len(nodes) == len(stock.room) else None
        found = _refilled_part(part, before, bounds, work, seed)
        if found is not None:
            counts = counts.copy()
            counts[:, nodes] = staying + found
    return counts


def _alike(stock: Stock) -> list[IntArray]:
    """Nodes by who may land there, most nodes first; single ones have nothing to exchange."""
    _, kinds = np.unique(stock.landing, axis=1, return_inverse=True)
    found = [np.flatnonzero(kinds.ravel() == kind) for kind in range(int(kinds.max()) + 1)]
    return sorted((nodes for nodes in found if len(nodes) > 1), key=lambda nodes: -len(nodes))


def _part(stock: Stock, counts: IntArray, nodes: IntArray) -> tuple[Stock, IntArray]:
    """Some nodes with their pods and those without a node; and the pods that can't land again."""
    landing = stock.landing[:, nodes[0]]
    here = counts[:, nodes]
    staying: IntArray = np.where(landing[:, None], 0, here)
    elsewhere = counts.sum(axis=1) - here.sum(axis=1)
    part = replace(
        stock,
        room=stock.room[nodes] - staying.T @ stock.size,
        landing=stock.landing[:, nodes],
        now=np.zeros_like(here),
        total=np.where(landing, stock.total - elsewhere, 0),
        least=np.where(landing, np.maximum(stock.least - elsewhere, 0), 0),
    )
    return part, staying


def _refilled_part(
    stock: Stock, before: tuple[int, ...], bounds: tuple[int, ...] | None, work: Work, seed: int
) -> IntArray | None:
    """More pods on these nodes than before; first what is easy, then from there upwards."""
    chosen: list[IntArray] = []
    best: IntArray | None = None
    for take in _choices(stock, before, bounds):
        if not _easy(stock, take):
            chosen.append(take)
            continue
        best = _filled(stock, take, CARES[0], work, seed)
        if best is not None or work.left <= 0:
            break
        chosen.append(take)
    for attempt in range(tuning.REFILL_ATTEMPTS):
        care = CARES[min(attempt, len(CARES) - 1)]
        for level in reversed(range(len(chosen))):
            if work.left <= 0:
                return best
            found = _filled(stock, chosen[level], care, work, seed + 1 + attempt)
            if found is not None:
                best, chosen = found, chosen[:level]
    return best


def _choices(
    stock: Stock, before: tuple[int, ...], bounds: tuple[int, ...] | None
) -> Iterator[IntArray]:
    """Which pods to place, from the most on; those that are left out are of the last priorities."""
    target: list[int] = []
    for rank in range(len(stock.priorities)):
        most = ceiling(stock, tuple(target), rank)
        known = bounds is not None and tuple(target) == before[:rank]
        target.append(min(most, bounds[rank]) if bounds is not None and known else most)
    forced = stock.placed(stock.least[:, None])
    for left_out in tuning.LEFT_OUT:
        if tuple(target) <= before:
            return
        take = roomiest(stock, tuple(target))
        if (take @ stock.size <= stock.room.sum(axis=0)).all():
            yield take
        for _ in range(max(1, left_out)):
            spare = [rank for rank, pods in enumerate(target) if pods > forced[rank]]
            if not spare:
                return
            target[spare[-1]] -= 1


def _easy(stock: Stock, take: IntArray) -> bool:
    """Whether much is left over. The more pods a node has, the less it takes: there are more sets.

    For four on a node it is a pod of the middle size.
    """
    load = take @ stock.size
    pods, nodes = int(take.sum()), len(stock.room)
    each = np.maximum(load / max(1, pods), 1)
    slack = (stock.room.sum(axis=0) - load) / each
    return bool((slack * pods**2 >= (4 * nodes) ** 2).all())


def _filled(stock: Stock, take: IntArray, care: Care, work: Work, seed: int) -> IntArray | None:
    pods = np.repeat(np.arange(len(take)), take)
    filling = Filling(stock.size, pods, stock.room, care, work.left, seed)
    found = filling.run()
    work.count(filling.work)
    if found is None:
        return None
    counts = np.zeros((len(take), len(found)), np.int64)
    for node, members in enumerate(found):
        np.add.at(counts[:, node], pods[members], 1)
    return counts
