"""The solver's front door: small problems are solved in full, large ones first in part.

In large ones only active groups get variables first; if the result reaches bounds that hold for the
whole problem, it is optimal there too, otherwise all groups follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.solver.active import active_groups
from planner.solver.blocks import block_by_block
from planner.solver.bounds import move_bounds, placeable, total_bound
from planner.solver.cuts import within
from planner.solver.lexicographic import Search
from planner.solver.objectives import WISHES
from planner.solver.packing.solution import solve_packing
from planner.solver.packing.stock import only_room_decides, stock_of
from planner.solver.problem import Cell, Problem
from planner.solver.progress import Progress, Report, silent
from planner.solver.solution import Level, Solution

__all__ = ["Progress", "Report", "cell_count", "silent", "solve"]

SMALL = 3_000
"""Up to this many cells the whole problem is solved at once."""


def solve(
    problem: Problem,
    *,
    cut_off: Sequence[Mapping[Cell, int]] = (),
    report: Report = silent,
    start: Mapping[Cell, int] | None = None,
) -> Solution:
    """The best final state that is not among those cut off, with what is proven about it.

    `start` is a good state to begin with, if one is known; it is checked before it is used.
    """
    options = problem.options
    limit, widened = options.time_limit, False
    if start is None and not cut_off and only_room_decides(problem):
        stock = stock_of(problem)
        if stock is not None:
            return solve_packing(problem, stock, report)
    large = cell_count(problem) > SMALL and not options.relax and not options.preempt
    if large and start is None:
        active = active_groups(problem)
        cuts = within(cut_off, problem, active)
        narrow = problem.restricted(active)
        begin, spent = None, 0.0
        if cell_count(narrow) > SMALL and not cuts:
            begin, spent = block_by_block(narrow, report, limit / 2)
        part = Search(narrow, cuts, report, max(limit / 2 - spent, limit / 10))
        part.judge_rules(begin)
        certified = _certified(problem, part.levels)
        if part.interrupted or certified:
            return _completed(part.finish(), problem, active, certified)
        limit = max(limit - spent - part.time, limit / 10)
        widened = True
        start = _everywhere(part.state, problem, active) if part.levels else None
    whole = Search(problem, cut_off, report, limit)
    whole.judge_rules(start)
    found = whole.finish()
    return replace(found, statistics=replace(found.statistics, widened=widened))


def cell_count(problem: Problem) -> int:
    """How many group-node pairs there are to decide about."""
    return sum(int(problem.landing(group).sum()) for group in problem.groups)


def _everywhere(
    state: Mapping[Cell, int], problem: Problem, active: frozenset[int]
) -> dict[Cell, int]:
    others = {cell: n for cell, n in problem.current.items() if cell[0] not in active}
    return dict(sorted({**state, **others}.items()))


def _completed(
    found: Solution, problem: Problem, active: frozenset[int], certified: bool
) -> Solution:
    """For the whole problem: of the part's bounds only those remain that hold there, too.

    The wishes of groups that stayed were not looked at.
    """
    levels = tuple(
        replace(level, bound=level.value)
        if certified and level.kind not in WISHES
        else _unbound(level, problem)
        for level in found.levels
    )
    counts = _everywhere(found.counts, problem, active)
    if found.status == "optimal" and not all(level.proven for level in levels):
        return replace(found, counts=counts, levels=levels, status="feasible")
    return replace(found, counts=counts, levels=levels)


def _unbound(level: Level, problem: Problem) -> Level:
    """The level with a bound that needs no search."""
    if level.kind != "placed":
        return replace(level, bound=0)
    groups = problem.cluster.groups
    room = placeable(problem).items()
    return replace(
        level, bound=sum(n for g, n in room if level.name == f"placed {groups[g].priority}")
    )


def _certified(problem: Problem, levels: Sequence[Level]) -> bool:
    """Whether the levels before the wishes reach bounds that hold for the whole problem."""
    values = {level.kind: level.value for level in levels}
    placed = sum(level.value for level in levels if level.kind == "placed")
    if not levels or placed < sum(placeable(problem).values()) or values.get("excess", 0) > 0:
        return False
    bound = total_bound(move_bounds(problem, all_placed=True))
    return values.get("moves", 0) == bound or "moves" not in values
