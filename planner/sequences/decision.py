"""What was decided: steps in order, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planner.replay.steps import Step
from planner.sequences.value import PLACED, Value, levels
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Level, Solution
from planner_models.plan import PlanStatus, Stop

PREFERENCES = frozenset({"preferences", "balance", "pack"})
"""Levels about wishes, which come after all that is about rules."""


@dataclass(frozen=True)
class Decision:
    """Steps that are legal in this order, before they are grouped into waves.

    `stopped` says why nothing is proven, if nothing is. `cuts` counts final states that were given
    up because no order of steps reaches them.
    """

    status: PlanStatus
    steps: tuple[Step, ...]
    objectives: tuple[Level, ...]
    stopped: Stop | None = None
    on_paper_only: bool = False
    variables: int = 0
    cuts: int = 0
    notes: tuple[str, ...] = ()
    spent: float = 0.0
    """Of the time limit, in the solver's work."""


def objectives_of(solution: Solution, bound: Value | None) -> tuple[Level, ...]:
    """The solution's levels; those about rules get the bound that holds for sequences."""
    return solution.levels if bound is None else under_bound(solution.levels, bound)


def beside_those_above(objectives: Sequence[Level], solution: Solution) -> tuple[Level, ...]:
    """The same levels, each of placed pods bounded as the solver bounds it.

    Below a priority that is not proven that holds for plans that place as many above, as long as
    whatever final state is best has an order.
    """
    known = {level.name: level.bound for level in solution.levels if level.kind == PLACED}
    return tuple(
        replace(level, bound=min(level.bound, known.get(level.name, level.bound)))
        for level in objectives
    )


def under_bound(objectives: Sequence[Level], bound: Value) -> tuple[Level, ...]:
    """The same levels with this bound on those about rules.

    The bounds of preferences hold only where those of the rules are met.
    """
    bounds = dict(zip(_rule_levels(objectives), bound.levels, strict=True))
    met = all(level.value == bounds.get(level.name, level.value) for level in objectives)
    return tuple(
        replace(level, bound=0)
        if level.kind in PREFERENCES and not met
        else replace(level, bound=bounds.get(level.name, level.bound))
        for level in objectives
    )


def objectives_from(problem: Problem, value: Value, bound: Value, broken: int) -> tuple[Level, ...]:
    """The levels of a plan that was found without the solver."""
    rows = zip(levels(problem), value.placed, bound.placed, strict=True)
    found = [Level(f"placed {priority}", PLACED, v, b) for priority, v, b in rows]
    if problem.options.relax:
        found.append(Level("broken", "broken", broken, 0))
    if problem.options.rebalance:
        found.append(Level("excess", "excess", value.violations, bound.violations))
    if problem.options.rebalance or problem.options.preempt:
        found.append(Level("moves", "moves", value.cost, bound.cost))
    return tuple(found)


def bound_from(objectives: Sequence[Level]) -> Value:
    """The bounds of the levels about rules, as `objectives_from` writes them."""
    return value_from([replace(level, value=level.bound) for level in objectives])


def value_from(objectives: Sequence[Level]) -> Value:
    """The values of the levels about rules."""
    rest = {level.kind: level.value for level in objectives if level.kind != PLACED}
    placed = tuple(level.value for level in objectives if level.kind == PLACED)
    return Value(placed, rest.get("excess", 0), rest.get("moves", 0))


def _rule_levels(objectives: Sequence[Level]) -> list[str]:
    """The names of the levels about rules, parallel to those of a value."""
    kinds: Mapping[str, list[str]] = {PLACED: [], "excess": [], "moves": []}
    for level in objectives:
        if level.kind in kinds:
            kinds[level.kind].append(level.name)
    return [*kinds[PLACED], *(kinds["excess"] or [""]), *(kinds["moves"] or [""])]
