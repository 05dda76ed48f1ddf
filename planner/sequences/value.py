"""What a plan is worth: the levels by which sequences of steps are compared."""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.problem.moves import placeable
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Solution

PLACED = "placed"


@dataclass(frozen=True)
class Value:
    """Pods placed by priority from the top, violations left, and what the evictions cost.

    More placed pods of a higher priority beat everything below; then fewer violations, then less
    cost.
    """

    placed: tuple[int, ...]
    violations: int
    cost: int

    @property
    def key(self) -> tuple[tuple[int, ...], int, int]:
        """Larger is better."""
        return self.placed, -self.violations, -self.cost

    @property
    def levels(self) -> tuple[int, ...]:
        """All numbers, the most important one first."""
        return (*self.placed, self.violations, self.cost)

    def __add__(self, other: Value) -> Value:
        """The worth of two plans that do not depend on each other."""
        placed = tuple(a + b for a, b in zip(self.placed, other.placed, strict=True))
        return Value(placed, self.violations + other.violations, self.cost + other.cost)


def levels(problem: Problem) -> tuple[int, ...]:
    """The priorities by which placed pods are counted, highest first."""
    if not problem.options.preempt:
        return problem.priorities
    groups = problem.cluster.groups
    return tuple(sorted({groups[g].priority for g in problem.groups}, reverse=True))


def trivial_bound(problem: Problem) -> Value:
    """All pods that some node can hold are placed, nothing is broken and nothing moves."""
    counts = dict.fromkeys(levels(problem), 0)
    for group, most in placeable(problem).items():
        counts[problem.cluster.groups[group].priority] += most
    if problem.options.preempt:
        for (group, _), pods in problem.movable.items():
            counts[problem.cluster.groups[group].priority] += len(pods)
    return Value(tuple(counts.values()), 0, 0)


def value_of(solution: Solution) -> Value:
    """The worth of what the solver found."""
    excess, moves = solution.level("excess"), solution.level("moves")
    return Value(
        tuple(level.value for level in solution.levels if level.kind == PLACED),
        0 if excess is None else excess.value,
        0 if moves is None else moves.value,
    )


def bound_of(solution: Solution) -> Value:
    """What no plan beats; a level counts only as far as those before it are proven."""
    placed = [level for level in solution.levels if level.kind == PLACED]
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
    met, found = True, []
    rows = zip(value.levels, bound.levels, trivial.levels, strict=True)
    for reached, limit, anyway in rows:
        found.append(limit if met else anyway)
        met = met and reached == limit
    return Value(tuple(found[:-2]), found[-2], found[-1])
