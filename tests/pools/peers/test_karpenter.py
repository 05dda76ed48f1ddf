"""Karpenter's provisioning and consolidation: what its own suites expect, told anew."""

from __future__ import annotations

from typing import Any

import pytest

from planner.pools import ScaleUpOptions, offers_of, scale_up
from planner.pools.fill import Filling
from planner.pools.peers.compare import KARPENTER, TOOLS, Emulated, baselines, emulate
from planner.pools.peers.consolidation import Candidates, consolidated
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node
from tests.pools.peers.worlds import affinity, filling_of, pods, spread
from tests.pools.templates import pool
from tests.pools.test_machine_deployments import read
from tests.pools.test_node_pools import kind, node_pool, table

SIZES = tuple(
    pool(f"c{cpu}", str(cpu), f"{4 * cpu}Gi", price=str(cpu), zones="a,b,c") for cpu in (1, 2, 4, 8)
)


def tiny(zone: str = "a") -> Json:
    """A node that takes nobody, so that there is a cluster."""
    return node(f"tiny-{zone}", zone, status={"allocatable": {"cpu": "10m", "pods": "1"}})


def provisioned(*workloads: Json, offers: tuple[Json, ...] = SIZES) -> tuple[Filling, Emulated]:
    filling = filling_of(cluster_of(tiny(), *workloads), *offers)
    return filling, emulate(filling, TOOLS[KARPENTER])


def nodes(filling: Filling, found: Emulated) -> dict[str, int]:
    """How many of each pool, whatever the zone."""
    total: dict[str, int] = {}
    for offer, n in zip(filling.offers, found.counts, strict=True):
        if n:
            total[offer.pool.name] = total.get(offer.pool.name, 0) + n
    return total


@pytest.mark.parametrize(
    ("workloads", "expected"),
    [
        ([pods("web", 1, "500m")], {"c1": 1}),
        ([pods("web", 4, "900m")], {"c4": 1}),
        ([pods("web", 3, "5")], {"c8": 3}),
        ([pods("large", 1, "6"), pods("small", 2, "1")], {"c8": 1}),
        ([pods("web", 3, "500m", **affinity("podAntiAffinity", HOSTNAME))], {"c1": 3}),
        ([pods("web", 2, "500m", hostPort=8080)], {"c1": 2}),
    ],
    ids=[
        "the cheapest that fits",
        "one larger node rather than four",
        "no two fit on the largest",
        "large ones first, small ones fill up",
        "a node for each that keeps away",
        "a node for each host port",
    ],
)
def test_pods_fill_claims_that_become_the_cheapest_offer(
    workloads: list[Json], expected: dict[str, int]
) -> None:
    filling, found = provisioned(*workloads)
    assert (nodes(filling, found), found.rounds, found.waiting) == (expected, 1, 0)


@pytest.mark.parametrize(
    ("replicas", "rules", "expected"),
    [
        (6, {"topologySpreadConstraints": [spread(ZONE)]}, [1, 1, 1]),
        (4, {"topologySpreadConstraints": [spread(ZONE)]}, [1, 1, 1]),
        (3, affinity("podAffinity", ZONE), [1, 0, 0]),
        (2, {"nodeSelector": {ZONE: "b"}}, [0, 1, 0]),
        (3, affinity("podAntiAffinity", ZONE), [1, 0, 0]),
    ],
    ids=[
        "spread over all zones that pools have",
        "the one too many goes to the zone with the fewest",
        "one zone for those who belong together",
        "the zone that the pod asks for",
        "until its zone is known, a pod that keeps away blocks all of them",
    ],
)
def test_zones(replicas: int, rules: dict[str, Any], expected: list[int]) -> None:
    filling, found = provisioned(pods("web", replicas, "500m", **rules))
    first = TOOLS[KARPENTER](filling, found.counts)
    offers = list(zip(filling.offers, first, strict=True))
    assert [sum(n for offer, n in offers if offer.zone == zone) for zone in "abc"] == expected


def test_for_hosts_the_smallest_count_is_taken_as_zero() -> None:
    filling, found = provisioned(
        pods("web", 6, "500m", topologySpreadConstraints=[spread(HOSTNAME, 2)])
    )
    assert nodes(filling, found) == {"c1": 3}


def test_nodes_that_are_there_come_first() -> None:
    filling = filling_of(cluster_of(node("n1"), pods("web", 9, "500m")), *SIZES)
    assert nodes(filling, emulate(filling, TOOLS[KARPENTER])) == {"c1": 1}


def test_limits_are_kept_with_the_largest_type_that_a_claim_could_be() -> None:
    types = table(kind("m", 4), kind("l", 8))
    pools = read(node_pool(limits={"cpu": "12"}), types).pools
    cluster = cluster_of(tiny(), pods("web", 3, "3500m"))
    offers = offers_of(pools, "price")
    filling = Filling(cluster, tuple(cluster.pending.tolist()), offers, default_profile())
    found = emulate(filling, TOOLS[KARPENTER])
    assert nodes(filling, found) == {"general-l": 1, "general-m": 1}
    assert found.waiting == 0


def test_an_empty_node_goes() -> None:
    filling, found = provisioned(pods("web", 1, "3"))
    placed = found.cluster.node_of
    gone = found.cluster.with_placement({pod: -2 for pod in range(len(placed)) if placed[pod] >= 0})
    after, evicted = consolidated(filling, Emulated(found.counts, 1, 0, gone, found.added))
    assert (nodes(filling, after), evicted) == ({}, 0)


def half_empty() -> tuple[Filling, Emulated]:
    """Two nodes of 8 cores with one pod of 1 core each, after others have gone."""
    filling, found = provisioned(pods("gone", 2, "6"), pods("web", 2, "1"))
    cluster, keep = found.cluster, {}
    for pod, record in enumerate(cluster.pods):
        if record.labels.get("app") == "gone":
            keep[pod] = -2
    names = [name for name, _ in found.added]
    web = [pod for pod, record in enumerate(cluster.pods) if record.labels.get("app") == "web"]
    for pod, name in zip(web, names, strict=True):
        keep[pod] = cluster.node_index[name]
    sparse = cluster.with_placement(keep)
    return filling, Emulated(found.counts, 1, 0, sparse, found.added)


def test_several_nodes_become_one_cheaper_one() -> None:
    filling, found = half_empty()
    assert nodes(filling, found) == {"c8": 2}
    after, evicted = consolidated(filling, found)
    assert (nodes(filling, after), after.waiting) == ({"c2": 1}, 0)
    assert evicted >= 2


def test_a_node_goes_whose_pods_fit_elsewhere() -> None:
    filling, found = half_empty()
    command = Candidates(filling, found).command()
    assert command is not None
    assert len(command.nodes) == 2
    assert filling.offers[command.replacement or 0].pool.name == "c2"


def test_nothing_is_replaced_by_two_nodes() -> None:
    """kubernetes-sigs/karpenter issue 1442: two small nodes would be cheaper than a large one."""
    rules = affinity("podAntiAffinity", HOSTNAME)
    dear = (
        pool("large", "8", "32Gi", price="10", zones="a"),
        pool("small", "1", "4Gi", price="1", zones="a"),
    )
    filling = filling_of(
        cluster_of(tiny(), pods("web", 2, "500m", **rules), pods("job", 1, "4")), *dear
    )
    found = emulate(filling, TOOLS[KARPENTER])
    assert Candidates(filling, found).command() is None


def test_issue_2457_two_small_nodes_where_karpenter_takes_one_large_one() -> None:
    """kubernetes-sigs/karpenter issue 2457: pods of 3 and of 1 CPU come together.

    What a kubelet keeps for itself makes both too much for 4 CPU, so the claim that began with the
    first grows to 8; 4 and 2 CPU cost less. kube-scheduler fills these by itself if the larger pod
    has its turn first: of equal ones the small pod might take the larger node.
    """
    sizes = tuple(
        pool(f"c{cpu}", f"{cpu - 0.1:.1f}", f"{2 * cpu}Gi", price=str(cpu), zones="a")
        for cpu in (2, 4, 8)
    )
    cluster = cluster_of(tiny(), pods("analysis", 1, "3", priority=10), pods("report", 1, "1"))
    filling = filling_of(cluster, *sizes)
    assert nodes(filling, emulate(filling, TOOLS[KARPENTER])) == {"c8": 1}
    profile, every = default_profile(), range(len(cluster.pods))
    found = scale_up(cluster, every, filling.offers, profile, ScaleUpOptions())
    assert found.best is not None
    chosen = zip(filling.offers, found.best.added.counts, strict=True)
    assert {offer.pool.name: count for offer, count in chosen if count} == {"c4": 1, "c2": 1}


def test_pods_with_volumes_are_not_compared() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    cluster = cluster_of(tiny(), pods("web", 1, "500m", volumes=volumes))
    assert baselines(filling_of(cluster, *SIZES)) == ()
