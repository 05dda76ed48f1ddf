"""Where not everything finds room: high priorities first, then the lightest, which are the most.

What waits with the lowest priority is forgotten at first: the others are solved for as if it were
not there. Whatever room is left then goes to the lightest pods first, and then workload by workload
to what has to move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from planner.solver.problem import Cell, Problem
from planner.solver.scale.construct import level_out
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.landing import land_all
from planner.solver.scale.realise import active
from planner.solver.scale.work import Work
from planner.solver.solution import Solution

Solve = Callable[[Problem], Solution]
SHARE = 0.4
"""The part of the time left that the higher priorities get for themselves."""


def fill_by_priority(fresh: Work, best: Incumbent, solve: Solve) -> None:
    """Offer states that were made for a shortage; nothing changes where there is none."""
    if not any(best.best.unplaced):
        return
    best.offer(_lightest_first(fresh, {}))
    found = solve(_without_the_lowest(fresh.problem, best.clock.left * SHARE))
    best.clock.spent += found.statistics.deterministic_time
    best.offer(_lightest_first(fresh, found.counts))


def _without_the_lowest(problem: Problem, limit: float) -> Problem:
    groups, lowest = problem.cluster.groups, min(problem.priorities)
    waiting = {g: pods for g, pods in problem.waiting.items() if groups[g].priority > lowest}
    return replace(problem, waiting=waiting, options=replace(problem.options, time_limit=limit))


def _lightest_first(fresh: Work, counts: Mapping[Cell, int]) -> Work:
    """From a state, or from the present one, everything that waits where there is room."""
    work = fresh.copy()
    for task in work.tasks.values():
        task.hand += task.waiting
    _restate(work, counts)
    tasks = [task for task in work.tasks.values() if task.hand]
    for task in sorted(tasks, key=lambda task: (-task.priority, task.size, task.group)):
        land_all(work, task, "pack")
    for task in active(work):
        level_out(work, task)
    return work


def _restate(work: Work, counts: Mapping[Cell, int]) -> None:
    changes: dict[int, dict[int, int]] = {}
    for (group, node), pods in counts.items():
        changes.setdefault(group, {})[node] = pods
    for group, nodes in changes.items():
        if (task := work.tasks.get(group)) is not None:
            cells = {*task.start, *nodes}
            work.restate(task, {n: nodes.get(n, 0) - task.start.get(n, 0) for n in cells})
