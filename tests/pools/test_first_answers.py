"""First answers by the ways of autoscalers."""

from __future__ import annotations

from planner.pools.first_answers import first_answers
from planner.pools.least_cost import LeastCost
from planner.pools.room import FreshNodes
from planner.pools.search import Search
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node
from tests.pools.peers.worlds import affinity, filling_of, pods, spread
from tests.pools.templates import pool

SIZES = tuple(
    pool(f"c{cpu}", str(cpu), f"{4 * cpu}Gi", price=str(cpu), zones="a,b,c") for cpu in (1, 2, 4, 8)
)


def searched(*workloads: Json, offers: tuple[Json, ...] = SIZES) -> Search:
    there = node("n1", status={"allocatable": {"cpu": "100m", "memory": "1Gi", "pods": "9"}})
    filling = filling_of(cluster_of(there, *workloads), *offers)
    search = Search(filling, LeastCost(FreshNodes(filling), filling.goal, filling.offers), 3)
    first_answers(search, 30.0)
    return search


def test_kube_scheduler_fills_them_under_every_seed() -> None:
    search = searched(
        pods("web", 9, "700m", topologySpreadConstraints=[spread(ZONE)]),
        pods("db", 3, "1500m", **affinity("podAntiAffinity", HOSTNAME, "db")),
        pods("job", 12, "400m"),
    )
    assert search.found is not None
    cluster = search.filling.add(search.found.added.counts).cluster
    for seed in range(3):
        assert not simulate(cluster, [default_profile()], seed=seed).unschedulable


def test_they_keep_within_the_limits_of_pools() -> None:
    small = (pool("c1", "1", price="1", max="2"), pool("c8", "8", price="9"))
    search = searched(pods("web", 6, "900m"), offers=small)
    assert search.found is not None
    assert search.filling.allowed(search.found.added.counts)


def test_pods_with_volumes_have_none() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    assert searched(pods("web", 1, "500m", volumes=volumes)).tried == {}
