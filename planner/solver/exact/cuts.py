"""States that a search must not come back with: no order of steps reaches them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.problem import Cell, Problem


def within(
    cut_off: Sequence[Mapping[Cell, int]], problem: Problem, active: frozenset[int]
) -> list[Mapping[Cell, int]]:
    """States that a restricted problem could reach: everybody else is where they are now.

    Waiting pods are decided about in any case.
    """
    free = active.union(problem.waiting)
    others = {cell: n for cell, n in problem.current.items() if cell[0] not in active}
    found: list[Mapping[Cell, int]] = []
    for state in cut_off:
        moved = Counter(state)
        moved.subtract(others)
        left = {cell: n for cell, n in moved.items() if n}
        if all(n > 0 and cell[0] in free for cell, n in left.items()):
            found.append(left)
    return found


def is_cut(state: Mapping[Cell, int], cut_off: Sequence[Mapping[Cell, int]]) -> bool:
    """Whether a state is one of those."""
    return any(state == {cell: n for cell, n in cut.items() if n} for cut in cut_off)


def exclude(model: Model, state: Mapping[Cell, int]) -> None:
    """Not this state: some cell has fewer or more pods."""
    if any(count and cell not in model.cell_vars for cell, count in state.items()):
        return
    different: list[int] = []
    for cell, variable in model.cell_vars.items():
        count = state.get(cell, 0)
        if count > 0:
            different.append(model.literal())
            model.at_most(Linear([variable], [1]), count - 1, (different[-1],))
        if count < model.upper[variable]:
            different.append(model.literal())
            model.at_least(Linear([variable], [1]), count + 1, (different[-1],))
    model.any_of(different)
