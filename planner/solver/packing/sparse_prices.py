"""Prices on pods and on waste that say how many pods nodes can lack in all.

Each set of pods that a node can hold lacks some, takes pods that no other node has then, and wastes
room. If every set is dear for what it lacks, nodes can't lack much, for pods and room to waste are
limited. It holds for any prices that are not negative. The best ones are the duals of a linear
program; they are rounded, and everything after that is computed in integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.model.math_opt import linear_optimum, proto_of
from planner.solver.model.program import FREE, Program

_UNIT = 2**32
"""A pod that is lacking, in the integers that prices are rounded to."""
_PARTS = 2**20
"""All that may be wasted, in the linear program."""
_OFTEN = 2**20
"""More often than any set is used."""
_EXACT = 2**62
"""Sums stay below what 64 bits hold."""


@dataclass(frozen=True, eq=False)
class Sets:
    """What a node can hold: groups, the number of groups for nobody; what it wastes and lacks."""

    members: IntArray
    waste: IntArray
    lack: IntArray


def lack_less(sets: Sets, pods: IntArray, waste: IntArray, lacking: int) -> bool:
    """Whether nodes with such sets certainly lack fewer pods in all; False proves nothing.

    With a price on each pod and on each unit that is wasted, what there is of both in all costs
    `most`. If for each set its lack, times `most`, is less than its price, times `lacking`, the
    same holds for the sums over all nodes. These pay no more than `most`, so they lack less.
    """
    if not len(sets.lack):
        return lacking > 0
    prices = _prices(sets, pods, waste)
    if prices is None:
        return False
    on_pods, on_waste = prices
    most = int(on_pods @ pods + on_waste @ waste)
    cost = np.append(on_pods, 0)[sets.members].sum(axis=1) + sets.waste @ on_waste
    if max(int(cost.max()) * lacking, most * int(sets.lack.max())) >= _EXACT:
        return False
    return bool((most * sets.lack < lacking * cost).all())


def _prices(sets: Sets, pods: IntArray, waste: IntArray) -> tuple[IntArray, IntArray] | None:
    """What a pod of each group and a unit of each resource is worth; None if GLOP gives up."""
    program = Program()
    count = len(sets.lack)
    columns = program.add_columns(np.zeros(count, np.int64), np.full(count, _OFTEN))
    held = program.add_rows(np.full(len(pods), -FREE), pods.astype(float))
    taken = program.add_rows(np.full(len(waste), -FREE), np.full(len(waste), float(_PARTS)))
    at, group, times = _entries(sets.members, len(pods))
    program.enter(held[group], columns[at], times)
    for row, wasted, left in zip(taken, sets.waste.T, waste.tolist(), strict=True):
        some = np.flatnonzero(wasted)
        parts = -(-wasted[some] * _PARTS // max(1, left))
        program.enter(np.full(len(some), row), columns[some], parts)
    proto = proto_of(program.matrix(), -sets.lack, np.zeros(count, np.bool_))
    model = mathopt.Model.from_model_proto(proto)
    found = linear_optimum(mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP))
    if found is None or not found.has_dual_feasible_solution():
        return None
    worth = np.maximum(0.0, -np.array(found.dual_values(list(model.linear_constraints()))))
    each = worth[len(pods) :] * _PARTS / np.maximum(waste, 1)
    whole = np.ceil(np.minimum(np.append(worth[: len(pods)], each), _UNIT) * _UNIT)
    if float(whole.max()) * float(pods.sum() + waste.sum()) >= _EXACT:
        return None
    prices = whole.astype(np.int64)
    return prices[: len(pods)], prices[len(pods) :]


def _entries(members: IntArray, groups: int) -> tuple[IntArray, IntArray, IntArray]:
    """For each set and each group that it has: both numbers, and how many pods."""
    keys = (np.arange(len(members))[:, None] * (groups + 1) + members).ravel()
    found, times = np.unique(keys, return_counts=True)
    at, group = np.divmod(found, groups + 1)
    some = group < groups
    return at[some], group[some], times[some]
