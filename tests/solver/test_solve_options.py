"""How long a search may take: by its work always, by the clock where a user waits."""

from __future__ import annotations

import math
import time

import pytest

from planner.solver import route
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from tests.sequences.few_pods import cluster, node, pods


def test_nobody_waits_unless_a_command_says_so() -> None:
    options = SolveOptions(time_limit=0.0)
    assert not options.late
    assert math.isinf(options.within(0.0).until)


def test_a_user_waits_as_long_as_the_limit_and_no_longer_for_a_part_of_it() -> None:
    waiting = SolveOptions(time_limit=100.0).waited_for()
    assert not waiting.late
    part = waiting.within(10.0)
    assert (part.time_limit, part.until < waiting.until) == (10.0, True)
    assert waiting.within(1000.0).until == waiting.until
    assert SolveOptions(time_limit=0.0).waited_for().late


def test_what_nobody_waits_for_does_not_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same input gets the same answer, also on a machine on which hours pass meanwhile."""
    nodes = [node("large", cpu="4"), node("small", cpu="2")]
    built = cluster(nodes, pods("large", "large", cpu="1"), pods("", app="b", cpu="4"))
    problem = build_problem(built, SolveOptions(rebalance=True))
    expected = route.room_by_windows(problem, 1.0)
    hours = iter(range(0, 10**9, 3600))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(hours)))
    assert route.room_by_windows(problem, 1.0) == expected
    assert expected[0] is not None
