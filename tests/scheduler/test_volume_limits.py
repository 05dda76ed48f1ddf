"""NodeVolumeLimits: attach limits of CSI drivers."""

from __future__ import annotations

from typing import Any

from planner.scheduler.framework.plugin import Change, PreFilterResult
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_volume_limits import REASON, NodeVolumeLimits
from tests.scheduler.volume_examples import (
    attachment,
    claim,
    index,
    judged,
    judged_at,
    limit,
    node,
    place,
    pod,
    pre_filter,
    refusals,
    remove,
    state_of,
    storage_class,
    volume,
)

LIMITS = NodeVolumeLimits()
NODES = [node("n1"), node("n2")]


def bound(count: int) -> dict[str, Any]:
    """Claims `c0`, `c1`, ... bound to volumes `v0`, `v1`, ..."""
    return {
        "claims": [claim(f"c{i}", bound_to=f"v{i}") for i in range(count)],
        "volumes": [volume(f"v{i}") for i in range(count)],
    }


def limits(**counts: int | None) -> Any:
    return tuple(limit(name, count) for name, count in counts.items())


def test_a_node_takes_no_more_volumes_than_its_limit() -> None:
    state = state_of(
        NODES,
        [pod("old", "c0", on="n1"), pod("new", "c1")],
        csi_nodes=limits(n1=1, n2=1),
        **bound(2),
    )
    assert refusals(LIMITS, state, "new") == {"n1": REASON}


def test_without_an_allocatable_count_there_is_no_limit_but_zero_is_one() -> None:
    state = state_of(
        [*NODES, node("n3")], [pod("new", "c0")], csi_nodes=limits(n1=0, n2=None), **bound(1)
    )
    assert refusals(LIMITS, state, "new") == {"n1": REASON}


def test_a_volume_that_the_node_has_already_is_not_counted_again() -> None:
    state = state_of(
        NODES,
        [pod("old", "c0", on="n1"), pod("new", "c0")],
        csi_nodes=limits(n1=1, n2=0),
        **bound(1),
    )
    assert refusals(LIMITS, state, "new") == {"n2": REASON}


def test_a_node_over_its_limit_still_takes_pods_that_bring_nothing_new() -> None:
    state = state_of(
        NODES,
        [pod("old", "c0", "c1", on="n1"), pod("new", "c0")],
        csi_nodes=limits(n1=1),
        **bound(2),
    )
    assert refusals(LIMITS, state, "new") == {}


def test_an_unbound_claim_counts_as_a_volume_of_its_class() -> None:
    state = state_of(
        NODES,
        [pod("old", "wait-1", on="n1"), pod("new", "wait-2")],
        claims=[claim("wait-1"), claim("wait-2")],
        classes=[storage_class()],
        csi_nodes=limits(n1=1, n2=1),
    )
    assert refusals(LIMITS, state, "new") == {"n1": REASON}


def test_claims_that_are_gone_are_not_counted_for_running_pods() -> None:
    state = state_of(
        NODES, [pod("old", "gone", on="n1"), pod("new", "c0")], csi_nodes=limits(n1=1), **bound(1)
    )
    assert refusals(LIMITS, state, "new") == {}


def test_an_attachment_that_no_pod_uses_counts_even_twice() -> None:
    state = state_of(
        NODES,
        [pod("new", "c0")],
        csi_nodes=limits(n1=1, n2=1),
        volume_attachments=(attachment("n1", "v0"),),
        **bound(1),
    )
    assert refusals(LIMITS, state, "new") == {"n1": REASON}


def test_an_attachment_that_a_pod_uses_counts_once() -> None:
    state = state_of(
        NODES,
        [pod("old", "c0", on="n1"), pod("new", "c1")],
        csi_nodes=limits(n1=2),
        volume_attachments=(attachment("n1", "v0"),),
        **bound(2),
    )
    assert refusals(LIMITS, state, "new") == {}


def test_placed_pods_count_until_they_are_removed() -> None:
    state = state_of(NODES, [pod("a", "c0"), pod("b", "c1")], csi_nodes=limits(n1=1), **bound(2))
    second = pre_filter(LIMITS, state, "b")
    place(state, "a", on="n1")
    assert judged(state, second) == {"n1": REASON}
    remove(state, "a")
    assert judged(state, second) == {}


def try_change(state: SchedulingState, result: PreFilterResult, name: str, delta: int) -> None:
    victim = index(state, name)
    group, on = int(state.cluster.group_of[victim]), int(state.node_of[victim])
    assert result.filter is not None
    result.filter.dry_run(Change(group, on, delta, False))


def test_preemption_frees_a_volume_only_with_its_last_user() -> None:
    state = state_of(
        NODES,
        [pod("one", "c0", on="n1"), pod("two", "c0", on="n1"), pod("urgent", "c1")],
        csi_nodes=limits(n1=1),
        **bound(2),
    )
    result = pre_filter(LIMITS, state, "urgent")
    try_change(state, result, "one", -1)
    assert judged_at(state, result, "n1") == REASON
    try_change(state, result, "two", -1)
    assert judged_at(state, result, "n1") == ""
    try_change(state, result, "two", 1)
    try_change(state, result, "one", 1)
    assert judged(state, result) == {"n1": REASON}


def test_preemption_of_the_user_of_a_wanted_volume_makes_it_new_again() -> None:
    state = state_of(
        NODES,
        [pod("one", "c0", on="n1"), pod("urgent", "c0", "c1")],
        csi_nodes=limits(n1=1),
        **bound(2),
    )
    result = pre_filter(LIMITS, state, "urgent")
    try_change(state, result, "one", -1)
    assert judged_at(state, result, "n1") == REASON


def test_preemption_does_not_free_a_volume_that_is_listed_as_attached() -> None:
    state = state_of(
        NODES,
        [pod("one", "c0", on="n1"), pod("urgent", "c1")],
        csi_nodes=limits(n1=1),
        volume_attachments=(attachment("n1", "v0"),),
        **bound(2),
    )
    result = pre_filter(LIMITS, state, "urgent")
    try_change(state, result, "one", -1)
    assert judged_at(state, result, "n1") == REASON
