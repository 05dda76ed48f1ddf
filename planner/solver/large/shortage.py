"""Where not everything finds room: high priorities first, then the lightest, which are the most.

What waits with the lowest priority is forgotten at first: the others are solved for as if it were
not there. Whatever room is left then goes to the lightest pods first, and then workload by workload
to what has to move. Where only room decides, there is a better way: see `room_shortage`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from planner.solver import tuning
from planner.solver.large.construct import level_out
from planner.solver.large.greedy import active, land_all
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.state import State
from planner.solver.packing.question import only_room_decides
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Solution

Solve = Callable[[Problem], Solution]


def fill_by_priority(fresh: State, best: Incumbent, solve: Solve) -> None:
    """Offer states that were made for a shortage; nothing changes where there is none."""
    if not any(best.best.unplaced):
        return
    best.offer(_lightest_first(fresh, {}))
    if best.clock.late:
        return
    found = solve(
        _without_the_lowest(fresh.problem, best.clock.left * tuning.HIGHER_PRIORITIES_SHARE)
    )
    best.clock.spent += found.statistics.deterministic_time
    best.offer(_lightest_first(fresh, found.counts))


def only_room(fresh: State) -> bool:
    """Whether nothing but room is in anybody's way, in a problem that is not too large."""
    problem = fresh.problem
    cells = len(problem.groups) * len(problem.cluster.nodes)
    everybody = all(group in fresh.tasks for group in problem.groups)
    free = replace(problem, options=replace(problem.options, max_moves=None))
    return everybody and cells <= tuning.REARRANGED_CELLS and only_room_decides(free)


def _without_the_lowest(problem: Problem, limit: float) -> Problem:
    groups, lowest = problem.cluster.groups, min(problem.priorities)
    waiting = {g: pods for g, pods in problem.waiting.items() if groups[g].priority > lowest}
    return replace(problem, waiting=waiting, options=replace(problem.options, time_limit=limit))


def _lightest_first(fresh: State, counts: Mapping[Cell, int]) -> State:
    """From a state, or from the present one, everything that waits where there is room."""
    state = fresh.copy()
    for task in state.tasks.values():
        task.hand += task.waiting
    _restate(state, counts)
    tasks = [task for task in state.tasks.values() if task.hand]
    for task in sorted(tasks, key=lambda task: (-task.priority, task.size, task.group)):
        land_all(state, task, "pack")
    for task in active(state):
        level_out(state, task)
    return state


def _restate(state: State, counts: Mapping[Cell, int]) -> None:
    changes: dict[int, dict[int, int]] = {}
    for (group, node), pods in counts.items():
        changes.setdefault(group, {})[node] = pods
    for group, nodes in changes.items():
        if (task := state.tasks.get(group)) is not None:
            state.put(task, nodes)
