"""How many pods have to stay on some nodes, whatever is moved in whatever order.

The model asks only for what every sequence of legal steps has to obey (`judged="moment"`), and has
one goal: few pods on these nodes. Its bound holds for all sequences; whether a sequence reaches it
is another question.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from planner.solver.model.engine import Goal, optimise
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.model.rules import add_rules
from planner.solver.problem.problem import Problem


def least_left(problem: Problem, nodes: Collection[int]) -> int:
    """No sequence leaves fewer of the movable pods of these nodes there."""
    model = Model(replace(problem, options=replace(problem.options, judged="moment")))
    add_rules(model)
    here = [v for (_, node), v in model.cell_vars.items() if node in nodes]
    goal = Goal(Linear(here, [1] * len(here)), maximise=False)
    outcome = optimise(
        model,
        goal,
        hint=[(v, problem.current.get(cell, 0)) for cell, v in model.cell_vars.items()],
        limit=problem.options.time_limit,
        fix_hint=False,
        watch=lambda best, bound: None,
    )
    return max(0, outcome.bound) if outcome.values is not None else 0
