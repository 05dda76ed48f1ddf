"""Sets of few pools, and answers that are bred of them: all under every seed."""

from __future__ import annotations

from random import Random

import pytest

from planner.pools.mixed_sets import MOST, MixedSets
from planner.pools.search import Search
from planner.pools.shortfall import Shortfall
from planner.pools.steady_sets import steady_sets
from planner.pools.variations import Variations
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.objects import HOSTNAME, ZONE, cluster_of, node
from tests.pools.peers.worlds import affinity, filling_of, pods, spread
from tests.pools.templates import pool
from tests.pools.test_scale_up import searching

POOLS = tuple(
    pool(f"{name}{cpu}", str(cpu), f"{ratio * cpu}Gi", price=str(cpu), zones="a,b")
    for name, ratio in (("c", 1), ("m", 4))
    for cpu in (2, 4, 8)
)
EVERY = (1.0,) * 12
"""All offers are worth the same."""


def many_pods() -> Search:
    """Some 130 pods that nobody proves the cheapest nodes for; bound by sums alone."""
    there = node("n1", "a", status={"allocatable": {"cpu": "100m", "memory": "1Gi", "pods": "9"}})
    workloads = (
        pods("web", 40, "700m", topologySpreadConstraints=[spread(ZONE)]),
        pods("db", 8, "900m", **affinity("podAntiAffinity", HOSTNAME, "db")),
        pods("job", 80, "400m"),
    )
    search = searching(filling_of(cluster_of(there, *workloads), *POOLS))
    least = search.least.at_least((0,) * 12, 0)
    assert least is not None
    search.prove(least[0])
    return search


def test_sets_that_are_drawn_have_room_for_all_and_cost_little_more_than_the_bound() -> None:
    search = many_pods()
    drawn = MixedSets(search, EVERY, Random(0)).some(50)
    assert len(drawn) >= 20
    for counts in drawn:
        assert search.least.has_room(counts)
        assert search.bound_now <= search.least.cost(counts) <= MOST * search.bound_now


def test_no_set_is_drawn_where_pools_have_ends_below_what_is_needed() -> None:
    few = tuple(
        pool(f"c{cpu}", str(cpu), f"{cpu}Gi", price=str(cpu), zones="a", max="1") for cpu in (2, 4)
    )
    search = searching(filling_of(cluster_of(node("n1", "a"), pods("job", 99, "900m")), *few))
    search.prove(100)
    assert MixedSets(search, (1.0, 1.0), Random(0)).some(10) == []


def test_answers_that_are_bred_are_filled_under_twenty_seeds() -> None:
    search = many_pods()
    steady_sets(search, EVERY, search.spent + 8.0)
    assert search.found is not None
    counts = search.found.added.counts
    assert search.bound_now <= search.least.cost(counts) <= 1.2 * search.bound_now
    cluster = search.filling.add(counts).cluster
    for seed in range(20):
        assert not simulate(cluster, [default_profile()], seed=seed).unschedulable


def test_the_same_input_breeds_the_same_answer() -> None:
    found = []
    for _ in range(2):
        search = many_pods()
        steady_sets(search, EVERY, search.spent + 3.0)
        assert search.found is not None
        found.append((search.found.added.counts, search.spent))
    assert found[0] == found[1]


def test_what_is_missing_under_a_seed_is_the_same_side_by_side_and_alone() -> None:
    search = many_pods()
    sets = MixedSets(search, EVERY, Random(0)).some(4)
    together = Shortfall(search).under([(counts, seed) for counts in sets for seed in (0, 3)])
    alone = [
        Shortfall(search)
        .missing(search.filling.fill(search.filling.add(counts), seed).waiting)
        .cost
        for counts in sets
        for seed in (0, 3)
    ]
    assert together == pytest.approx(alone)


def test_small_changes_keep_counts_of_nodes_from_getting_negative() -> None:
    search, random = many_pods(), Random(1)
    varied = Variations(search, EVERY, random)
    sets = MixedSets(search, EVERY, random).some(4)
    for _ in range(300):
        counts = random.choice(sets)
        assert min(varied.vary(counts, sets)) >= 0
        assert min(varied.grow(counts)) >= 0
