"""The answer to a packing: the exact search goes on where it is small, otherwise it ends here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from planner.solver import tuning
from planner.solver.exact.lexicographic import Search
from planner.solver.packing.question import Stock
from planner.solver.packing.room_bounds import Packed
from planner.solver.packing.stages import pack
from planner.solver.problem.notes import notes_on
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Level, Solution, Statistics
from planner.solver.progress import Progress, Report

UNWEIGHED = "preferences are not weighed at this size"


def solve_packing(problem: Problem, stock: Stock, report: Report) -> Solution:
    """The best packing, and the fewest moves that were found for it."""
    begin = time.monotonic()
    options = problem.options
    packed = pack(stock, options)
    levels = _placed(problem, stock, packed)
    for level in levels:
        report(Progress(level.name, level.value, level.bound, time.monotonic() - begin))
    usual = options.prefer == "none" and options.move_cost == "count"
    if packed.interrupted or (usual and stock.now.size > tuning.PACKING_MODEL_CELLS):
        return _solution(problem, stock, packed, levels, time.monotonic() - begin)
    limit = options.time_limit
    left = max(limit - packed.spent - tuning.PLAN_RESERVE, limit * tuning.LEAST_SHARE)
    search = Search(problem, (), report, left)
    small = stock.now.size <= tuning.PACKING_MODEL_CELLS
    known = takewhile(lambda level: level.proven, levels) if small else levels
    search.judge_rules(stock.state(packed.counts), {each.name: each.bound for each in known})
    found = search.finish()
    spent = found.statistics.deterministic_time + packed.spent
    joined = _with_room(found.levels, levels)
    proven = found.status == "feasible" and all(level.proven for level in joined)
    return replace(
        found,
        status="optimal" if proven else found.status,
        levels=joined,
        statistics=replace(found.statistics, deterministic_time=spent),
    )


def _with_room(found: Sequence[Level], packed: Sequence[Level]) -> tuple[Level, ...]:
    """Levels with what room said about them, as far as those before are the same."""
    room = {level.name: level for level in packed}
    levels: list[Level] = []
    for level in found:
        same = all(each.value == room[each.name].value for each in levels if each.name in room)
        most = room[level.name].bound if same and level.name in room else level.bound
        levels.append(replace(level, bound=min(level.bound, most)))
    return tuple(levels)


def _placed(problem: Problem, stock: Stock, packed: Packed) -> list[Level]:
    """As the levels count them: with --preempt all pods, otherwise those that waited."""
    preempt = problem.options.preempt
    running = stock.placed(stock.now) if not preempt else (0,) * len(stock.priorities)
    return [
        Level(f"placed {priority}", "placed", value - base, bound - base)
        for priority, value, bound, base in zip(
            stock.priorities, packed.placed, packed.bounds, running, strict=True
        )
        if preempt or priority in problem.priorities
    ]


def _solution(
    problem: Problem, stock: Stock, packed: Packed, placed: list[Level], seconds: float
) -> Solution:
    levels = list(placed)
    if problem.options.rebalance:
        levels.append(Level("excess", "excess", 0, 0))
    if problem.options.rebalance or problem.options.preempt:
        levels.append(Level("moves", "moves", stock.moves(packed.counts), 0))
    missing = stock.total - packed.counts.sum(axis=1)
    waiting = stock.total - stock.now.sum(axis=1)
    displaced = _by_group(stock, np.maximum(missing - waiting, 0).tolist())
    return Solution(
        status="optimal" if all(level.proven for level in levels) else "feasible",
        counts=stock.state(packed.counts),
        unplaced=_by_group(stock, np.minimum(missing, waiting).tolist()),
        displaced=displaced,
        levels=tuple(levels),
        notes=(*notes_on(problem, displaced), UNWEIGHED),
        statistics=Statistics(
            cells=stock.now.size, deterministic_time=packed.spent, seconds=seconds
        ),
        interrupted=packed.interrupted,
    )


def _by_group(stock: Stock, numbers: list[int]) -> dict[int, int]:
    return {group: n for group, n in zip(stock.groups, numbers, strict=True) if n}
