"""What the exact solver knows about room: arrangements on paper, and problems too large to search.

The solver is imported only when it is asked: explaining one pod seldom needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level

SECONDS = 15.0
"""Deterministic time for the question whether evictions help at all."""
WINDOW_SECONDS = 1.5
"""About seconds for rearranging nodes of a large cluster a few at a time."""
FEWER_SECONDS = 5.0
"""Deterministic time for each question whether fewer of them do."""


@dataclass(frozen=True)
class Answer:
    """Steps that place the pods, or whether it is proven that none do."""

    steps: tuple[Step, ...] | None
    at_least: int
    """Proven: no sequence places them with fewer evictions."""
    none: bool = False
    """Proven: no sequence places them, within the evictions that were allowed."""
    limit: str = ""
    """Why neither is known."""

    @property
    def evictions(self) -> int:
        """How many pods the steps evict."""
        return evictions_in(self.steps or ())


def evictions_in(steps: Sequence[Step]) -> int:
    """How many pods are evicted."""
    return sum(step.action == "evict" for step in steps)


def wanted(problem: Problem) -> int:
    """How many pods wait."""
    return sum(len(pods) for pods in problem.waiting.values())


def placed(problem: Problem, objectives: Sequence[Level]) -> tuple[int, int | None]:
    """How many pods are placed, and a bound on it; None if a priority has no bound.

    A level that the solver did not get to says nothing: taken for 0 it would be a proof.
    """
    levels = [each for each in objectives if each.kind == "placed"]
    priorities = {problem.cluster.groups[group].priority for group in problem.waiting}
    bound = sum(each.bound for each in levels) if len(levels) == len(priorities) else None
    return sum(each.value for each in levels), bound


def on_paper(problem: Problem) -> Mapping[Cell, int] | None:
    """A final state that every rule of a landing allows, whatever the way to it."""
    from planner.solver.route import solve_in_full

    options = replace(problem.options, time_limit=SECONDS, judged="final")
    found = solve_in_full(replace(problem, options=options))
    number = sum(level.value for level in found.levels if level.kind == "placed")
    return found.counts if number == wanted(problem) else None


def by_windows(problem: Problem, profile: Profile) -> Answer:
    """Few evictions in a cluster that is too large for the whole model, if only room decides.

    Prices on room may prove that none help.
    """
    from planner.sequences.order import Order, find_order
    from planner.solver.route import room_by_windows

    counts, possible = room_by_windows(problem, WINDOW_SECONDS)
    if not possible:
        return Answer(None, 1, none=True)
    order = None if counts is None else find_order(problem, counts, profile)
    return Answer(order.steps if isinstance(order, Order) else None, 1)


def fewest_evictions(
    problem: Problem, profile: Profile, at_least: int, at_most: int | None
) -> Answer:
    """The fewest evictions between two bounds, by halving what lies between them.

    The solver is asked whether the pods can be placed with so many moves: its objectives count
    moves only where spread is evened out as well, which is nobody's aim here.
    """
    everyone = sum(len(pods) for pods in problem.movable.values())
    most = everyone if at_most is None else at_most
    low, high = max(1, at_least), most
    best = Answer(None, low)
    seconds = SECONDS
    while low <= high:
        number = high if best.steps is None else (low + high) // 2
        found = _within(problem, profile, number, seconds)
        seconds = FEWER_SECONDS
        if found.steps is not None:
            if best.steps is None or found.evictions < best.evictions:
                best = found
            high = min(number, found.evictions) - 1
        elif found.none:
            low = number + 1
        else:
            return replace(best, at_least=low, limit=found.limit)
    return replace(best, at_least=low, none=best.steps is None)


def _within(problem: Problem, profile: Profile, number: int, seconds: float) -> Answer:
    """Steps with so many moves at most, or whether it is proven that there are none."""
    from planner.sequences.decide import decide
    from planner.solver.progress import silent

    options = replace(problem.options, max_moves=number, time_limit=seconds)
    found = decide(replace(problem, options=options), profile, silent)
    value, bound = placed(problem, found.objectives)
    if value == wanted(problem):
        return Answer(found.steps, 1)
    if bound is not None and bound < wanted(problem):
        return Answer(None, 1, none=True)
    why = {
        "timeLimit": f"the solver's time for it, {seconds:g} s of work, was over",
        "rounds": "arrangements on paper were found, but no order of steps that reaches one",
    }
    return Answer(None, 1, limit=why.get(found.stopped or "", "the solver was interrupted"))
