"""The answer to a packing: small ones go on to the levels below, large ones end with the moves."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from planner.solver.lexicographic import Search
from planner.solver.notes import notes_on
from planner.solver.packing.exact import Packed
from planner.solver.packing.pack import EXACT_CELLS, pack
from planner.solver.packing.stock import Stock
from planner.solver.problem import Problem
from planner.solver.progress import Progress, Report
from planner.solver.solution import Level, Solution, Statistics

MODEL_CELLS = EXACT_CELLS
"""Groups times nodes up to which moves and wishes are left to the model."""
AFTERWARDS = 0.4
"""Seconds that are left for ordering and checking the plan."""
UNWEIGHED = "preferences are not weighed at this size"


def solve_packing(problem: Problem, stock: Stock, report: Report) -> Solution:
    """The best packing, and the fewest moves that were found for it."""
    begin = time.monotonic()
    options = problem.options
    packed = pack(problem, stock, options.time_limit, options.seed)
    levels = _placed(problem, stock, packed)
    for level in levels:
        report(Progress(level.name, level.value, level.bound, time.monotonic() - begin))
    usual = options.prefer == "none" and options.move_cost == "count"
    if packed.interrupted or (usual and stock.now.size > MODEL_CELLS):
        return _solution(problem, stock, packed, levels, time.monotonic() - begin)
    limit = options.time_limit
    search = Search(problem, (), report, max(limit - packed.spent - AFTERWARDS, limit / 10))
    search.judge_rules(stock.state(packed.counts), {each.name: each.bound for each in levels})
    found = search.finish()
    spent = found.statistics.deterministic_time + packed.spent
    return replace(found, statistics=replace(found.statistics, deterministic_time=spent))


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
