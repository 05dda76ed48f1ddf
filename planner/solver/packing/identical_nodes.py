"""Identical nodes: whether more pods of a priority fit is decided by looking at all ways.

For each way to choose the pods that stay out, all ways to fill the nodes with the others. A pod
stays out rather than one that is no larger in anything, so few choices matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.enumeration import Effort, completed, parts_of
from planner.solver.packing.question import Stock


@dataclass(frozen=True, eq=False)
class Settled:
    """A packing with so many pods of a priority, or that there is none, or neither."""

    counts: IntArray | None
    refuted: bool
    work: int


def alike(stock: Stock) -> bool:
    """Whether all nodes have the same room for the same pods."""
    return bool((stock.room == stock.room[0]).all() and stock.landing.all())


def settled(stock: Stock, above: tuple[int, ...], goal: int, work: int) -> Settled:
    """Whether `goal` pods of a priority fit beside so many of those above it, with some work."""
    if parts_of(stock.total) > tuning.MOST_PARTS:
        return Settled(None, refuted=False, work=0)
    goals = (*above, goal)
    open_ = list(islice(staying_out(stock, goals), tuning.MOST_CHOICES + 1))
    if len(open_) > tuning.MOST_CHOICES:
        return Settled(None, refuted=False, work=tuning.MOST_CHOICES * tuning.CHOICE_SETS)
    everybody = np.where(stock.rank < len(goals), stock.total, stock.least)
    room, nodes = stock.room[0], len(stock.room)
    open_.sort(key=lambda out: -float(((out @ stock.size) / np.maximum(room, 1)).min()))
    done = 0
    for width in tuning.REMAINDERS:
        undecided = []
        for out in open_:
            if done >= work:
                return Settled(None, refuted=False, work=done)
            effort = Effort(tuning.MOST_SETS, width, work - done)
            found = completed(stock.size, everybody - out, room, nodes, effort)
            done += found.work + tuning.CHOICE_SETS
            if found.counts is not None or not found.begun:
                return Settled(found.counts, refuted=False, work=done)
            if not found.complete:
                undecided.append(out)
        open_ = undecided
        if not open_:
            return Settled(None, refuted=True, work=done)
    return Settled(None, refuted=False, work=done)


def staying_out(stock: Stock, goals: tuple[int, ...]) -> Iterator[IntArray]:
    """The pods without a node, by group, if these many of the first priorities have one."""
    out = np.array(stock.placed(stock.total[:, None]))[: len(goals)] - goals
    choices = (
        islice(_largest(stock, r, int(n)), tuning.MOST_CHOICES + 1) for r, n in enumerate(out)
    )
    for each in product(*choices):
        yield np.sum(each, axis=0, dtype=np.int64)


def _largest(stock: Stock, rank: int, out: int) -> Iterator[IntArray]:
    """So many of a priority, none of which could be exchanged for a larger one."""
    spare = np.where(stock.rank == rank, stock.total - stock.least, 0)
    order = np.lexsort((np.arange(len(spare)), -stock.size.sum(axis=1)))
    order = order[spare[order] > 0]
    size = stock.size[order]
    larger = [np.flatnonzero((size[:i] >= size[i]).all(axis=1)) for i in range(len(order))]
    free = spare[order]

    def choose(taken: list[int], left: int) -> Iterator[list[int]]:
        i = len(taken)
        if i == len(order) and not left:
            yield taken
        if left > free[i:].sum() or i == len(order):
            return
        open_ = all(taken[j] == free[j] for j in larger[i].tolist())
        for count in range(min(left, int(free[i])) if open_ else 0, -1, -1):
            yield from choose([*taken, count], left - count)

    for taken in choose([], out):
        found = np.zeros_like(spare)
        found[order] = taken
        yield found
