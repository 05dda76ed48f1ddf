"""A proof in integers that nothing better exists, or that few moves are not enough.

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
from planner.solver.scale.work import Work

JUDGING = 10.0
"""Enough to judge a given state, whatever is left of the time limit."""


def certify_moves(problem: Problem, best: Incumbent) -> None:
    """Proves the number of moves of a state that places everything and has no excess.

    Where a search has ended, one refutation is enough: there is no state with one move less.
    Elsewhere the proven bound is raised move by move; the first state that is found is the best.
    """
    searched = not best.open
    if _ask(_at_most(problem, best.best.moves), JUDGING, best).values is None:
        return
    while best.best.moves > best.certain.moves and not best.clock.over:
        most = best.best.moves - 1 if searched else best.certain.moves
        model = _at_most(problem, most)
        found = _ask(model, best.clock.left, None)
        best.clock.spent += found.time
        if found.values is not None:
            best.offer(_state(model, best, found.values))
        elif found.complete:
            best.prove_moves(most + 1)
        if not found.complete or (searched and found.values is not None):
            return


def _at_most(problem: Problem, most: int) -> Model:
    """Everything placed, no excess, and no more moves than this."""
    model = Model(problem)
    rules = add_rules(model)
    for level in placed(model):
        model.at_least(level.build(), _wanted(problem, level.name))
    if problem.options.rebalance:
        model.at_most(excess(model, rules), 0)
    model.at_most(moves(model), most)
    return model


def _wanted(problem: Problem, name: str) -> int:
    """Everything that waits with the priority of a level."""
    groups = problem.cluster.groups
    return sum(
        len(pods)
        for group, pods in problem.waiting.items()
        if name == f"placed {groups[group].priority}"
    )


def _hint(model: Model, best: Incumbent) -> list[tuple[int, int]]:
    now = {(g, n): count for g, task in best.work.tasks.items() for n, count in task.now.items()}
    return [(variable, now.get(cell, 0)) for cell, variable in model.cell_vars.items()]


def _state(model: Model, best: Incumbent, values: list[int]) -> Work:
    """The state that the values of the cells describe."""
    work = best.work.copy()
    change: dict[int, dict[int, int]] = {group: {} for group in work.tasks}
    for (group, node), variable in model.cell_vars.items():
        change[group][node] = values[variable] - work.tasks[group].start.get(node, 0)
    for group, nodes in change.items():
        work.restate(work.tasks[group], nodes)
    return work


def _ask(model: Model, limit: float, judged: Incumbent | None) -> Outcome:
    """Any state, or the one that is to be judged."""
    return optimise(
        model,
        Goal(Linear(), maximise=False),
        hint=[] if judged is None else _hint(model, judged),
        limit=limit,
        fix_hint=judged is not None,
        linearization=FOR_REFUTING,
        watch=lambda _value, _bound: None,
    )
