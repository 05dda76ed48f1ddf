"""Sets of one pool, and cheaper ones by chance: kube-scheduler fills all that are taken."""

from __future__ import annotations

from planner.pools.anneal import anneal
from planner.pools.even_sets import even_sets
from planner.pools.rising_cost import by_rising_cost
from planner.pools.search import Search
from planner.pools.shortfall import Shortfall
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.objects import HOSTNAME, ZONE, cluster_of, node
from tests.pools.peers.worlds import affinity, filling_of, pods, spread
from tests.pools.templates import pool
from tests.pools.test_scale_up import searching

SIZES = tuple(
    pool(f"c{cpu}", str(cpu), f"{4 * cpu}Gi", price=str(cpu), zones="a,b") for cpu in (1, 2, 4, 8)
)
MANY = (0, 0, 0, 0, 0, 0, 3, 3)
EVERY = (1.0,) * 8
"""All offers are worth the same."""


def mixed() -> Search:
    """Bound by sums alone."""
    there = node("n1", "a", status={"allocatable": {"cpu": "100m", "memory": "1Gi", "pods": "9"}})
    workloads = (
        pods("web", 6, "700m", topologySpreadConstraints=[spread(ZONE)]),
        pods("db", 3, "900m", **affinity("podAntiAffinity", HOSTNAME, "db")),
        pods("job", 7, "400m"),
    )
    search = searching(filling_of(cluster_of(there, *workloads), *SIZES))
    by_rising_cost(search, 0.0)
    return search


def cost(search: Search) -> int:
    assert search.found is not None
    return search.least.cost(search.found.added.counts)


def test_a_set_of_one_pool_has_equally_many_nodes_in_its_zones() -> None:
    search = mixed()
    even_sets(search, EVERY, 60.0)
    assert search.found is not None
    used = {
        search.filling.offers[i].pool.name: n for i, n in enumerate(search.found.added.counts) if n
    }
    by_zone = [n for n in search.found.added.counts if n]
    assert len(used) == 1
    assert max(by_zone) - min(by_zone) <= 1


def test_drawn_sets_are_cheaper_and_filled_under_twenty_seeds() -> None:
    search = mixed()
    assert search.try_set(MANY)
    before = cost(search)
    anneal(search, [], EVERY, search.spent + 4.0)
    assert search.bound_now <= cost(search) < before
    assert search.found is not None
    cluster = search.filling.add(search.found.added.counts).cluster
    for seed in range(20):
        assert not simulate(cluster, [default_profile()], seed=seed).unschedulable


def test_the_same_input_draws_the_same_sets() -> None:
    found = []
    for _ in range(2):
        search = mixed()
        assert search.try_set(MANY)
        anneal(search, [], EVERY, search.spent + 1.0)
        assert search.found is not None
        found.append((search.found.added.counts, search.spent))
    assert found[0] == found[1]


def test_who_waits_counts_more_than_the_nodes_that_would_take_him() -> None:
    search = mixed()
    none = (0,) * len(search.filling.offers)
    shortfall = Shortfall(search)
    assert shortfall.value(MANY) == search.least.cost(MANY)
    assert shortfall.value(none) > search.bound_now
