"""The way through a large problem: bound, realisation, certificate, and models only if needed.

Placed pods are bounded by what waits, excess by 0, moves by the closed form or, where that is not
reached, by prices on room (see `prices`) and by a tightened linear program over all nodes if there
are not too many cells (see `relaxation`); all of that is computed in integers. A gap that is left
is narrowed in the order that `closing` says. Floating-point bounds only say when to stop; CP-SAT is
asked for the proof then (see `certify`). A bound on moves holds for states that reach the bounds of
the levels before; where the result does not, nothing is claimed about moves. Groups beyond the
reach of this path are decided by the exact core after the others have found their places.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.topology import IntArray
from planner.interrupts import interruptible
from planner.solver.bounds import move_bounds, total_bound
from planner.solver.notes import notes_on
from planner.solver.objectives import departed
from planner.solver.problem import Cell, Problem
from planner.solver.scale.construct import Score, construct, excess_of, score
from planner.solver.scale.incumbent import Clock, Incumbent
from planner.solver.scale.work import Work, start
from planner.solver.search import Progress, Report, cell_count, silent, solve
from planner.solver.solution import Level, Solution, Statistics

EXACT_CELLS = 20_000
"""Up to this many cells all nodes are repaired at once, and groups beyond reach are decided."""


CONSTRUCTED = 1e-4
"""Seconds for each movable pod that the first state takes."""

COUNTED = 0.85
"""Seconds of counted work in a second of the limit: the rest is for what is not counted."""


def solve_at_scale(problem: Problem, *, report: Report = silent) -> Solution:
    """A valid final state with bounds; `optimal` if placed, excess and moves reach theirs."""
    begin = time.monotonic()
    fresh = start(problem)
    work = construct(fresh)
    found = score(work)
    none = tuple(0 for _ in found.unplaced)
    least = Score(0, none, 0, sum(task.bound for task in fresh.tasks.values()))
    pods = sum(map(len, problem.movable.values()))
    clock = Clock(problem.options.time_limit * COUNTED, CONSTRUCTED * pods)
    best = Incumbent(work, found, least, clock, _Teller(report, begin))
    interrupted = best.open and not _closed(problem, fresh, best)
    return _solution(problem, best, interrupted, time.monotonic() - begin)


def _closed(problem: Problem, fresh: Work, best: Incumbent) -> bool:
    """From a state and a bound that differ to ones that meet; False if Ctrl-C came in between."""
    from planner.solver.scale.closing import close

    try:
        with interruptible():
            close(fresh, best, solve_at_scale, small=cell_count(problem) <= EXACT_CELLS)
    except KeyboardInterrupt:
        return False
    return True


@dataclass(frozen=True)
class _Teller:
    """Says how far the first level has come that is still open."""

    report: Report
    begin: float

    def __call__(self, best: Score, least: Score) -> None:
        level, value, bound = "moves", best.moves, least.moves
        if best.excess > least.excess:
            level, value, bound = "excess", best.excess, least.excess
        if sum(best.unplaced) > sum(least.unplaced):
            level, value, bound = "unplaced", sum(best.unplaced), sum(least.unplaced)
        self.report(Progress(level, value, bound, time.monotonic() - self.begin))


def _others(problem: Problem, work: Work) -> frozenset[int]:
    return frozenset(g for g in problem.groups if g not in work.tasks)


def _solution(problem: Problem, best: Incumbent, interrupted: bool, seconds: float) -> Solution:
    work, others = best.work, _others(problem, best.work)
    counts = {
        (task.group, node): count
        for task in work.tasks.values()
        for node, count in sorted(task.now.items())
        if count
    }
    unplaced = {task.group: task.hand for task in work.tasks.values() if task.hand}
    spent = best.clock.spent
    statistics = Statistics(cells=len(counts), seconds=seconds, deterministic_time=spent)
    rest = _rest(problem, counts, others, interrupted)
    if rest.counts:
        counts = dict(sorted({**counts, **rest.counts}.items()))
    unplaced.update(rest.unplaced)
    levels = _levels(problem, best, counts, unplaced, others, rest)
    proven = all(level.proven for level in levels)
    return Solution(
        status="optimal" if proven else "feasible",
        counts=counts,
        unplaced=dict(sorted(unplaced.items())),
        levels=levels,
        notes=(*notes_on(problem, {}), *_expected(best)),
        statistics=statistics,
        interrupted=interrupted or rest.interrupted,
    )


def _expected(best: Incumbent) -> Iterator[str]:
    """What the search by HiGHS says beyond the proof; not to be taken for one."""
    if best.least.key == best.certain.key or best.open:
        return
    yield (
        "a search in floating-point arithmetic (HiGHS) came to its end without anything better, "
        "which is no proof"
    )


def _rest(
    problem: Problem, counts: dict[Cell, int], others: frozenset[int], interrupted: bool
) -> Solution:
    """What the exact core makes of the groups beyond reach, everybody else being in place."""
    stay = {cell: len(pods) for cell, pods in problem.movable.items() if cell[0] in others}
    waiting = {g: pods for g, pods in problem.waiting.items() if g in others}
    nothing = Solution("feasible", stay, {g: len(pods) for g, pods in waiting.items()})
    if not others or interrupted:
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
    best: Incumbent,
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
        most = wanted - (0 if others else _missing(best, priority))
        levels.append(Level(f"placed {priority}", "placed", wanted - missing, most))
    if not problem.options.rebalance:
        return tuple(levels)
    remaining = rest.level("excess")
    excess = sum(map(excess_of, best.work.tasks.values()))
    if others:
        excess = remaining.value if remaining is not None else excess + _unknown(problem, counts)
    levels.append(Level("excess", "excess", excess, 0 if others else best.certain.excess))
    moved = departed(problem, counts) if others else best.best.moves
    met = all(level.proven for level in levels)
    bound = best.certain.moves + _bound_of(problem, others) if met else 0
    return (*levels, Level("moves", "moves", moved, bound))


def _missing(best: Incumbent, priority: int) -> int:
    """Pods of the priority that no state places, if those before it are placed as far as can be."""
    waiting = {task.priority for task in best.work.tasks.values() if task.waiting}
    found = dict(zip(sorted(waiting, reverse=True), best.certain.unplaced, strict=True))
    return found.get(priority, 0)


def _bound_of(problem: Problem, others: frozenset[int]) -> int:
    """What the closed form knows about constraints that are about these groups alone."""
    if not others:
        return 0
    found = move_bounds(problem, all_placed=True)
    return total_bound([each for each in found if others.issuperset(each.groups)])


def _unknown(problem: Problem, counts: dict[Cell, int]) -> int:
    """Groups that nobody looked at may break rules where they are: never call that optimal."""
    return 1 if problem.movable or counts else 0
