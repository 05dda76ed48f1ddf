"""cluster-autoscaler's estimates and choices; its own tables, told anew."""

from __future__ import annotations

from collections import Counter

import pytest

from planner.pools.peers.cluster_autoscaler import (
    Market,
    Option,
    estimate,
    least_waste,
    price,
    unit_prices,
)
from planner.pools.peers.compare import LEAST_WASTE, PRICE, TOOLS, emulate
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node
from tests.pools.peers.worlds import filling_of, pods, spread, world_of
from tests.pools.templates import pool

MANY = {"topologySpreadConstraints": [spread(HOSTNAME, 2)]}
ZONAL = {"topologySpreadConstraints": [spread(ZONE, 2)]}
THREE = {"topologySpreadConstraints": [spread(HOSTNAME, 1, "web", 3)]}


def old_node() -> Json:
    """A small node in another zone, which makes spread matter."""
    room = {"cpu": "100m", "memory": "100Mi", "pods": "10"}
    return node("old", "jupiter", status={"allocatable": room})


def packed(
    workloads: list[Json], cpu: str, memory: str, most: int | None = None
) -> tuple[int, dict[str, int]]:
    """Nodes and pods of the estimate for a node group in one zone, ten pods a node."""
    template = pool("group", cpu, memory, price="1", zones="mars")
    template["status"]["allocatable"]["pods"] = "10"
    filling = filling_of(cluster_of(old_node(), *workloads), template)
    world, waiting = world_of(filling)
    found = estimate(world, 0, waiting, most)
    groups = world.fresh.cluster.groups
    return found.nodes, {groups[g].labels.get("app", ""): n for g, n in found.pods.items()}


@pytest.mark.parametrize(
    ("workloads", "cpu", "memory", "most", "nodes", "placed"),
    [
        ([pods("web", 10, "350m", "1000Mi")], "1", "2000Mi", None, 5, {"web": 10}),
        ([pods("web", 20, "101m", "100Mi")], "10", "20000Mi", None, 2, {"web": 20}),
        ([pods("web", 8, "200m", "1000Mi", hostPort=5555)], "1", "5000Mi", None, 8, {"web": 8}),
        ([pods("web", 20, "500m", "1000Mi")], "1", "5000Mi", 5, 5, {"web": 10}),
        (
            [pods("small", 10, "101m", "1000Mi"), pods("web", 10, "500m", "1000Mi")],
            "1",
            "5000Mi",
            5,
            5,
            {"web": 10},
        ),
        ([pods("web", 8, "200m", "200Mi", **MANY)], "1", "5000Mi", None, 4, {"web": 8}),
        ([pods("web", 8, "120m", "100Mi", **ZONAL)], "1", "5000Mi", None, 1, {"web": 2}),
        ([pods("web", 12, "20m", "1Mi", **THREE)], "1", "5000Mi", None, 3, {"web": 12}),
    ],
    ids=[
        "room decides",
        "pods per node decide",
        "a host port for each node",
        "the limit cuts",
        "large pods come first",
        "two of a host",
        "a zone takes maxSkew more than the other",
        "spread over hosts that are there, too",
    ],
)
def test_estimates_are_those_of_its_own_table(
    workloads: list[Json],
    cpu: str,
    memory: str,
    most: int | None,
    nodes: int,
    placed: dict[str, int],
) -> None:
    assert packed(workloads, cpu, memory, most) == (nodes, placed)


GI = 1000 << 20


def test_least_waste_takes_what_leaves_the_smallest_shares() -> None:
    sizes = [(8000, 16 * GI), (8000, 32 * GI), (4000, 16 * GI)]
    market = Market(sizes, [1, 1, 1], (1, 1), {0: (500, GI)}, [False] * 3, 1)
    options = [Option(offer, 1, Counter({0: 1})) for offer in range(3)]
    assert least_waste(market, options[:1]).offer == 0
    assert least_waste(market, options[:2]).offer == 0
    assert least_waste(market, options).offer == 2


def market(prices: tuple[float, float], nodes: int) -> Market:
    """Two groups with nodes of 1 and 4 cores; a core is worth 20 in the eyes of the table."""
    sizes, requests = [(1000, 1000), (4000, 1000)], {0: (1000, 0), 1: (500, 0)}
    return Market(sizes, prices, (0.02, 0), requests, [False] * 2, nodes)


BOTH = Counter({0: 1, 1: 1})


@pytest.mark.parametrize(
    ("prices", "nodes", "options", "chosen"),
    [
        ((20, 200), 3, [Option(0, 2, BOTH), Option(1, 1, BOTH)], 0),
        ((50, 200), 12, [Option(0, 2, BOTH), Option(1, 1, BOTH)], 1),
        ((20, 200), 12, [Option(0, 80, BOTH), Option(1, 40, BOTH)], 0),
        ((200, 100), 3, [Option(0, 2, BOTH), Option(1, 1, BOTH)], 1),
        ((200, 200), 3, [Option(0, 2, Counter({0: 1})), Option(1, 1, BOTH)], 1),
    ],
    ids=["cheaper", "preferred size", "of many, the cheaper", "cheaper and fewer", "more pods"],
)
def test_price_weighs_money_against_the_preferred_size(
    prices: tuple[float, float], nodes: int, options: list[Option], chosen: int
) -> None:
    assert price(market(prices, nodes), options).offer == chosen


def test_zone_spread_over_two_groups_takes_turns() -> None:
    """kubernetes/autoscaler issue 9150."""
    web = pods("web", 6, "1", "1Gi", topologySpreadConstraints=[spread(ZONE)])
    there = [node(name, zone, status=_full()) for name, zone in (("a1", "a"), ("b1", "b"))]
    filling = filling_of(cluster_of(*there, web), pool("m", "1500m", price="1", zones="a,b"))
    found = emulate(filling, TOOLS[LEAST_WASTE])
    assert (found.counts, found.rounds, found.waiting) == ((3, 3), 4, 0)


def test_prices_of_cores_and_memory_are_told_by_those_of_nodes() -> None:
    sizes = [(1000 * n, ratio * n << 30) for n in (1, 2, 4) for ratio in (2, 4)]
    found = unit_prices(sizes, [0.025 * cpu / 1000 + 1e-12 * memory for cpu, memory in sizes])
    assert found == pytest.approx((0.000025, 1e-12))


def test_who_can_not_be_helped_waits() -> None:
    filling = filling_of(cluster_of(node("n1"), pods("web", 2, "9")), pool("m", "2", price="1"))
    found = emulate(filling, TOOLS[PRICE])
    assert (found.counts, found.rounds, found.waiting) == ((0,), 0, 2)


def _full() -> Json:
    return {"allocatable": {"cpu": "100m", "memory": "8Gi", "pods": "110"}}
