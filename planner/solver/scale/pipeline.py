"""The way through a large problem: bound, realisation, certificate, and models only if needed.

Placed pods are bounded by what waits, excess by 0, moves by the closed form or, where that is not
reached, by prices on room (see `prices`). The bound on moves holds for states that place everything
and leave no excess; where the result does not, nothing is claimed about moves. Groups beyond the
reach of this path are decided by the exact core after the others have found their places.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.bounds import move_bounds, total_bound
from planner.solver.notes import notes_on
from planner.solver.problem import Cell, Problem
from planner.solver.scale.construct import construct, excess_of, score
from planner.solver.scale.improve import improve
from planner.solver.scale.work import Work, start
from planner.solver.search import Progress, Report, cell_count, silent, solve
from planner.solver.solution import Level, Solution, Statistics

EXACT_CELLS = 20_000
"""Groups beyond reach go to the exact core together, unless they have more cells than this."""


def understands(problem: Problem) -> bool:
    """Whether the options ask for what this path can do."""
    options = problem.options
    usual = not (options.relax or options.preempt) and options.move_cost == "count"
    return usual and options.prefer == "none" and options.max_moves is None


def solve_at_scale(problem: Problem, *, report: Report = silent) -> Solution:
    """A valid final state with bounds; `optimal` if placed, excess and moves reach theirs."""
    begin = time.monotonic()
    fresh = start(problem)
    work = construct(fresh)
    bound = sum(task.bound for task in fresh.tasks.values())
    _tell(report, work, bound, begin)
    others = _others(problem, work)
    if problem.movable and (score(work).open or score(work).moves > bound):
        work, bound = improve(
            fresh, work, bound, problem.options.time_limit, lambda w, b: _tell(report, w, b, begin)
        )
    return _solution(problem, work, bound, others, time.monotonic() - begin)


def _tell(report: Report, work: Work, bound: int, begin: float) -> None:
    report(Progress("moves", score(work).moves, bound, time.monotonic() - begin))


def _others(problem: Problem, work: Work) -> frozenset[int]:
    return frozenset(g for g in problem.groups if g not in work.tasks)


def _solution(
    problem: Problem, work: Work, bound: int, others: frozenset[int], seconds: float
) -> Solution:
    counts = {
        (task.group, node): count
        for task in work.tasks.values()
        for node, count in task.now.items()
        if count
    }
    unplaced = {task.group: task.hand for task in work.tasks.values() if task.hand}
    statistics = Statistics(cells=len(counts), seconds=seconds)
    rest = _rest(problem, counts, others)
    counts.update(rest.counts)
    unplaced.update(rest.unplaced)
    levels = _levels(problem, work, bound, counts, unplaced, others, rest)
    proven = all(level.proven for level in levels)
    return Solution(
        status="optimal" if proven else "feasible",
        counts=dict(sorted(counts.items())),
        unplaced=dict(sorted(unplaced.items())),
        levels=levels,
        notes=(*notes_on(problem, {}), "preferences are not weighed at this size"),
        statistics=statistics,
        interrupted=rest.interrupted,
    )


def _rest(problem: Problem, counts: dict[Cell, int], others: frozenset[int]) -> Solution:
    """What the exact core makes of the groups beyond reach, everybody else being in place."""
    stay = {cell: len(pods) for cell, pods in problem.movable.items() if cell[0] in others}
    waiting = {g: pods for g, pods in problem.waiting.items() if g in others}
    nothing = Solution("feasible", stay, {g: len(pods) for g, pods in waiting.items()})
    if not others:
        return nothing
    used, fixed, everyone = _settled(problem, counts)
    part = replace(
        problem,
        waiting=waiting,
        movable={cell: pods for cell, pods in problem.movable.items() if cell[0] in others},
        fixed_used=used,
        fixed_counts=fixed,
        fixed_all=everyone,
    )
    if cell_count(part) > EXACT_CELLS:
        return nothing
    found = solve(part)
    return found if found.status in ("optimal", "feasible") else nothing


def _settled(
    problem: Problem, counts: dict[Cell, int]
) -> tuple[IntArray, dict[Cell, int], dict[Cell, int]]:
    """Load and counts with the plain groups where they end up."""
    used = problem.fixed_used.copy()
    fixed, everyone = dict(problem.fixed_counts), dict(problem.fixed_all)
    for (g, n), count in counts.items():
        fixed[g, n] = fixed.get((g, n), 0) + count
        everyone[g, n] = everyone.get((g, n), 0) + count
    if counts:
        cells = np.array(list(counts), np.int64)
        amount = problem.requests[cells[:, 0]] * np.array(list(counts.values()))[:, None]
        np.add.at(used, cells[:, 1], amount)
    return used, fixed, everyone


def _levels(
    problem: Problem,
    work: Work,
    bound: int,
    counts: dict[Cell, int],
    unplaced: dict[int, int],
    others: frozenset[int],
    rest: Solution,
) -> tuple[Level, ...]:
    groups = problem.cluster.groups
    levels: list[Level] = []
    for priority in problem.priorities:
        chosen = [g for g in problem.waiting if groups[g].priority == priority]
        wanted = sum(len(problem.waiting[g]) for g in chosen)
        missing = sum(unplaced.get(g, 0) for g in chosen)
        levels.append(Level(f"placed {priority}", "placed", wanted - missing, wanted))
    if not problem.options.rebalance:
        return tuple(levels)
    remaining = rest.level("excess")
    excess = sum(map(excess_of, work.tasks.values()))
    if others:
        excess = remaining.value if remaining is not None else excess + _unknown(problem, counts)
    levels.append(Level("excess", "excess", excess, 0))
    moved = sum(max(0, len(pods) - counts.get(cell, 0)) for cell, pods in problem.movable.items())
    if excess or unplaced:
        return (*levels, Level("moves", "moves", moved, 0))
    return (*levels, Level("moves", "moves", moved, bound + _bound_of(problem, others)))


def _bound_of(problem: Problem, others: frozenset[int]) -> int:
    """What the closed form knows about constraints that are about these groups alone."""
    if not others:
        return 0
    found = move_bounds(problem, all_placed=True)
    return total_bound([each for each in found if others.issuperset(each.groups)])


def _unknown(problem: Problem, counts: dict[Cell, int]) -> int:
    """Groups that nobody looked at may break rules where they are: never call that optimal."""
    return 1 if problem.movable or counts else 0
