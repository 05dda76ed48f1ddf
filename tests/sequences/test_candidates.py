from __future__ import annotations

from planner.replay.steps import Step
from planner.scheduler.profile import default_profile
from planner.sequences.candidate import greedy
from planner.sequences.plan import relaxed
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from tests.sequences.few_pods import cluster, node, pods, spread

PROFILE = default_profile()


def test_what_the_scheduler_does_without_some_filters_still_breaks_their_rules() -> None:
    """All three pods fit in zone x, which is then two above what maxSkew allows."""
    nodes = [node("n1", "x"), node("n2", "y", unschedulable=True)]
    waiting = cluster(nodes, pods("", "", "", spread=[spread()]))
    problem = build_problem(waiting, SolveOptions(relax=True, rebalance=True))
    found = greedy(problem, relaxed(PROFILE), PROFILE)
    assert found.value.placed == (3,)
    assert (found.broken, found.value.violations) == (2, 2)


def test_breaking_less_counts_next_to_placing_more() -> None:
    nodes = [node("n1", "x"), node("n2", "y", unschedulable=True)]
    waiting = cluster(nodes, pods("", "", "", spread=[spread()]))
    problem = build_problem(waiting, SolveOptions(relax=True))
    strict, loose = (greedy(problem, each, PROFILE) for each in (PROFILE, relaxed(PROFILE)))
    assert (strict.value.placed, loose.value.placed) == ((1,), (3,))
    assert (strict.broken, loose.broken) == (0, 2)
    assert loose.key > strict.key


def test_a_pod_that_loses_its_place_on_the_way_is_not_counted_as_placed() -> None:
    built = cluster(
        [node("n1", cpu="1")], pods("n1", cpu="1"), pods("", app="b", cpu="1", priority=9)
    )
    problem = build_problem(built, SolveOptions(rebalance=True, preempt=True))
    running, waiting = (int(pod) for pod in (built.running[0], built.pending[0]))
    steps = (Step.evict(running, 0), Step.place(waiting, 0))
    assert greedy(problem, PROFILE, PROFILE, steps).value.placed == (1, 0)
