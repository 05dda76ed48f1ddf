"""Which pods to place, if so many of each priority are: those that leave the most room.

What counts is the resource of which least is left, in shares of what there is. The lightest pods by
some mixture of the resources are a good begin, and CP-SAT goes on from there: nodes play no part in
it, so that this is decided in a few milliseconds. Where no choice fits in all the room there is,
so many pods don't fit, although each mixture for itself would allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.engine import Outcome, improve
from planner.solver.model.linear import Linear
from planner.solver.model.program import FREE, Program, cp_model_of
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import mixtures

_SCALE = 2**30
"""All there is of a resource."""


def roomiest(stock: Stock, target: tuple[int, ...]) -> IntArray:
    """So many pods by priority, by group, that the most room is left of what there is least of."""
    shares = stock.size / np.maximum(stock.room.sum(axis=0), 1)
    takes = [_lightest(stock, target, shares @ each) for each in mixtures(shares.shape[1])]
    best = max(takes, key=lambda take: float((1.0 - take @ shares).min()))
    parts = np.ceil(shares * _SCALE).astype(np.int64)
    left = max(-_SCALE, int((_SCALE - best @ parts).min()))
    found = _chosen(stock, stock.placed(best[:, None]), parts, left, best)
    return best if found.values is None else np.array(found.values[:-1])


def none_fits(stock: Stock, goals: tuple[int, ...]) -> bool:
    """Whether it is certain that no so many pods of the first ranks fit in all the room there is.

    Sizes are rounded down to parts of the room.
    """
    together = np.maximum(stock.room.sum(axis=0), 1).tolist()
    parts = [
        [min(s * _SCALE // room, _SCALE) for s, room in zip(size, together, strict=True)]
        for size in stock.size.tolist()
    ]
    kept = stock.placed(stock.least[:, None])
    pods = [max(pair) for pair in zip_longest(goals, kept, fillvalue=0)]
    found = _chosen(stock, pods, np.array(parts, np.int64), 0, None)
    return found.complete and found.values is None


def _lightest(stock: Stock, target: tuple[int, ...], weighed: IntArray) -> IntArray:
    take = stock.least.copy()
    for rank, pods in enumerate(target):
        mine = np.flatnonzero(stock.rank == rank)
        mine = mine[np.argsort(weighed[mine], kind="stable")]
        spare = (stock.total - stock.least)[mine]
        before = np.cumsum(spare) - spare
        take[mine] += np.clip(pods - int(stock.least[mine].sum()) - before, 0, spare)
    return take


def _chosen(
    stock: Stock, placed: Sequence[int], parts: IntArray, least: int, begin: IntArray | None
) -> Outcome:
    """CP-SAT's choice of pods by group, then what is left, which is no less than given."""
    program = Program()
    pods = program.add_columns(stock.least, stock.total)
    left = program.add_columns(np.array([least]), np.array([_SCALE]))
    ranks = program.add_rows(np.array(placed, float), np.array(placed, float))
    program.enter(ranks[stock.rank], pods, 1)
    for size in parts.T:
        row = program.add_rows(np.array([-FREE]), np.array([float(_SCALE)]))
        program.enter(row, pods, size)
        program.enter(row, left, 1)
    hint = [] if begin is None else list(enumerate([*begin.tolist(), least]))
    most_left = Linear(left.tolist(), [-1], 0)
    model = cp_model_of(program.matrix())
    found = improve(model, most_left, hint, work=tuning.CHOICE_WORK, seed=0)
    if found.interrupted:
        raise KeyboardInterrupt
    return found
