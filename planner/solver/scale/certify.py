"""A proof in integers that nothing better exists, where only floating-point arithmetic says so.

CP-SAT is asked for a state with fewer moves that keeps everything else; that there is none is
easier to see than to find the best one from scratch. The best state itself is put to the same model
first: if it does not pass, the two paths mean different things, and nothing is claimed.
"""

from __future__ import annotations

from planner.solver.engine import FOR_REFUTING, Goal, Outcome, optimise
from planner.solver.linear import Linear
from planner.solver.model import Model
from planner.solver.objectives import excess, moves, placed
from planner.solver.problem import Problem
from planner.solver.rules import add_rules
from planner.solver.scale.incumbent import Incumbent

JUDGING = 10.0
"""Enough to judge a given state, whatever is left of the time limit."""


def certify_moves(problem: Problem, best: Incumbent) -> None:
    """Proves the number of moves of a state that places everything and has no excess."""
    model = Model(problem)
    rules = add_rules(model)
    for level in placed(model):
        model.at_least(level.build(), _wanted(problem, level.name))
    if problem.options.rebalance:
        model.at_most(excess(model, rules), 0)
    leaving = moves(model)
    model.at_most(leaving, best.best.moves)
    if _ask(model, JUDGING, _state(model, best)).values is None:
        return
    model.at_most(leaving, best.best.moves - 1)
    found = _ask(model, best.clock.left, [])
    best.clock.spent += found.time
    if found.complete and found.values is None:
        best.prove_moves(best.best.moves)


def _wanted(problem: Problem, name: str) -> int:
    """Everything that waits with the priority of a level."""
    groups = problem.cluster.groups
    return sum(
        len(pods)
        for group, pods in problem.waiting.items()
        if name == f"placed {groups[group].priority}"
    )


def _state(model: Model, best: Incumbent) -> list[tuple[int, int]]:
    now = {(g, n): count for g, task in best.work.tasks.items() for n, count in task.now.items()}
    return [(variable, now.get(cell, 0)) for cell, variable in model.cell_vars.items()]


def _ask(model: Model, limit: float, fixed: list[tuple[int, int]]) -> Outcome:
    """Any state, or the one that is given."""
    return optimise(
        model,
        Goal(Linear(), maximise=False),
        hint=fixed,
        limit=limit,
        fix_hint=bool(fixed),
        linearization=FOR_REFUTING,
        watch=lambda _value, _bound: None,
    )
