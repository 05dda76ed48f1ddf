from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import planner
from planner.cluster import Cluster
from planner.drain.choices import Choices
from planner.drain.empty_nodes import EmptyingNodes, state_after
from planner.drain.fewest_rounds import Fewest, fewest_rounds, most_at_once
from planner.drain.options import DrainOptions
from planner.drain.rolling import RollingOptions, find_rolling
from planner.drain.rounds import Going, Rounds, Shape
from planner.scheduler.profile import default_profile
from tests.drain.small_clusters import small_cluster

PROFILE = default_profile()
USUAL = settings().max_examples
LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
OPTIONS = DrainOptions((), seeds=2, time_limit=10.0)


def before_the_outage() -> Cluster:
    return planner.load(example="zone-outage-before").snapshot


def fewest_of(cluster: Cluster) -> Fewest:
    emptying, nodes = EmptyingNodes(cluster, PROFILE, OPTIONS), range(len(cluster.nodes))
    return fewest_rounds(emptying, nodes, most_at_once(emptying, nodes))


def partitions(nodes: Sequence[int], number: int) -> Iterator[list[tuple[int, ...]]]:
    """Every way to take the nodes in so many rounds, in every order."""
    if not number:
        if not nodes:
            yield []
        return
    for mask in range(1, 2 ** len(nodes)):
        first = tuple(node for i, node in enumerate(nodes) if mask >> i & 1)
        rest = [node for node in nodes if node not in first]
        yield from ([first, *others] for others in partitions(rest, number - 1))


def fewest_by_partitions(cluster: Cluster, up_to: int) -> int | None:
    """The fewest rounds, up to so many."""
    nodes = range(len(cluster.nodes))
    start = Going(cluster, PROFILE, OPTIONS)
    known: dict[tuple[tuple[int, ...], ...], Going | None] = {(): start}

    def carried_out(sets: tuple[tuple[int, ...], ...]) -> Going | None:
        if sets not in known:
            before, known[sets] = carried_out(sets[:-1]), None
            if before is not None:
                gone = {node for each in sets for node in each}
                done = before.attempt(sets[-1], [node for node in nodes if node not in gone])
                known[sets] = None if done is None else before.after(done)
        return known[sets]

    for number in range(1, up_to + 1):
        if any(carried_out(tuple(sets)) for sets in partitions(nodes, number)):
            return number
    return None


@given(st.integers(0, 10_000))
@settings(max_examples=USUAL // 20, suppress_health_check=[HealthCheck.too_slow])
def test_no_partition_into_rounds_has_fewer(seed: int) -> None:
    cluster = small_cluster(seed, most_nodes=4)
    found = fewest_of(cluster)
    fewest = fewest_by_partitions(cluster, len(cluster.nodes))
    assert (len(found.rolling.rounds) if found.rolling.possible else None) == fewest
    assert fewest is None or found.proven


@pytest.mark.skipif(not LONG, reason="PLANNER_HYPOTHESIS_PROFILE=long: minutes for each cluster")
@pytest.mark.parametrize("seed", range(12))
def test_no_partition_of_up_to_8_nodes_has_fewer_rounds(seed: int) -> None:
    cluster = small_cluster(seed, most_nodes=8)
    found = fewest_of(cluster)
    if found.rolling.possible:
        assert found.proven
        assert fewest_by_partitions(cluster, len(found.rolling.rounds) - 1) is None


@pytest.fixture(scope="module")
def fewest() -> Fewest:
    return fewest_of(before_the_outage())


def test_two_rounds_are_the_fewest_because_each_zone_keeps_two_nodes(fewest: Fewest) -> None:
    assert fewest.proven
    assert fewest.at_once.explained
    assert (fewest.at_once.most, fewest.bound, len(fewest.rolling.rounds)) == (6, 2, 2)
    assert [(need.domain, need.kept, int(need.needed[0])) for need in fewest.at_once.needs] == [
        ("eu-1a", 2, 4350),
        ("eu-1b", 2, 4350),
        ("eu-1c", 2, 4350),
    ]


def test_shapes_that_none_beats(fewest: Fewest) -> None:
    choices = Choices(before_the_outage(), range(12), PROFILE, OPTIONS).unbeaten(fewest)
    shapes = [
        (len(c.rolling.rounds), c.rolling.shape.nodes_at_once, c.rolling.shape.extra_nodes)
        for c in choices
        if c.rolling.possible
    ]
    assert shapes == [(2, 6, 0), (4, 3, 0), (12, 1, 0), (4, 3, 3), (2, 6, 6), (1, 12, 12)]
    assert [c.rolling.evictions for c in choices[3:6]] == [51, 51, 51]
    assert [c.rolling.waves for c in choices[3:6]] == [12, 12, 12]
    assert max(c.rolling.evictions for c in choices) <= 76
    zone = choices[-1]
    assert zone.key is not None
    assert not zone.rolling.possible


def test_every_node_has_one_turn_and_is_empty_then() -> None:
    cluster = before_the_outage()
    rolling = Rounds(cluster, range(12), PROFILE, OPTIONS).plan(Shape(3))
    assert sorted(node for each in rolling.rounds for node in each.aim.drained) == list(range(12))
    for each in rolling.rounds:
        assert not set(each.aim.drained) & set(state_after(each).node_of.tolist())


def test_with_extra_nodes_no_pod_moves_twice() -> None:
    rolling = Rounds(before_the_outage(), range(12), PROFILE, OPTIONS).plan(Shape(3, 3))
    evicted = [pod for each in rolling.rounds for pod in each.evicted]
    assert len(evicted) == len(set(evicted)) == 51
    assert [rolling.start.nodes[node].name for node in rolling.extra] == [
        "a1-extra",
        "b1-extra",
        "c4-extra",
    ]


def test_more_nodes_at_once_than_can_be_empty_together_are_impossible() -> None:
    asked = RollingOptions(nodes_at_once=7)
    cluster = before_the_outage()
    found = find_rolling(cluster, DrainOptions(tuple(range(12)), seeds=2), asked, PROFILE)
    assert (found.too_many, found.at_once.most) == (True, 6)


def test_single_nodes_take_hardly_more_waves_than_one_for_each() -> None:
    rolling = Rounds(before_the_outage(), range(12), PROFILE, OPTIONS).plan(Shape(1))
    assert (rolling.evictions, rolling.waves) == (62, 16)
