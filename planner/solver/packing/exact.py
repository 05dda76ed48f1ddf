"""Decides small packings: the model without any memory of who runs where.

Who was where matters to moves, not to what can be placed. Without it all nodes of a kind are alike,
which CP-SAT uses, and most variables are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.engine import Goal, optimise
from planner.solver.linear import Linear, total
from planner.solver.model import Model
from planner.solver.packing.ceilings import ceiling
from planner.solver.packing.stock import Stock
from planner.solver.problem import Cell, Problem
from planner.solver.rules import add_rules


@dataclass(frozen=True, eq=False)
class Packed:
    """A packing, the pods placed by rank, and what bounds each, given those before it."""

    counts: IntArray
    placed: tuple[int, ...]
    bounds: tuple[int, ...]
    spent: float = 0.0
    interrupted: bool = False

    @property
    def proven(self) -> bool:
        """Whether nothing better can be placed."""
        return self.placed == self.bounds

    @property
    def unsettled(self) -> bool:
        """Whether there is more to look for, and time to do so."""
        return not self.proven and not self.interrupted


def bounded(stock: Stock, counts: IntArray, known: Mapping[int, int] | None = None) -> Packed:
    """A packing with the bounds that sums give; after one that is not met, all pods there are.

    `known` are bounds of ranks for which more is known.
    """
    placed = stock.placed(counts)
    bounds = list(stock.placed(stock.total[:, None]))
    for rank in range(len(placed)):
        bounds[rank] = ceiling(stock, placed, rank)
        bounds[rank] = min(bounds[rank], (known or {}).get(rank, bounds[rank]))
        if bounds[rank] > placed[rank]:
            break
    return Packed(counts, placed, tuple(bounds))


def still_known(packed: Packed, placed: tuple[int, ...]) -> dict[int, int]:
    """The bounds of a packing that hold for another one, with so many pods placed."""
    bounds = enumerate(packed.bounds)
    return {rank: bound for rank, bound in bounds if packed.placed[:rank] == placed[:rank]}


def decide_packing(problem: Problem, stock: Stock, packed: Packed, limit: float) -> Packed:
    """Rank by rank, each as well as it can be done within the limit."""
    model = Model(_without_memory(problem, stock))
    add_rules(model)
    ranks = [_placed(model, stock, rank) for rank in range(len(stock.priorities))]
    for position, group in enumerate(stock.groups):
        model.at_least(_pods(model, group), int(stock.least[position]))
    bounds = list(stock.placed(stock.total[:, None]))
    spent, interrupted, begin = 0.0, False, packed
    for rank, expression in enumerate(ranks):
        bounds[rank] = ceiling(stock, packed.placed, rank)
        known = still_known(begin, packed.placed)
        bounds[rank] = min(bounds[rank], known.get(rank, bounds[rank]))
        value = packed.placed[rank]
        model.at_least(expression, value)
        if value == bounds[rank]:
            continue
        if interrupted or spent >= limit:
            break
        model.at_most(expression, bounds[rank])
        hint = _hint(model, stock, packed.counts)
        goal = Goal(expression, maximise=True)
        found = optimise(model, goal, hint=hint, limit=limit - spent, watch=_nobody)
        spent += found.time
        interrupted |= found.interrupted
        if found.values is not None:
            state = {cell: found.values[v] for cell, v in model.cell_vars.items()}
            packed = bounded(stock, stock.counts(state))
        bounds[rank] = min(bounds[rank], found.bound)
        if packed.placed[rank] < bounds[rank]:
            break
        model.at_least(expression, packed.placed[rank])
    return replace(packed, bounds=tuple(bounds), spent=spent, interrupted=interrupted)


def _nobody(best: int, bound: int) -> None:
    """Nobody is told."""


def _without_memory(problem: Problem, stock: Stock) -> Problem:
    """The running pods that may land again where they are wait like the others."""
    refused = stock.now.astype(np.bool_) & ~stock.landing
    stays = {group for i, group in enumerate(stock.groups) if refused[i].any()}
    waiting = {g: list(pods) for g, pods in problem.waiting.items()}
    for (group, _), pods in problem.movable.items():
        if group not in stays:
            waiting.setdefault(group, []).extend(pods)
    return replace(
        problem,
        waiting={g: tuple(pods) for g, pods in sorted(waiting.items())},
        movable={cell: pods for cell, pods in problem.movable.items() if cell[0] in stays},
        displaceable={g: n for g, n in problem.displaceable.items() if g in stays},
    )


def _pods(model: Model, group: int) -> Linear:
    variables = model.of(group).y.tolist()
    return Linear(variables, [1] * len(variables))


def _placed(model: Model, stock: Stock, rank: int) -> Linear:
    members = np.flatnonzero(stock.rank == rank).tolist()
    return total(_pods(model, stock.groups[i]) for i in members)


def _hint(model: Model, stock: Stock, counts: IntArray) -> list[tuple[int, int]]:
    state: Mapping[Cell, int] = stock.state(counts)
    return [(variable, state.get(cell, 0)) for cell, variable in model.cell_vars.items()]
