from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import given

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.replay import Step, check_steps
from planner.scheduler.profile import default_profile
from planner.sequences.few_evictions_each import few_evictions_each
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from tests.agreement.clusters import clusters
from tests.objects import cluster_of, owned, pod
from tests.objects import node as json_node
from tests.sequences.few_pods import cluster, node, pods
from tests.sequences.test_plan_waves import budget

PROFILE = default_profile()


def planned(
    built: Cluster, begun: Iterable[Step] = (), **options: Any
) -> tuple[tuple[Step, ...], ...]:
    problem = build_problem(built, SolveOptions(rebalance=True, **options))
    return tuple(few_evictions_each(problem, PROFILE, allowances(built), tuple(begun)))


def moved(pod: int, source: int, target: int) -> tuple[Step, ...]:
    return Step.evict(pod, source), Step.place(pod, target)


def test_a_pod_that_fits_elsewhere_makes_room() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", cpu="1"), pods("", app="b", cpu="4"))
    assert planned(built)[0] == (*moved(0, 0, 1), Step.place(1, 0))


def test_nothing_is_looked_at_when_the_user_waits_no_longer() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", cpu="1"), pods("", app="b", cpu="4"))
    assert planned(built, until=0.0) == ((), ())


def test_after_so_many_exchanges_the_rest_of_the_pods_is_not_looked_at() -> None:
    nodes = [node("large", cpu="4"), node("big", cpu="4"), node("small", cpu="2")]
    running = (pods("large", app="a", cpu="1"), pods("big", app="b", cpu="1"))
    built = cluster(nodes, *running, pods("", "", app="c", cpu="4"))
    problem = build_problem(built, SolveOptions(rebalance=True))
    whole, begun = (
        next(few_evictions_each(problem, PROFILE, allowances(built), exchanges=most))
        for most in (10, 1)
    )
    assert (len(whole), begun) == (6, whole[:3])


def test_who_fits_without_an_eviction_is_placed_without_one() -> None:
    built = cluster([node("n", cpu="4")], pods("n", cpu="1"), pods("", app="b", cpu="3"))
    assert planned(built)[0] == (Step.place(1, 0),)


def test_where_one_eviction_is_not_enough_few_pods_of_a_node_leave() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", "large", cpu="1"), pods("", app="b", cpu="4"))
    assert planned(built)[0] == (*moved(0, 0, 1), *moved(1, 0, 1), Step.place(2, 0))


def test_an_evicted_pod_may_take_the_place_of_a_third_one() -> None:
    nodes = [node("large", cpu="4"), node("middle", cpu="3"), node("small", cpu="1")]
    running = (pods("large", app="a", cpu="3"), pods("middle", app="b", cpu="1"))
    built = cluster(nodes, *running, pods("", app="c", cpu="4"))
    third = (Step.evict(1, 1), Step.place(1, 2), Step.place(0, 1))
    assert planned(built)[0] == (Step.evict(0, 0), *third, Step.place(2, 0))


def test_the_higher_priority_is_served_first() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="1")
    low, high = pods("", app="low", cpu="4"), pods("", app="high", cpu="4", priority=10)
    built = cluster([large, small], pods("large", cpu="1"), low, high)
    placed = [step.pod for step in planned(built)[0] if step.action == "place"]
    assert [built.pods[each].name for each in placed] == ["a-0", "high-0"]


def test_in_one_of_the_two_orders_small_pods_go_first() -> None:
    built = cluster(
        [node("n", cpu="4")], pods("", app="a", cpu="4"), pods("", "", app="b", cpu="2")
    )
    queue, smallest = planned(built)
    assert (len(queue), len(smallest)) == (1, 2)


def test_no_more_pods_move_than_the_options_allow() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", "large", cpu="1"), pods("", app="b", cpu="4"))
    assert planned(built, max_moves=1) == ((), ())


def test_moves_that_are_begun_count_and_their_pods_stay() -> None:
    large, small = node("large", cpu="4"), node("small", cpu="2")
    built = cluster([large, small], pods("large", "large", cpu="1"), pods("", app="b", cpu="4"))
    begun = moved(0, 0, 1)
    assert planned(built, begun)[0] == (*begun, *moved(1, 0, 1), Step.place(2, 0))
    assert planned(built, begun, max_moves=1)[0] == begun


def test_a_budget_that_allows_nothing_is_not_asked() -> None:
    def asking(name: str, cpu: str, where: str = "") -> dict[str, Any]:
        containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
        labels = {"labels": {"app": name}, **owned("ReplicaSet", name)}
        return pod(name, where, spec={"containers": containers}, metadata=labels)

    def size(name: str, cpu: str) -> dict[str, Any]:
        return json_node(name, status={"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "9"}})

    objects = [size("large", "4"), size("small", "2"), asking("web", "1", "large")]
    objects.append(asking("waiting", "4"))
    assert planned(cluster_of(*objects))[0]
    assert not planned(cluster_of(*objects, budget(maxUnavailable=0)))[0]


@given(clusters(nodes=5, pods=8))
def test_all_steps_pass_the_filters_and_no_pod_is_evicted_twice(built: Cluster) -> None:
    for steps in planned(built):
        checked = check_steps(built, steps, PROFILE)
        assert checked.good, checked.faults
        evicted = Counter(step.pod for step in steps if step.evicts)
        assert all(times == 1 for times in evicted.values())
