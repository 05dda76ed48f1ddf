"""The node lifecycle and taint eviction controllers' rules, case by case.

The numbers are those of kube-controller-manager's own code: its zone states, its eviction rates,
and what its taint eviction controller makes of tolerations.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from planner.cluster import Cluster
from planner.scenario.unreachable import (
    ZoneState,
    seconds_between_nodes,
    silent_node,
    toleration_seconds,
    unreachable,
    zone_outages,
    zone_state,
)
from planner_models.taints import Taint
from tests.objects import cluster_of, manifest, node, pod

KEY = "node.kubernetes.io/unreachable"
NO_EXECUTE = Taint(key=KEY, effect="NoExecute")


@pytest.mark.parametrize(
    ("ready", "not_ready", "state"),
    [
        (3, 0, "Normal"),
        (0, 1, "FullDisruption"),
        (0, 50, "FullDisruption"),
        (1, 2, "Normal"),  # two nodes are never a disruption, whatever their share
        (1, 3, "PartialDisruption"),
        (2, 3, "PartialDisruption"),  # 60 %
        (3, 3, "Normal"),  # 50 %
        (9, 11, "PartialDisruption"),  # exactly 55 %
        (10, 12, "Normal"),  # 54.5 %
        (45, 55, "PartialDisruption"),
        (46, 54, "Normal"),
        (0, 0, "Normal"),
    ],
)
def test_the_state_of_a_zone(ready: int, not_ready: int, state: ZoneState) -> None:
    assert zone_state(ready, not_ready) == state


@pytest.mark.parametrize(
    ("state", "size", "seconds"),
    [
        ("Normal", 5, 10),
        ("Normal", 5000, 10),
        ("FullDisruption", 3, 10),
        ("FullDisruption", 1667, 10),
        ("PartialDisruption", 50, None),
        ("PartialDisruption", 51, 100),
    ],
)
def test_how_fast_nodes_are_emptied(state: ZoneState, size: int, seconds: int | None) -> None:
    assert seconds_between_nodes(state, size) == seconds


def zones(**sizes: int) -> Cluster:
    return cluster_of(*(node(f"{zone}{i}", zone) for zone, n in sizes.items() for i in range(n)))


def lost(cluster: Cluster, *names: str) -> list[int]:
    return [cluster.node_index[name] for name in names]


def test_a_whole_zone_is_emptied_node_by_node() -> None:
    cluster = zones(a=2, b=3)
    (zone,) = zone_outages(cluster, lost(cluster, "b0", "b1", "b2"))
    assert (zone.zone, zone.size, zone.state, zone.seconds) == ("b", 3, "FullDisruption", 10)


def test_most_of_a_small_zone_keeps_its_pods() -> None:
    cluster = zones(a=2, b=4)
    (zone,) = zone_outages(cluster, lost(cluster, "b0", "b1", "b2"))
    assert (zone.state, zone.seconds) == ("PartialDisruption", None)


def test_nothing_is_evicted_when_every_zone_is_down() -> None:
    cluster = zones(a=1, b=2)
    found = zone_outages(cluster, lost(cluster, "a0", "b0", "b1"))
    assert [(each.state, each.seconds) for each in found] == [("FullDisruption", None)] * 2


def test_nodes_that_were_not_ready_before_count() -> None:
    broken = {"conditions": [{"type": "Ready", "status": "False"}]}
    cluster = cluster_of(
        *(node(f"n{i}") for i in range(4)), node("n4", status=broken), node("other", "b")
    )
    (zone,) = zone_outages(cluster, lost(cluster, "n0", "n1"))
    assert (zone.not_ready, zone.state) == (3, "PartialDisruption")


def test_nodes_excluded_from_disruption_do_not_count() -> None:
    aside = {"labels": {"node.kubernetes.io/exclude-disruption": ""}}
    cluster = cluster_of(node("n0", metadata=aside), node("n1"), node("other", "b"))
    (zone,) = zone_outages(cluster, lost(cluster, "n0", "n1"))
    assert (zone.size, zone.state, zone.lost) == (1, "FullDisruption", (0, 1))


def test_old_zone_labels_come_before_new_ones_and_regions_tell_zones_apart() -> None:
    old = {"labels": {"failure-domain.beta.kubernetes.io/zone": "old"}}
    far = {"labels": {"topology.kubernetes.io/region": "far"}}
    cluster = cluster_of(node("n0"), node("n1", metadata=old), node("n2", metadata=far))
    assert [each.lost for each in zone_outages(cluster, [0, 1])] == [(0,), (1,)]
    assert zone_outages(cluster, [0])[0].size == 1


def tolerating(*tolerations: dict[str, Any]) -> dict[str, Any]:
    return pod("web", "n0", spec={"tolerations": list(tolerations)})


FOR = {"key": KEY, "operator": "Exists", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0),
        ([{**FOR, "tolerationSeconds": 300}], 300),
        ([{**FOR, "tolerationSeconds": 0}], 0),
        ([{**FOR, "tolerationSeconds": -5}], 0),
        ([FOR], None),
        ([{"operator": "Exists"}], None),
        ([{**FOR, "tolerationSeconds": 60}, FOR], 60),  # the first one that answers the taint
        ([FOR, {**FOR, "tolerationSeconds": 60}], None),
        ([{**FOR, "effect": "NoSchedule"}], 0),
    ],
)
def test_how_long_a_pod_stays(tolerations: list[dict[str, Any]], seconds: int | None) -> None:
    cluster = cluster_of(node("n0"), tolerating(*tolerations))
    assert toleration_seconds(cluster.pods[0], [NO_EXECUTE]) == seconds


def test_the_taint_that_is_tolerated_for_the_shortest_time_counts() -> None:
    other = Taint(key="broken", effect="NoExecute")
    shorter = {**FOR, "key": "broken", "tolerationSeconds": 20}
    cluster = cluster_of(node("n0"), tolerating({**FOR, "tolerationSeconds": 300}, shorter))
    assert toleration_seconds(cluster.pods[0], [NO_EXECUTE, other]) == 20


def test_a_manifest_gets_the_tolerations_that_admission_would_give_it() -> None:
    cluster = cluster_of(node("n0"), manifest("web"))
    assert toleration_seconds(cluster.pods[0], [NO_EXECUTE]) == 300


def test_pods_are_deleted_node_after_node() -> None:
    usual = [{**FOR, "tolerationSeconds": 300}]
    pods = [pod(f"p{i}", f"b{i}", spec={"tolerations": usual}) for i in range(3)]
    base = [node("a0", "a"), *(node(f"b{i}", "b") for i in range(3))]
    cluster = cluster_of(*base, *pods)
    found = unreachable(cluster, lost(cluster, "b0", "b1", "b2"), range(3))
    assert found.deleted_at == {0: 350, 1: 360, 2: 370}


def test_a_zone_of_1667_nodes_takes_more_than_four_hours() -> None:
    cluster = zones(a=1, b=1667)
    (zone,) = zone_outages(cluster, range(1, 1668))
    assert zone.seconds is not None
    assert round((len(zone.lost) - 1) * zone.seconds / 3600, 1) == 4.6


def test_a_silent_node_says_nothing_about_its_own_troubles() -> None:
    taints = [
        {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"},
        {"key": "dedicated", "effect": "NoSchedule"},
    ]
    cluster = cluster_of(node("n0", spec={"taints": taints}))
    silent = silent_node(cluster.nodes[0], evicts=True)
    assert [str(taint) for taint in silent.spec.taints] == [
        "dedicated:NoSchedule",
        f"{KEY}:NoSchedule",
        f"{KEY}:NoExecute",
    ]
    assert not silent.ready


def test_which_silent_node_is_emptied_first_is_drawn() -> None:
    cluster = cluster_of(*(node(f"n{i}") for i in range(4)), node("other", "b"))

    orders = {zone_outages(cluster, range(4), Random(seed))[0].lost for seed in range(20)}

    assert zone_outages(cluster, range(4))[0].lost == (0, 1, 2, 3)
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2, 3)}
