"""The cheapest nodes that kube-scheduler fills by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.cluster import Cluster
from planner.pools import Found, ScaleUpOptions, offers_of, read_pools, scale_up
from planner.pools.by_model import by_model
from planner.pools.by_patterns import by_patterns, repair
from planner.pools.fill import Filling
from planner.pools.greedy import grow
from planner.pools.least_cost import LeastCost
from planner.pools.room import FreshNodes
from planner.pools.search import Search
from planner.pools.survival import Survival
from planner.scheduler.profile import default_profile
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, inventory_of, node, template, workload
from tests.pools.templates import pool

PROFILE = default_profile()
SMALL = pool("small", "2", price="1", zones="a,b")
LARGE = pool("large", "4", price="1.8", zones="a,b")
TAINTED = {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}


def web(replicas: int, spec: Json | None = None, cpu: str = "1") -> Json:
    requests = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    spec = {**requests, **(spec or {})}
    return workload("Deployment", "web", {"replicas": replicas, "template": template(spec=spec)})


def asked(cluster: Cluster, *templates: Json, **options: Any) -> Found:
    """All pods that wait; what is saved is the price, or nodes without one."""
    pools = read_pools(inventory_of(*templates).nodes)
    offers = offers_of(pools, "price" if pools[0].price else "nodes")
    every = range(len(cluster.pods))
    given_options = ScaleUpOptions(**{"seeds": 3, "rollout_seeds": 2, **options})
    return scale_up(cluster, every, offers, PROFILE, given_options)


def added(found: Found) -> dict[str, int]:
    assert found.best is not None
    counts = zip(found.offers, found.best.added.counts, strict=True)
    return {f"{offer.pool.name}/{offer.zone}": n for offer, n in counts if n}


def test_nothing_is_added_when_nobody_waits() -> None:
    found = asked(cluster_of(node("n1"), web(2)), SMALL)
    assert found.best is None
    assert (found.accepted, found.proven) == (True, True)


def test_the_cheaper_pool_is_taken() -> None:
    found = asked(cluster_of(node("n1", status=_cpu("1")), web(5)), SMALL, LARGE)
    assert sum(added(found).values()) == 1
    assert next(iter(added(found))).startswith("large")
    assert (found.proven, found.bound) == (True, 18)


def test_zone_spread_asks_for_nodes_in_both_zones() -> None:
    cluster = cluster_of(node("n1", "a", status=_cpu("1")), node("n2", "b", status=_cpu("1")))
    more = cluster_of(*_nodes(cluster), web(6, spread(ZONE)))
    assert added(asked(more, SMALL)) == {"small/a": 1, "small/b": 1}


def test_hostname_spread_asks_for_more_nodes_than_room_does() -> None:
    cluster = cluster_of(node("n1", status=_cpu("1")), web(4, spread(HOSTNAME)))
    assert sum(added(asked(cluster, LARGE, keep_rollouts=False)).values()) == 2


def test_pods_of_daemon_sets_take_their_room_first() -> None:
    agent = workload("DaemonSet", "agent", {"template": template(spec=_asks("1"))})
    cluster = cluster_of(node("n1", status=_cpu("500m")), agent, web(2))
    assert added(asked(cluster, pool("small", "2", price="1"))) == {"small/": 2}


def test_what_no_node_of_any_pool_takes_is_told_apart_with_its_reason() -> None:
    cluster = cluster_of(node("n1", status=_cpu("1")), web(1, cpu="3"))
    found = asked(cluster, SMALL)
    assert [each.reason for each in found.never] == ["CPU (3 requested, at most 2 free)"]
    assert found.best is None


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ({**pool("small", "8"), **TAINTED}, "taints that it does not tolerate"),
        (pool("small", "8"), "its node affinity or selector"),
    ],
)
def test_reasons_name_the_rule(template: Json, reason: str) -> None:
    spec = {} if "taints" in reason else {"nodeSelector": {"disk": "ssd"}}
    cluster = cluster_of(node("n1", status=_cpu("1")), web(1, spec, cpu="3"))
    assert [each.reason for each in asked(cluster, template).never] == [reason]


def test_limits_of_a_pool_are_kept_and_the_rest_waits() -> None:
    found = asked(
        cluster_of(node("n1", status=_cpu("1")), web(6)), pool("small", price="1", max="1")
    )
    assert added(found) == {"small/": 1}
    assert (found.accepted, found.proven, found.bound) == (False, True, None)


def test_higher_priority_runs_first_where_limits_leave_somebody_waiting() -> None:
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 100,
        }
    ]
    important = {"priorityClassName": "high", "nodeSelector": {ZONE: "b"}, **_asks("1")}
    high = workload("Deployment", "db", {"replicas": 1, "template": template(spec=important)})
    low = web(4, {"nodeSelector": {ZONE: "a"}})
    one = pool("small", price="1", zones="a,b", max="1")
    found = asked(cluster_of(node("n1", "c", status=_cpu("1")), *classes, high, low), one)
    assert added(found)["small/b"] == 1


def test_a_minimum_is_added_in_any_case() -> None:
    found = asked(
        cluster_of(node("n1", status=_cpu("1")), web(2)), pool("small", price="1", min="2")
    )
    assert added(found) == {"small/": 2}


def test_a_node_that_stops_a_rollout_is_not_an_answer() -> None:
    """A new zone becomes a domain of the hard spread: the next rollout needs room there."""
    pinned = {"nodeSelector": {ZONE: "c"}, **_asks("1")}
    db = workload("Deployment", "db", {"replicas": 1, "template": template(spec=pinned)})
    nodes = (node("n1", "a"), node("n2", "b"))
    cluster = cluster_of(*nodes, web(6, spread(ZONE)), db)
    small = pool("small", "1500m", price="1", zones="c")
    assert added(asked(cluster, small, keep_rollouts=False)) == {"small/c": 1}
    kept = asked(cluster, small)
    assert added(kept)["small/c"] > 1
    assert [each.workload.name for each in kept.tried[-2].stuck] == ["web"]


def _cpu(amount: str) -> Json:
    return {"allocatable": {"cpu": amount}}


def _asks(cpu: str) -> Json:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}


def _nodes(cluster: Cluster) -> list[Json]:
    return [
        node(each.name, each.labels[ZONE], status=_cpu(f"{each.allocatable['cpu']}m"))
        for each in cluster.nodes
    ]


def test_without_a_proof_nodes_in_two_zones_at_once_are_found() -> None:
    """Neither zone alone lets another pod run: both have as many, and skew 1 is used up."""
    start = cluster_of(
        node("n1", "a", status=_cpu("1")), node("n2", "b", status=_cpu("1")), web(6, spread(ZONE))
    )
    offers = offers_of(read_pools(inventory_of(SMALL, LARGE).nodes), "price")
    filling = Filling(start, tuple(range(6)), offers, PROFILE)
    search = searching(filling)
    grow(search, until=float("inf"))
    assert search.found is not None
    assert search.bound is not None
    assert search.bound <= search.least.cost(search.found.added.counts) == 20


def searching(filling: Filling) -> Search:
    return Search(filling, LeastCost(FreshNodes(filling), filling.goal, filling.offers), seeds=3)


def test_what_has_to_be_survived_gets_more_nodes() -> None:
    """One node has room for all; if it fails, there is none left."""
    cluster = cluster_of(node("n1", "a", status=_cpu("1")), web(3))
    small = pool("small", "4", price="1", zones="a,b")
    assert sum(added(asked(cluster, small)).values()) == 1
    found = asked(cluster, small, survive="node", keep_rollouts=False)
    assert (found.accepted, found.proven) == (True, True)
    assert sum(added(found).values()) == 2
    assert {each.lost for each in found.alternatives} == {"small-a", "small-b"}


def test_a_zone_that_has_to_be_survived_gets_nodes_elsewhere() -> None:
    cluster = cluster_of(node("n1", "a", status=_cpu("1")), web(3))
    found = asked(cluster, pool("small", "4", price="1", zones="a,b"), survive="zone")
    assert added(found) == {"small/a": 1, "small/b": 1}


def test_given_zones_all_get_a_node() -> None:
    cluster = cluster_of(node("n1", "a", status=_cpu("1")), web(3))
    small = pool("small", "4", price="1", zones="a,b,c")
    assert len(added(asked(cluster, small))) == 1
    assert set(added(asked(cluster, small, zones="given"))) == {"small/b", "small/c"}


def with_patterns(search: Search, until: float) -> None:
    repair(search, by_patterns(search, until), until)


@pytest.mark.parametrize("way", [with_patterns, by_model])
def test_every_way_opens_given_zones_and_survives(way: Callable[[Search, float], object]) -> None:
    start = cluster_of(node("n1", "a", status=_cpu("1")), web(3))
    offers = offers_of(read_pools(inventory_of(pool("small", "4", zones="b,c")).nodes), "nodes")
    filling = Filling(start, tuple(range(3)), offers, PROFILE)
    search = searching(filling)
    search.opened, search.survival = ((0,), (1,)), Survival("zone", PROFILE)
    way(search, 20.0)
    assert search.found is not None
    assert search.found.added.counts == (1, 1)
