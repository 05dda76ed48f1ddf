"""LowNodeUtilization and HighNodeUtilization: nodes with 4 cores, pods with half of one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

LOW = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


def pods_on(node_name: str, count: int, **changes: Any) -> list[Json]:
    return [owned_pod(f"{node_name}-{i}", node_name, **changes) for i in range(count)]


def low(*objects: Json, evictor: Json | None = None, **args: object) -> list[str]:
    return evicted(strategy("LowNodeUtilization", {**LOW, **args}, evictor), *objects)


def high(*objects: Json, **args: object) -> list[str]:
    given = {"thresholds": {"cpu": 30}, **args}
    return evicted(strategy("HighNodeUtilization", given), *objects)


def test_pods_leave_a_node_until_it_is_at_its_target() -> None:
    """6 pods are 75 %; two evictions bring the node to 50 %. Equal pods go last name first."""
    assert low(node("a"), node("b"), *pods_on("a", 6)) == ["a-5", "a-4"]


def test_the_fullest_node_comes_first_and_the_room_below_ends_it() -> None:
    """Node c may take 50 % of 4 cores: four pods, after which nothing is left."""
    full = [*pods_on("a", 7), *pods_on("b", 8)]
    assert low(node("a"), node("b"), node("c"), *full) == ["b-7", "b-6", "b-5", "b-4"]


@pytest.mark.parametrize("cordon", [True, False])
def test_a_cordoned_node_is_not_a_place_to_go_to(cordon: bool) -> None:
    spare = node("b", spec={"unschedulable": cordon})
    assert bool(low(node("a"), spare, *pods_on("a", 6))) == (not cordon)


def test_as_many_nodes_have_to_be_below_as_is_said() -> None:
    assert low(node("a"), node("b"), *pods_on("a", 6), numberOfNodes=1) == []
    assert low(node("a"), node("b"), node("c"), *pods_on("a", 6), numberOfNodes=1) != []


def test_without_a_node_above_its_target_nothing_goes() -> None:
    assert low(node("a"), node("b"), *pods_on("a", 4)) == []


def test_thresholds_may_be_deviations_from_the_average() -> None:
    """The average of 75 % and 25 % is 50 %: 40 and 60 are the limits, one eviction is enough."""
    args = {"thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 15}}
    objects = (node("a"), node("b"), *pods_on("a", 6), *pods_on("b", 2))
    assert low(*objects, useDeviationThresholds=True, **args) == ["a-5"]


def test_a_node_gives_no_more_than_its_limit() -> None:
    limited = {"evictionLimits": {"node": 1}}
    assert low(node("a"), node("b"), *pods_on("a", 6), **limited) == ["a-5"]


def test_pods_of_excluded_namespaces_stay() -> None:
    excluded = {"evictableNamespaces": {"exclude": ["default"]}}
    assert low(node("a"), node("b"), *pods_on("a", 6), **excluded) == []


def test_a_pod_has_to_tolerate_all_taints_of_some_target() -> None:
    """Even those that are only a preference."""
    tainted = node("b", spec={"taints": [{"key": "x", "effect": "PreferNoSchedule"}]})
    assert low(node("a"), tainted, *pods_on("a", 6)) == []


def test_nearly_empty_nodes_give_all_that_the_others_have_room_for() -> None:
    objects = (node("a"), node("b"), *pods_on("a", 2), *pods_on("b", 7))
    assert high(*objects) == ["a-1"]
    roomy = (node("a"), node("b"), *pods_on("a", 2), *pods_on("b", 4))
    assert high(*roomy) == ["a-1", "a-0"]


def test_if_all_nodes_are_nearly_empty_nothing_goes() -> None:
    assert high(node("a"), node("b"), *pods_on("a", 1)) == []


def test_pods_without_a_request_for_the_resource_may_be_left_out() -> None:
    silent: Json = {"containers": [{"name": "main"}]}
    objects = (node("a"), node("b"), *pods_on("a", 1, spec=silent), *pods_on("b", 4))
    assert high(*objects) == ["a-0"]
    assert high(*objects, evictionModes=["OnlyThresholdingResources"]) == []
