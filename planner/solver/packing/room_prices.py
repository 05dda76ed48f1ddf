"""How many pods of a priority can be placed at the most, by prices on the room of nodes.

Room that pinned pods compete for is dear, room that nobody needs costs nothing: each kind of node
has a price for each resource, and a pod costs what it would pay on the cheapest kind of node that
may hold it. All that is placed costs at most what all room is worth. So, with the cheapest pods
first, no more fit than that pays for. It holds for any prices that are not negative; the best ones
are the duals of a linear program over kinds of nodes. They are rounded, and everything after that
is computed in integers of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from ortools.math_opt import model_pb2  # type: ignore[import-untyped]  # ships no types
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.model.math_opt import linear_optimum, proto_of
from planner.solver.model.program import FREE, FloatArray, Program
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import ceiling

PARTS = 2**20
"""The largest node of a resource, in the linear program."""
UNIT = 2**80
"""A pod in the integers that prices are rounded to: requests of a byte have a price, too."""


@dataclass(frozen=True, eq=False)
class Prices:
    """`room[n, r]` in pods for each unit of a resource; nodes may stand for kinds of nodes."""

    room: FloatArray

    def ceiling(self, stock: Stock, placed: Sequence[int], rank: int) -> int:
        """An upper bound for one priority, given how many pods of those above it are placed."""
        whole = np.array([[int(price * UNIT) for price in row] for row in self.room.tolist()], "O")
        cost = _cheapest(stock, whole)
        worth = sum(int(each) for each in (whole * stock.room.astype("O")).sum(axis=1))
        return affordable(stock, cost, worth, placed, rank)


@dataclass(frozen=True, eq=False)
class Priced:
    """By rank, the most pods that can be placed, given so many above it; and prices.

    The prices are those of all ranks together: room that is dear is what pods lack.
    """

    most: tuple[int, ...]
    room: FloatArray


def priced(pool: Stock, reached: Sequence[int] | None = None) -> Priced:
    """What sums and prices say about kinds of nodes; see `pooled`.

    Given as many above each rank as can be, or at least as many as are `reached`.
    """
    most: tuple[int, ...] = ()
    room = np.zeros(pool.room.shape)
    for rank in range(len(pool.priorities)):
        above = most if reached is None else tuple(reached[:rank])
        bound = ceiling(pool, above, rank)
        prices = None
        if (
            bound > int(pool.least[pool.rank == rank].sum())
            and pool.now.size <= tuning.PRICED_CELLS
        ):
            prices = best_prices(pool, above, rank)
        if prices is not None:
            bound = min(bound, prices.ceiling(pool, above, rank))
            room += prices.room
        most += (bound,)
    return Priced(most, room)


def best_prices(stock: Stock, placed: Sequence[int], rank: int) -> Prices | None:
    """Prices that bound one priority as well as any; None if the program has no solution."""
    unit = np.maximum(stock.room.max(axis=0, initial=0), 1)
    model = mathopt.Model.from_model_proto(_program(stock, placed, rank, unit))
    room = list(islice(model.linear_constraints(), stock.room.size))
    # Nothing else is read, and each number that comes back is several objects of Python.
    needed = mathopt.ModelSolveParameters(
        variable_values_filter=mathopt.VariableFilter(filtered_items=()),
        reduced_costs_filter=mathopt.VariableFilter(filtered_items=()),
        dual_values_filter=mathopt.LinearConstraintFilter(filtered_items=room),
    )
    found = linear_optimum(mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP), needed)
    if found is None or not found.has_dual_feasible_solution():
        return None
    duals = np.array(found.dual_values(room))
    return Prices(np.maximum(0.0, -duals).reshape(stock.room.shape) * PARTS / unit)


def _program(
    stock: Stock, placed: Sequence[int], rank: int, unit: IntArray
) -> model_pb2.ModelProto:
    """Pods of each group on each kind of node; the first rows are the room of these."""
    groups, nodes = np.nonzero(_may(stock))
    program = Program()
    cells = program.add_columns(np.zeros_like(groups), stock.total[groups])
    room = program.add_rows(np.full(stock.room.size, -FREE), (stock.room / unit).ravel() * PARTS)
    for r in range(stock.room.shape[1]):
        parts = np.rint(stock.size[groups, r] / unit[r] * PARTS).astype(np.int64)
        program.enter(room.reshape(stock.room.shape)[nodes, r], cells, parts)
    kept = program.add_rows(stock.least.astype(float), stock.total.astype(float))
    program.enter(kept[groups], cells, 1)
    above = program.add_rows(np.array(placed[:rank], float), np.full(rank, FREE))
    higher = stock.rank[groups] < rank
    program.enter(above[stock.rank[groups[higher]]], cells[higher], 1)
    wanted = (stock.rank[groups] == rank).astype(np.int64)
    return proto_of(program.matrix(), -wanted, np.zeros(len(cells), np.bool_))


def _may(stock: Stock) -> BoolArray:
    """Which kinds of nodes can hold pods of which group."""
    return (stock.landing | (stock.now > 0)) & (stock.total > 0)[:, None]


def _cheapest(stock: Stock, whole: np.ndarray) -> list[int]:
    """What a pod of each group costs where it is cheapest; nothing if it can't be anywhere."""
    asked = stock.size.astype("O") @ whole.T
    may = _may(stock)
    rows = zip(asked.tolist(), may.tolist(), strict=True)
    return [min((c for c, ok in zip(*row, strict=True) if ok), default=0) for row in rows]


def affordable(
    stock: Stock, cost: Sequence[int], worth: int, placed: Sequence[int], rank: int
) -> int:
    """How many pods of a priority can pay, if all that is placed costs no more than so much.

    So many pods of those above it are placed, and what runs below it keeps a node.
    """
    left = worth
    for above in range(rank):
        left -= least_cost(offers(stock, cost, above), int(placed[above]))
    left -= sum(cost[g] * int(stock.least[g]) for g in np.flatnonzero(stock.rank > rank).tolist())
    return most_for(offers(stock, cost, rank), left)


Offer = tuple[int, int, int]
"""What a pod costs, how many there are, and how many of them have to be placed."""


def offers(stock: Stock, cost: Sequence[int], rank: int) -> list[Offer]:
    """Of one priority, the cheapest first; pods that can't be anywhere are none."""
    mine: IntArray = np.flatnonzero((stock.rank == rank) & _may(stock).any(axis=1))
    return sorted((cost[g], int(stock.total[g]), int(stock.least[g])) for g in mine.tolist())


def least_cost(offers: Iterable[Offer], pods: int) -> int:
    """What so many pods cost at the least."""
    kept = list(offers)
    total, pods = sum(cost * least for cost, _, least in kept), pods - sum(e[2] for e in kept)
    for cost, there, least in kept:
        taken = max(0, min(pods, there - least))
        total, pods = total + cost * taken, pods - taken
    return total


def most_for(offers: Iterable[Offer], left: int) -> int:
    """How many pods can be paid for."""
    kept = list(offers)
    left -= sum(cost * least for cost, _, least in kept)
    count = sum(least for _, _, least in kept)
    for cost, there, least in kept:
        taken = there - least if cost == 0 else max(0, min(there - least, left // cost))
        left, count = left - cost * taken, count + taken
    return count
