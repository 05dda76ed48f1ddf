"""What the exact solver knows about room: arrangements on paper, and problems too large to search.

CP-SAT is imported only here, and only when it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.scheduler.profile import Profile
from planner.solver.problem import Cell, Problem
from planner.verify.steps import Step

MOST_MOVES = 4
"""Up to so many evictions are tried one after the other; then any number at once."""
SECONDS = 5.0
"""Deterministic time for each question."""


@dataclass(frozen=True)
class Answer:
    """Steps that place the pod, or whether it is proven that none do."""

    steps: tuple[Step, ...] | None
    fewest: bool
    proven_impossible: bool


def wanted(problem: Problem) -> int:
    """How many pods wait."""
    return sum(len(pods) for pods in problem.waiting.values())


def on_paper(problem: Problem) -> Mapping[Cell, int] | None:
    """A final state that every rule of a landing allows, whatever the way to it."""
    from planner.solver.search import solve

    options = replace(problem.options, time_limit=SECONDS, judged="final")
    found = solve(replace(problem, options=options))
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    return found.counts if placed == wanted(problem) else None


def fewest_moves(problem: Problem, profile: Profile) -> Answer:
    """One eviction more at a time, so that the first answer is the best."""
    proven = True
    for moves in (*range(MOST_MOVES + 1), None):
        steps, impossible = _with_moves(problem, profile, moves)
        if steps is not None:
            return Answer(steps, proven and moves is not None, False)
        proven &= impossible
        if moves is None:
            return Answer(None, False, impossible)
    return Answer(None, False, False)


def _with_moves(
    problem: Problem, profile: Profile, moves: int | None
) -> tuple[tuple[Step, ...] | None, bool]:
    from planner.planning.decide import decide
    from planner.solver.search import silent

    options = replace(problem.options, max_moves=moves, time_limit=SECONDS)
    found = decide(replace(problem, options=options), profile, silent)
    placed = [o for o in found.objectives if o.name.startswith("placed")]
    if sum(objective.value for objective in placed) == wanted(problem):
        return found.steps, False
    return None, sum(objective.bound for objective in placed) < wanted(problem)
