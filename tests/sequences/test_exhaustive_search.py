from __future__ import annotations

from planner.replay import check_steps
from planner.scheduler.profile import default_profile
from planner.sequences.exhaustive import search
from planner.sequences.group_dependencies import GroupDependencies, independent_parts
from planner.sequences.value import Value
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner_models.node import HOSTNAME
from tests.sequences.few_pods import apart, cluster, node, pods, spread

PROFILE = default_profile()
REBALANCE = SolveOptions(rebalance=True)
THREE_ZONES = [node("n1", "x"), node("n2", "y"), node("n3", "z")]


def test_a_zone_that_came_back_is_filled_with_the_fewest_moves() -> None:
    built = cluster(THREE_ZONES, pods(*["n1"] * 3, *["n2"] * 3, spread=[spread()]))
    found = search(build_problem(built, REBALANCE), PROFILE)
    assert (found.value, found.complete) == (Value((), 0, 2), True)
    assert check_steps(built, found.steps, PROFILE).good


def test_without_rebalance_running_pods_stay() -> None:
    built = cluster(THREE_ZONES, pods("n1", "n1", "n1", "", spread=[spread()]))
    found = search(build_problem(built, SolveOptions()), PROFILE)
    assert found.value == Value((1,), 2, 0)
    assert [step.action for step in found.steps] == ["place"]


def test_a_pod_of_higher_priority_is_placed_before_two_of_lower() -> None:
    low = pods("", "", app="low", cpu="1")
    built = cluster([node("n1", cpu="2")], low, pods("", app="high", cpu="2", priority=10))
    assert search(build_problem(built, REBALANCE), PROFILE).value.placed == (1, 0)


def test_no_more_pods_are_moved_than_allowed() -> None:
    built = cluster(THREE_ZONES, pods(*["n1"] * 3, *["n2"] * 3, spread=[spread()]))
    options = SolveOptions(rebalance=True, max_moves=1)
    assert search(build_problem(built, options), PROFILE).value == Value((), 1, 1)


def test_a_cheaper_group_moves_instead() -> None:
    nodes = [node("n1"), node("n2")]
    built = cluster(nodes, pods("n1", affinity=apart(app="b")), pods("n1", app="b"))
    problem = build_problem(built, REBALANCE)
    for dear in (0, 1):
        found = search(problem, PROFILE, weights={dear: 5})
        assert found.value == Value((), 0, 1)
        assert built.group_of[found.steps[0].pod] != dear


def test_with_preempt_a_pod_of_lower_priority_may_lose_its_place() -> None:
    built = cluster(
        [node("n1", cpu="1")], pods("n1", cpu="1"), pods("", app="b", cpu="1", priority=9)
    )
    options = SolveOptions(rebalance=True, preempt=True)
    found = search(build_problem(built, options), PROFILE)
    assert found.value == Value((1, 0), 0, 1)
    assert check_steps(built, found.steps, PROFILE, displaced=(0,)).good


def test_the_limit_makes_the_answer_incomplete_and_a_bound_that_is_met_complete() -> None:
    both = [spread(), spread(HOSTNAME)]
    nodes = [node("n1", "x"), node("n2", "y"), node("n3", "y")]
    built = cluster(nodes, pods("n1", *["n3"] * 5, "", spread=both))
    problem = build_problem(built, REBALANCE)
    best = search(problem, PROFILE)
    assert best.complete
    cut = search(problem, PROFILE, state_limit=3)
    assert not cut.complete
    assert search(problem, PROFILE, state_limit=3, bound=cut.value).complete
    told = search(problem, PROFILE, bound=best.value)
    assert (told.value, told.complete) == (best.value, True)
    assert told.states <= best.states


def test_workloads_that_never_meet_are_searched_apart() -> None:
    ours, theirs = [spread()], [spread(app="b")]
    built = cluster(
        THREE_ZONES, pods("n1", "n1", spread=ours), pods("n2", "n2", app="b", spread=theirs)
    )
    problem = build_problem(built, REBALANCE)
    assert independent_parts(problem, GroupDependencies(built, PROFILE)) == ((0,), (1,))
    assert search(problem, PROFILE).value == Value((), 0, 2)


def test_workloads_that_compete_for_room_are_searched_together() -> None:
    nodes = [node("n1", cpu="2"), node("n2", cpu="2")]
    built = cluster(nodes, pods("n1", cpu="1"), pods("n2", app="b", cpu="2"))
    problem = build_problem(built, REBALANCE)
    assert independent_parts(problem, GroupDependencies(built, PROFILE)) == ((0, 1),)
