"""Zones and nodes of the packaged example fail, one at a time."""

from __future__ import annotations

import pytest

from planner.replay import violations
from planner.scenario import (
    LoseNodes,
    Manner,
    agreement,
    apply_changes,
    returned,
    settle,
    timeline,
)
from planner.scheduler.profile import default_profile
from tests.scenario.examples import (
    after,
    example,
    named,
    nodes_of,
    running,
    waiting,
    zone_lost,
)


def test_most_pods_of_an_unreachable_zone_wait_because_it_still_counts_for_spread() -> None:
    found = zone_lost("eu-1c", "unreachable")
    assert (found.lost, found.waiting) == (17, 12)
    assert waiting(found) == {"api": 4, "auth": 1, "cart": 2, "search": 2, "web": 3}
    assert running(found) == {
        "api": (4, 4, 0),
        "auth": (1, 1, 0),
        "batch": (4, 4, 0),
        "cart": (2, 2, 0),
        "feed": (3, 3, 0),
        "search": (3, 2, 0),
        "web": (3, 3, 0),
    }
    api = next(each for each in found.workloads if each.workload.name == "api")
    assert api.before == (4, 4, 4, 0)
    assert api.message == (
        "0/12 nodes are available: 4 node(s) had untolerated taint(s), 8 node(s) didn't match pod "
        "topology spread constraints."
    )


def test_all_pods_come_back_when_the_nodes_of_the_zone_are_removed() -> None:
    found = zone_lost("eu-1c", "removed")
    assert (found.lost, found.waiting) == (17, 0)
    counts = {name: sorted(each) for name, each in running(found).items()}
    assert counts == {
        "api": [0, 6, 6],
        "auth": [0, 1, 2],
        "batch": [0, 4, 4],
        "cart": [0, 3, 3],
        "feed": [0, 3, 3],
        "search": [0, 3, 4],
        "web": [0, 4, 5],
    }
    assert [round(100 * each.share) for each in found.cpu] == [39, 59]


@pytest.mark.parametrize("manner", ["unreachable", "removed"])
def test_every_seed_leaves_the_same_number_waiting(manner: Manner) -> None:
    found = [zone_lost("eu-1c", manner, seed=seed) for seed in range(20)]
    assert {each.waiting for each in found} == {12 if manner == "unreachable" else 0}
    assert 1 <= agreement(found) <= 20


@pytest.mark.parametrize(
    ("zone", "unreachable", "hardest"),
    [
        ("eu-1a", 12, "search 3 of 7"),
        ("eu-1b", 12, "api 4 of 12"),
        ("eu-1c", 12, "api 4 of 12"),
    ],
)
def test_each_zone(zone: str, unreachable: int, hardest: str) -> None:
    silent, removed = zone_lost(zone, "unreachable"), zone_lost(zone, "removed")
    assert (silent.lost, silent.waiting, removed.waiting) == (17, unreachable, 0)
    line = silent.summary
    assert line.hit_hardest is not None
    assert f"{line.hit_hardest.name} {line.its_lost} of {line.its_pods}" == hardest
    assert (round(100 * removed.cpu[1].share), removed.cpu[1].allocatable) == (59, 32_000)


@pytest.mark.parametrize("name", [node.name for node in example().nodes])
def test_no_single_node_matters(name: str) -> None:
    cluster = example()
    silent = after(cluster, LoseNodes(named(cluster, name), "unreachable"))
    found = after(cluster, LoseNodes(named(cluster, name), "removed"))
    assert (silent.waiting, found.waiting) == (0, 0)
    assert (round(100 * found.cpu[1].share), found.cpu[1].allocatable) == (43, 44_000)
    assert found.summary.its_lost == 1
    assert (found.summary.its_pods == 3) == (name in ("a4", "b3", "c4"))
    assert found.lost == 5 if name in ("a4", "b3") else found.lost in (4, 5)


def test_pods_that_are_deleted_first_may_find_a_node_while_the_others_still_count() -> None:
    """search has 3/2/2: without the first of its three pods it is 2/2/2, and one more fits."""
    found = zone_lost("eu-1a", "unreachable")
    assert running(found)["search"] in ((0, 3, 2), (0, 2, 3))
    assert waiting(found)["search"] == 2


def test_what_moved_away_stays_away_when_the_nodes_come_back() -> None:
    cluster, profile = example(), default_profile()
    lose = LoseNodes(nodes_of(cluster, "eu-1c"), "removed")
    back = returned(settle(apply_changes(cluster, [lose]), profile))
    assert not back.ghosts
    assert not len(back.pods_on(back.node_index["c1"]))
    found = violations(back, profile)
    assert sum(each.excess for each in found) == 27
    assert len({back.workloads[each.group] for each in found}) == 5


def test_terminating_pods_are_gone_when_silent_nodes_come_back() -> None:
    cluster, profile = example(), default_profile()
    lose = LoseNodes(nodes_of(cluster, "eu-1c"), "unreachable")
    settled = settle(apply_changes(cluster, [lose]), profile)
    assert len(settled.cluster.running) == 39 + 17
    back = returned(settled)
    assert (len(back.running), len(back.pending)) == (39, 12)
    again = settle(apply_changes(back, []), profile)
    assert not len(again.cluster.pending)


def test_the_timeline_of_an_unreachable_zone() -> None:
    cluster = example()
    changed = apply_changes(cluster, [LoseNodes(nodes_of(cluster, "eu-1c"), "unreachable")])
    assert [(each.seconds, each.event, each.count) for each in timeline(changed)] == [
        (50, "notReady", 4),
        (50, "firstTainted", 1),
        (80, "lastTainted", 1),
        (350, "firstDeleted", 5),
        (380, "lastDeleted", 4),
    ]
