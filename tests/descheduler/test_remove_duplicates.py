from __future__ import annotations

from typing import Any

from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

NAME = "RemoveDuplicates"


def replicas(count: int, node_name: str = "a", **changes: Any) -> list[Json]:
    return [owned_pod(f"web-{i}", node_name, **changes) for i in range(count)]


def test_duplicates_go_until_each_node_has_its_share() -> None:
    assert evicted(strategy(NAME), node("a"), node("b"), *replicas(2)) == ["web-1"]
    assert evicted(strategy(NAME), node("a"), node("b"), *replicas(5)) == ["web-3", "web-4"]


def test_with_a_single_node_nothing_goes() -> None:
    assert evicted(strategy(NAME), node("a"), *replicas(2)) == []


def test_nodes_that_the_pods_can_not_use_have_no_share() -> None:
    tainted = node("b", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]})
    assert evicted(strategy(NAME), node("a"), tainted, *replicas(2)) == []


def test_a_cordoned_node_has_a_share_all_the_same() -> None:
    cordoned = node("b", spec={"unschedulable": True})
    assert evicted(strategy(NAME), node("a"), cordoned, *replicas(2)) == ["web-1"]


def test_pods_with_other_images_are_no_duplicates() -> None:
    first, second = (
        owned_pod(f"web-{image}", "a", spec={"containers": [{"name": "m", "image": image}]})
        for image in ("one", "two")
    )
    assert evicted(strategy(NAME), node("a"), node("b"), first, second) == []


def test_kinds_of_owners_can_be_left_out() -> None:
    run = strategy(NAME, {"excludeOwnerKinds": ["ReplicaSet"]})
    assert evicted(run, node("a"), node("b"), *replicas(3)) == []


def test_protected_pods_are_not_counted() -> None:
    protected = replicas(2, spec={"volumes": [{"name": "tmp", "emptyDir": {}}]})
    web = owned_pod("web-9", "a")
    assert evicted(strategy(NAME), node("a"), node("b"), *protected, web) == []


def test_owners_that_do_not_manage_the_pod_count_as_well() -> None:
    reference = {"kind": "Group", "name": "team", "uid": "uid-team"}
    pods = [
        owned_pod(name, "a", owner="web", metadata={"ownerReferences": [reference]})
        for name in ("one", "two")
    ]
    assert evicted(strategy(NAME), node("a"), node("b"), *pods) == ["two"]
