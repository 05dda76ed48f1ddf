from __future__ import annotations

from planner.descheduler.strategies.limits import EvictionCount, EvictionResult, Limits
from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

TAINTED: Json = {"spec": {"taints": [{"key": "old", "effect": "NoSchedule"}]}}


def old_nodes() -> tuple[Json, ...]:
    """Two nodes that all of their pods should leave."""
    return (
        node("a", **TAINTED),
        node("b", **TAINTED),
        owned_pod("a1", "a"),
        owned_pod("a2", "a", metadata={"namespace": "shop"}),
        owned_pod("b1", "b"),
        owned_pod("b2", "b"),
    )


def left(limits: Limits) -> list[str]:
    return evicted(strategy("RemovePodsViolatingNodeTaints"), *old_nodes(), limits=limits)


def test_without_limits_all_go() -> None:
    assert left(Limits()) == ["a1", "a2", "b1", "b2"]


def test_the_total_ends_the_run() -> None:
    assert left(Limits(total=3)) == ["a1", "a2", "b1"]


def test_a_node_that_has_had_enough_does_not_stop_the_others() -> None:
    assert left(Limits(per_node=1)) == ["a1", "b1"]


def test_a_namespace_that_has_had_enough_does_not_stop_the_others() -> None:
    assert left(Limits(per_namespace=1)) == ["a1", "a2"]


def test_the_total_is_named_before_the_node_and_the_namespace() -> None:
    count = EvictionCount(Limits(total=1, per_node=1, per_namespace=1))
    count.add("default", "a")
    assert count.exceeded("default", "a") is EvictionResult.TOTAL_LIMIT
