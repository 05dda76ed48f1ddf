"""What the exact solver knows about room: arrangements on paper, and problems too large to search.

CP-SAT is imported only here, and only when it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.solver.problem import Cell, Problem
from planner.solver.solution import Level

SECONDS = 15.0
"""Deterministic time for each question."""


@dataclass(frozen=True)
class Answer:
    """Steps that place the pods, or whether it is proven that none do."""

    steps: tuple[Step, ...] | None
    fewest: bool = False
    at_least: int = 1
    none: bool = False
    """Proven: no sequence places them, within the evictions that were allowed."""
    limit: str = ""


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


def fewest_moves(problem: Problem, profile: Profile, most: int | None = None) -> Answer:
    """First as many pods as possible, then as few evictions, of `most` that are allowed."""
    from planner.sequences.decide import decide
    from planner.solver.search import silent

    everyone = sum(len(pods) for pods in problem.movable.values())
    allowed = everyone if most is None else most
    # A limit on moves keeps to the exact core: the way of large problems evens out spread as well.
    options = replace(problem.options, max_moves=allowed, time_limit=SECONDS)
    found = decide(replace(problem, options=options), profile, silent)
    placed = [each for each in found.objectives if each.name.startswith("placed")]
    if sum(each.value for each in placed) == wanted(problem):
        moves = _moves(found.objectives)
        return Answer(found.steps, moves.bound == moves.value, max(1, moves.bound))
    none = sum(each.bound for each in placed) < wanted(problem)
    why = {
        "timeLimit": f"the solver's time for it, {SECONDS:g} s of work, was over",
        "rounds": "arrangements on paper were found, but no order of steps that reaches one",
    }
    limit = why.get(found.stopped or "", "the solver was interrupted")
    return Answer(None, none=none, limit="" if none else limit)


def _moves(objectives: tuple[Level, ...]) -> Level:
    for each in objectives:
        if each.name == "moves":
            return each
    return Level("moves", "moves", 0, 0)
