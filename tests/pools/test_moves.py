"""Nodes with moves: fewer nodes where a few running pods may be evicted."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.pools import ScaleUpOptions, offers_of, read_pools, scale_up
from planner.pools.fill import Filling
from planner.pools.moves import WithMoves, instead, scale_up_with_moves
from planner.pools.moves.bound import least_cost
from tests.objects import Json, cluster_of, inventory_of, node, template, workload
from tests.pools.moving import PROFILE, all_run, asks, budget, running
from tests.pools.templates import pool

LARGE = pool("large", "4", price="5")
SMALL = pool("small", "1", price="1")
TWO = (node("n1"), node("n2"))


def asked(cluster: Cluster, moves: int, *pools: Json, **options: Any) -> WithMoves:
    offers = offers_of(read_pools(inventory_of(*pools).nodes), "price")
    given = ScaleUpOptions(**{"seeds": 3, "rollout_seeds": 2, **options})
    return scale_up_with_moves(cluster, range(len(cluster.pods)), offers, PROFILE, given, moves)


def added(answer: WithMoves) -> dict[str, int]:
    assert answer.found.best is not None
    counts = zip(answer.found.offers, answer.found.best.added.counts, strict=True)
    return {offer.pool.name: n for offer, n in counts if n}


def evicted(answer: WithMoves) -> list[str]:
    assert answer.rearranged is not None
    waves = answer.rearranged.tried.waves
    return [answer.found.start.pods[p].name for wave in waves for p in wave.evictions]


def one_on_each(*more: Json) -> Cluster:
    """A pod of 1 CPU on each of two nodes of 4 CPU, and one that waits for a whole node."""
    web = running("web", "1", ["n1", "n2"])
    return cluster_of(*TWO, *web, *running("train", "4", [], waiting=1), *more)


def test_one_eviction_saves_the_node() -> None:
    answer = asked(one_on_each(), 1, LARGE)
    assert (added(answer), len(evicted(answer)), answer.saved) == ({}, 1, 5)
    assert (answer.found.proven, answer.found.bound, answer.fewest) == (True, 0, True)


def test_no_more_pods_move_than_need_to() -> None:
    assert asked(one_on_each(), 5, LARGE).evictions == 1


def test_without_moves_it_is_the_answer_by_nodes_alone() -> None:
    answer = asked(one_on_each(), 0, LARGE)
    assert answer.rearranged is None
    assert added(answer) == {"large": 1}


def test_too_few_moves_are_proven_to_save_nothing() -> None:
    two = running("web", "1", ["n1", "n1", "n2", "n2"])
    cluster = cluster_of(*TWO, *two, *running("train", "4", [], waiting=1))
    one = asked(cluster, 1, LARGE)
    assert (added(one), one.evictions, one.found.proven) == ({"large": 1}, 0, True)
    assert (added(asked(cluster, 2, LARGE)), asked(cluster, 2, LARGE).evictions) == ({}, 2)


def test_a_budget_that_allows_nothing_keeps_its_pods() -> None:
    answer = asked(one_on_each(budget("web", 0)), 5, LARGE)
    assert (added(answer), answer.evictions) == ({"large": 1}, 0)
    assert answer.found.proven


def test_a_budget_of_one_asks_for_two_waves() -> None:
    """Both nodes have to lose a pod, and may not at once."""
    nodes = [node(f"n{i}") for i in range(3)]
    web = running("web", "1", ["n0", "n1", "n2", "n2"])
    train = running("train", "4", [], waiting=2)
    answer = asked(cluster_of(*nodes, *web, *train, budget("web", 1)), 2, LARGE)
    assert answer.rearranged is not None
    assert [len(wave.evictions) for wave in answer.rearranged.tried.waves] == [1, 1]
    assert added(answer) == {}


def test_pods_without_a_controller_stay() -> None:
    bare = [dict(each) for each in running("web", "1", ["n1", "n2"])[1:]]
    for each in bare:
        each["metadata"] = {**each["metadata"], "ownerReferences": []}
    answer = asked(cluster_of(*TWO, *bare, *running("train", "4", [], waiting=1)), 5, LARGE)
    assert (added(answer), answer.evictions) == ({"large": 1}, 0)


def test_a_small_node_and_a_move_are_cheaper_than_a_large_node() -> None:
    """Whoever leaves finds no room on the other nodes."""
    web = running("web", "1", ["n1"])
    full = running("full", "4", ["n2"])
    cluster = cluster_of(*TWO, *web, *full, *running("train", "4", [], waiting=1))
    answer = asked(cluster, 1, SMALL, LARGE)
    assert (added(answer), evicted(answer), answer.saved) == ({"small": 1}, ["web-0"], 4)
    assert answer.found.proven


def test_a_pod_that_no_new_node_takes_gets_the_place_of_others() -> None:
    answer = asked(one_on_each(), 1, SMALL)
    assert [len(each.never) for each in (answer.without, answer.found)] == [1, 0]
    assert (added(answer), answer.evictions, answer.found.proven) == ({}, 1, True)


def test_a_pod_that_no_node_at_all_takes_is_still_told() -> None:
    cluster = one_on_each(*running("huge", "9", [], waiting=1))
    answer = asked(cluster, 1, LARGE)
    assert [cluster.pods[each.pod].name for each in answer.found.never] == ["huge-0"]
    assert (added(answer), answer.evictions) == ({}, 1)


def test_limits_of_pools_that_nodes_alone_do_not_keep() -> None:
    cluster = one_on_each(*running("batch", "4", [], waiting=1))
    answer = asked(cluster, 1, pool("large", "4", price="5", max="1"))
    assert (answer.without.accepted, answer.found.accepted) == (False, True)
    assert (added(answer), answer.evictions, answer.saved) == ({"large": 1}, 1, 0)


def test_nodes_that_come_in_any_case_come_with_moves_too() -> None:
    answer = asked(one_on_each(), 1, pool("small", "1", price="1", min="1"), LARGE)
    assert added(answer) == {"small": 1}
    assert answer.evictions == 1


@pytest.mark.parametrize("survive", ["node", "none"])
def test_failures_that_have_to_be_survived_count_after_the_moves(survive: str) -> None:
    """Without a spare node nobody takes the pods of one that fails."""
    answer = asked(one_on_each(), 1, LARGE, survive=survive)
    assert bool(added(answer)) == (survive == "node")


def test_everybody_runs_under_twenty_seeds() -> None:
    answer = asked(one_on_each(), 1, LARGE)
    done = answer.rearranged
    assert done is not None
    assert done.seeds == 20
    assert all_run(done.added, answer.found.goal, done.tried.waves, seeds=40)


def test_few_moves_are_found_without_being_asked_for() -> None:
    cluster = one_on_each()
    offers = offers_of(read_pools(inventory_of(LARGE).nodes), "price")
    every = range(len(cluster.pods))
    found = scale_up(cluster, every, offers, PROFILE, ScaleUpOptions(seeds=3, rollout_seeds=2))
    better = instead(found, PROFILE)
    assert better is not None
    assert (better.evictions, better.saved) == (1, 5)


def test_nothing_is_said_where_no_moves_help() -> None:
    cluster = cluster_of(*TWO, *running("full", "4", ["n1", "n2"], waiting=1))
    offers = offers_of(read_pools(inventory_of(LARGE).nodes), "price")
    every = range(len(cluster.pods))
    found = scale_up(cluster, every, offers, PROFILE, ScaleUpOptions(seeds=3, rollout_seeds=2))
    assert instead(found, PROFILE) is None


def test_sums_bound_the_cost_whoever_moves() -> None:
    """6 CPU are free on two nodes, 8 are asked for: 2 have to come."""
    cluster = cluster_of(
        *TWO, *running("web", "1", ["n1", "n2"]), *running("train", "4", [], waiting=2)
    )
    offers = offers_of(read_pools(inventory_of(SMALL, LARGE).nodes), "price")
    filling = Filling(cluster, tuple(cluster.pending.tolist()), offers, PROFILE)
    assert least_cost(filling, moves=5) == 2


@pytest.mark.parametrize(("moves", "cost"), [(0, 15), (1, 10), (2, 8), (3, 8)])
def test_so_many_evictions_make_room_for_so_many_pods(moves: int, cost: int) -> None:
    """Three pods need a whole node each, and an eviction empties one; 6 CPU have to come anyway."""
    cluster = cluster_of(
        *TWO, *running("web", "1", ["n1", "n2"]), *running("train", "4", [], waiting=3)
    )
    offers = offers_of(read_pools(inventory_of(LARGE).nodes), "price")
    filling = Filling(cluster, tuple(cluster.pending.tolist()), offers, PROFILE)
    assert least_cost(filling, moves) == cost


def test_zones_that_have_to_open_get_their_node_all_the_same() -> None:
    small = pool("small", "1", price="1", zones="a,b")
    answer = asked(one_on_each(), 1, small, LARGE, zones="given")
    assert (added(answer), answer.evictions) == ({"small": 1}, 1)


def test_pods_of_daemon_sets_stay_on_their_nodes() -> None:
    agent = running("agent", "1", ["n1", "n2"])
    agent[0] = workload("DaemonSet", "agent", {"template": template({"app": "agent"}, asks("1"))})
    for each in agent[1:]:
        each["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    answer = asked(
        cluster_of(*TWO, *agent, *running("train", "4", [], waiting=1)),
        5,
        pool("l", "5", price="5"),
    )
    assert (added(answer), answer.evictions, answer.found.proven) == ({"l": 1}, 0, True)


def test_members_of_stateful_sets_come_back_after_they_are_gone() -> None:
    """Their names are taken until then."""
    db = running("db", "1", ["n1", "n2"])
    db[0]["kind"] = "StatefulSet"
    for each in db[1:]:
        each["metadata"]["ownerReferences"][0]["kind"] = "StatefulSet"
    answer = asked(cluster_of(*TWO, *db, *running("train", "4", [], waiting=1)), 1, LARGE)
    assert answer.evictions == 1
    done = answer.rearranged
    assert done is not None
    assert all_run(done.added, answer.found.goal, done.tried.waves, seeds=20)


def test_higher_priorities_drive_nobody_off() -> None:
    """A pod that is evicted would find a node only by preemption."""
    low = {"priority": 0, **asks("3")}
    high = {"priority": 100, **asks("2")}
    cluster = cluster_of(
        *TWO,
        *running("low", "3", ["n2"], low),
        *running("high", "2", ["n1"], high),
        *running("train", "4", [], waiting=1),
    )
    answer = asked(cluster, 1, LARGE)
    assert (added(answer), answer.evictions) == ({"large": 1}, 0)
