from __future__ import annotations

from planner.solver.model.engine import Goal, optimise
from planner.solver.model.model import Model
from planner.solver.model.rules import add_rules
from tests.solver.problems import ABC, problem, workload


def test_without_time_for_a_bound_the_ranges_are_all_that_is_known() -> None:
    """CP-SAT then reports 0, which would be below what can be placed."""
    model = Model(problem(ABC, workload("web", *[""] * 6)))
    add_rules(model)
    goal = Goal(model.placed[0], maximise=True)
    found = optimise(model, goal, hint=[], limit=0.0, watch=lambda _best, _bound: None)
    assert found.values is None
    assert found.bound >= 6
