"""The search for large problems: a bound, a placement, and more effort only where they differ.

Placed pods are bounded by what waits, excess by 0, moves by the closed form or, where that is not
reached, by prices on room (see `prices`) and by a tightened linear program over all nodes if there
are not too many cells (see `relaxation`); all of that is computed in integers. A gap that is left
is narrowed in the order that `close_gap` says. Floating-point bounds only say when to stop; CP-SAT
is asked for the proof then (see `certify`). A bound on moves holds for states that reach the bounds
of the levels before; where the result does not, nothing is claimed about moves. Groups that are not
plain (see `plain_groups`) are decided by the exact search after the others have found their places.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from planner.interrupts import interruptible
from planner.solver import tuning
from planner.solver.large.construct import Score, construct, excess_of, score
from planner.solver.large.incumbent import Clock, Incumbent
from planner.solver.large.one_at_a_time import one_at_a_time
from planner.solver.large.shortage import Solve, only_room
from planner.solver.large.state import State, excess_of_others, start
from planner.solver.problem.moves import departed, move_bounds, total_bound
from planner.solver.problem.notes import notes_on
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level, Solution, Statistics
from planner.solver.progress import Progress, Report, silent


def solve_at_scale(problem: Problem, *, decide_rest: Solve, report: Report = silent) -> Solution:
    """A valid final state with bounds; `optimal` if placed, excess and moves reach theirs.

    `decide_rest` decides the groups that are not plain, everybody else being in place.
    """
    begin = time.monotonic()
    fresh = start(problem)
    state = construct(fresh, patient=not only_room(fresh))
    found = score(state)
    if any(found.unplaced):
        in_turn = one_at_a_time(fresh)
        if in_turn is not None and score(in_turn).key < found.key:
            state, found = in_turn, score(in_turn)
    none = tuple(0 for _ in found.unplaced)
    least = Score(0, none, 0, sum(task.bound for task in fresh.tasks.values()))
    pods = sum(map(len, problem.movable.values()))
    options = problem.options
    work = options.time_limit * tuning.COUNTED_SHARE
    clock = Clock(work, tuning.POD_SECONDS * pods, options.until)
    best = Incumbent(state, found, least, clock, _Teller(report, begin, _wanted(state)))
    again = partial(solve_at_scale, decide_rest=decide_rest)
    open_yet = best.open and not clock.ends_within(tuning.LEAST_CLOSING_SECONDS)
    interrupted = open_yet and not _closed(problem, fresh, best, again)
    rest = _rest(problem, best, decide_rest, interrupted)
    return _solution(problem, best, rest, interrupted, time.monotonic() - begin)


def _closed(problem: Problem, fresh: State, best: Incumbent, again: Solve) -> bool:
    """From a state and a bound that differ to ones that meet; False if Ctrl-C came in between.

    MathOpt takes half a second to import, and most problems need none of it.
    """
    from planner.solver.large.close_gap import close

    try:
        with interruptible():
            close(fresh, best, again, small=problem.cell_count <= tuning.ALL_NODES_CELLS)
    except KeyboardInterrupt:
        return False
    return True


@dataclass(frozen=True)
class _Teller:
    """Says how far the first level has come that is still open."""

    report: Report
    begin: float
    wanted: dict[int, int]
    """Pods to place, by priority from the top."""

    def __call__(self, best: Score, least: Score) -> None:
        self.report(Progress(*self._first_open(best, least), time.monotonic() - self.begin))

    def _first_open(self, best: Score, least: Score) -> tuple[str, int, int]:
        rows = zip(self.wanted.items(), best.unplaced, least.unplaced, strict=True)
        for (priority, pods), missing, fewest in rows:
            if missing > fewest:
                return f"placed {priority}", pods - missing, pods - fewest
        if best.excess > least.excess:
            return "excess", best.excess, least.excess
        return "moves", best.moves, least.moves


def _wanted(state: State) -> dict[int, int]:
    found: Counter[int] = Counter()
    for task in state.tasks.values():
        found[task.priority] += task.waiting
    return {priority: found[priority] for priority in sorted(+found, reverse=True)}


def _others(problem: Problem, state: State) -> frozenset[int]:
    return frozenset(g for g in problem.groups if g not in state.tasks)


def _counts(state: State) -> dict[Cell, int]:
    return {
        (task.group, node): count
        for task in state.tasks.values()
        for node, count in sorted(task.now.items())
        if count
    }


def _solution(
    problem: Problem, best: Incumbent, rest: Solution, interrupted: bool, seconds: float
) -> Solution:
    state, others = best.state, _others(problem, best.state)
    counts = _counts(state)
    unplaced = {task.group: task.hand for task in state.tasks.values() if task.hand}
    spent = best.clock.spent
    statistics = Statistics(cells=len(counts), seconds=seconds, deterministic_time=spent)
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


def _rest(problem: Problem, best: Incumbent, decide: Solve, interrupted: bool) -> Solution:
    """What the exact search makes of the other groups, everybody else being in place."""
    others = _others(problem, best.state)
    stay = {cell: len(pods) for cell, pods in problem.movable.items() if cell[0] in others}
    waiting = {g: pods for g, pods in problem.waiting.items() if g in others}
    nothing = Solution("feasible", stay, {g: len(pods) for g, pods in waiting.items()})
    if not others or interrupted:
        return nothing
    part = problem.part(others, _counts(best.state))
    if part.cell_count > tuning.ALL_NODES_CELLS:
        return nothing
    found = decide(part)
    return found if found.status in ("optimal", "feasible") else nothing


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
    hopeless = dict.fromkeys(problem.priorities, 0)
    if not others:
        hopeless = dict(zip(problem.priorities, best.certain.unplaced, strict=True))
    for priority in problem.priorities:
        chosen = [g for g in problem.waiting if groups[g].priority == priority]
        wanted = sum(len(problem.waiting[g]) for g in chosen)
        missing = sum(unplaced.get(g, 0) for g in chosen)
        most = wanted - hopeless[priority]
        levels.append(Level(f"placed {priority}", "placed", wanted - missing, most))
    if not problem.options.rebalance:
        return tuple(levels)
    remaining = rest.level("excess")
    fixed = excess_of_others(problem)
    excess = fixed + sum(map(excess_of, best.state.tasks.values()))
    if others:
        excess = remaining.value if remaining is not None else excess + _unknown(problem, counts)
    levels.append(Level("excess", "excess", excess, fixed))
    moved = departed(problem, counts) if others else best.best.moves
    met = all(level.proven for level in levels)
    bound = _certain_moves(problem, best, others) + _bound_of(problem, others) if met else 0
    return (*levels, Level("moves", "moves", moved, bound))


def _certain_moves(problem: Problem, best: Incumbent, others: frozenset[int]) -> int:
    """Of the plain groups; what rests on room holds only if nobody else could make some."""
    if any(group in others for group, _ in problem.movable):
        return sum(task.bound for task in best.state.tasks.values())
    return best.certain.moves


def _bound_of(problem: Problem, others: frozenset[int]) -> int:
    """What the closed form knows about constraints that are about these groups alone."""
    if not others:
        return 0
    found = move_bounds(problem, all_placed=True)
    return total_bound([each for each in found if others.issuperset(each.groups)])


def _unknown(problem: Problem, counts: dict[Cell, int]) -> int:
    """Groups that nobody looked at may break rules where they are: never call that optimal."""
    return 1 if problem.movable or counts else 0
