"""What was decided: steps in order, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.replay.steps import Step
from planner.sequences.exhaustive import levels
from planner.sequences.value import Value
from planner.solver.problem import Problem
from planner.solver.solution import Level, Solution
from planner_models.plan import Objective, PlanStatus, Stop

MAXIMISED = "placed"
SOFT = frozenset({"preferences", "balance", "pack"})


@dataclass(frozen=True)
class Decision:
    """Steps that are legal in this order, before they are grouped into waves.

    `stopped` says why nothing is proven, if nothing is. `cuts` counts final states that were given
    up because no order of steps reaches them.
    """

    status: PlanStatus
    steps: tuple[Step, ...]
    objectives: tuple[Objective, ...]
    stopped: Stop | None = None
    on_paper_only: bool = False
    variables: int = 0
    cuts: int = 0
    notes: tuple[str, ...] = ()


def value_of(solution: Solution) -> Value:
    """The levels that sequences are compared by."""
    excess, moves = solution.level("excess"), solution.level("moves")
    return Value(
        tuple(level.value for level in solution.levels if level.kind == MAXIMISED),
        0 if excess is None else excess.value,
        0 if moves is None else moves.value,
    )


def bound_of(solution: Solution) -> Value:
    """What no plan beats; a level counts only as far as those before it are proven."""
    placed = [level for level in solution.levels if level.kind == MAXIMISED]
    excess, moves = solution.level("excess"), solution.level("moves")
    proven = all(level.proven for level in placed)
    settled = proven and (excess is None or excess.proven)
    return Value(
        tuple(level.bound for level in placed),
        excess.bound if excess is not None and proven else 0,
        moves.bound if moves is not None and settled else 0,
    )


def coherent(value: Value, bound: Value, trivial: Value) -> Value:
    """A bound holds if the levels before it meet theirs; after one that doesn't, the trivial one.

    A plan that misses its bound on one level may well be better than the bound on the next.
    """
    rows = zip(_flat(value), _flat(bound), _flat(trivial), strict=True)
    met, found = True, []
    for reached, limit, anyway in rows:
        found.append(limit if met else anyway)
        met = met and reached == limit
    return Value(tuple(found[:-2]), found[-2], found[-1])


def objectives_of(solution: Solution, bound: Value | None) -> tuple[Objective, ...]:
    """The solution's levels; those about rules get the bound that holds for sequences.

    Wishes come after the rules: their bounds hold only where those are met.
    """
    bounds = {} if bound is None else dict(zip(_rule_levels(solution), _flat(bound), strict=True))
    met = all(level.value == bounds.get(level.name, level.value) for level in solution.levels)
    return tuple(
        _objective(
            level, 0 if level.kind in SOFT and not met else bounds.get(level.name, level.bound)
        )
        for level in solution.levels
    )


def objectives_from(
    problem: Problem, value: Value, bound: Value, broken: int
) -> tuple[Objective, ...]:
    """The levels of a plan that was found without the solver."""
    names = [f"placed {priority}" for priority in levels(problem)]
    rows: list[tuple[str, int, int]] = list(zip(names, value.placed, bound.placed, strict=True))
    if problem.options.relax:
        rows.append(("broken", broken, 0))
    if problem.options.rebalance:
        rows.append(("excess", value.violations, bound.violations))
    if problem.options.rebalance or problem.options.preempt:
        rows.append(("moves", value.cost, bound.cost))
    return tuple(
        Objective(name=name, value=v, bound=b, direction="max" if name in names else "min")
        for name, v, b in rows
    )


def _rule_levels(solution: Solution) -> list[str]:
    kinds: Mapping[str, list[str]] = {"placed": [], "excess": [], "moves": []}
    for level in solution.levels:
        if level.kind in kinds:
            kinds[level.kind].append(level.name)
    return [*kinds["placed"], *(kinds["excess"] or [""]), *(kinds["moves"] or [""])]


def _flat(value: Value) -> tuple[int, ...]:
    return (*value.placed, value.violations, value.cost)


def _objective(level: Level, bound: int) -> Objective:
    return Objective(
        name=level.name,
        value=level.value,
        bound=bound,
        direction="max" if level.kind == MAXIMISED else "min",
    )
