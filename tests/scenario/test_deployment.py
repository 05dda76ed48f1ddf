"""How a Deployment's controller scales ReplicaSets, case by case.

The numbers are those of Kubernetes v1.36: of its documentation, and of the decisions that its own
tests of `pkg/controller/deployment` pin down.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.scenario.deployment import Revision, Strategy, look, strategy_of
from planner_models.workload import Deployment


def deployment(replicas: int, surge: int | str, unavailable: int | str) -> Deployment:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    spec = {"replicas": replicas, "strategy": {"rollingUpdate": rolling}}
    return Deployment.model_validate({"metadata": {"name": "web"}, "spec": spec})


def sizes(strategy: Strategy, new: Revision, *old: Revision) -> tuple[int, ...]:
    """The new ReplicaSet's size after one look, then those of the old ones in the given order."""
    scaled, others = look(strategy, new, old)
    found = {each.name: each.size for each in others}
    return scaled.size, *(found[each.name] for each in old)


def healthy(name: str, size: int, created: int = 0, **changes: Any) -> Revision:
    return Revision(name, size, **{"available": size, "pods": size, "created": created, **changes})


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        pytest.param(3, "25%", "25%", (1, 0), id="surge-rounds-up-and-unavailable-down"),
        pytest.param(12, "25%", "25%", (3, 3), id="whole-quarters"),
        pytest.param(2, "0%", "1%", (0, 1), id="one-is-unavailable-where-both-come-to-none"),
        pytest.param(1, "0%", "1%", (0, 1), id="even-if-it-is-the-only-one"),
        pytest.param(2, "1%", "25%", (1, 0), id="a-surge-of-one-percent-is-a-pod"),
        pytest.param(10, 2, 0, (2, 0), id="numbers-stay-as-they-are"),
        pytest.param(4, "200%", 0, (8, 0), id="a-surge-may-be-more-than-as-many-again"),
        pytest.param(4, 0, 9, (0, 4), id="no-more-are-unavailable-than-there-are"),
        pytest.param(0, "25%", "25%", (0, 0), id="no-replicas"),
    ],
)
def test_percentages_become_pods(
    replicas: int, surge: int | str, unavailable: int | str, expected: tuple[int, int]
) -> None:
    found = strategy_of(deployment(replicas, surge, unavailable))
    assert (found.surge, found.unavailable) == expected


@pytest.mark.parametrize(
    ("surge", "old", "new", "expected"),
    [
        pytest.param(0, 10, 0, 0, id="no-surge-no-new-pod"),
        pytest.param(2, 10, 0, 2, id="as-many-as-the-surge"),
        pytest.param(2, 5, 0, 7, id="and-as-old-ones-are-missing"),
        pytest.param(2, 10, 2, 2, id="no-more-than-the-surge"),
        pytest.param(2, 2, 11, 10, id="too-many-new-ones-go"),
        pytest.param(9, 10, 5, 9, id="as-far-as-the-sum-allows"),
        pytest.param(20, 10, 0, 10, id="never-more-than-replicas"),
    ],
)
def test_the_new_replica_set_grows_within_the_surge(
    surge: int, old: int, new: int, expected: int
) -> None:
    strategy = Strategy(10, surge, 0)
    # None of the old pods is available, so that nothing can be scaled down.
    found = sizes(strategy, healthy("new", new), Revision("old", old, pods=old))
    assert found[0] == expected


@pytest.mark.parametrize(
    ("strategy", "old", "new", "expected"),
    [
        pytest.param(Strategy(10, 0, 2), (10, 10), (0, 0), 8, id="as-far-as-enough-are-available"),
        pytest.param(Strategy(10, 0, 2), (10, 8), (0, 0), 8, id="unhealthy-ones-first"),
        pytest.param(Strategy(10, 0, 2), (10, 9), (0, 0), 8, id="an-unhealthy-one-and-another"),
        pytest.param(Strategy(10, 0, 2), (10, 1), (0, 0), 8, id="not-all-unhealthy-ones-at-once"),
        pytest.param(Strategy(10, 0, 2), (8, 8), (2, 0), 8, id="new-ones-that-wait-hold-it-up"),
        pytest.param(Strategy(10, 3, 2), (8, 7), (5, 0), 8, id="even-if-an-old-one-fails"),
        pytest.param(Strategy(10, 3, 2), (8, 8), (5, 5), 3, id="ready-ones-set-it-going"),
        pytest.param(Strategy(3, 1, 0), (3, 3), (1, 0), 3, id="nothing-goes-before-the-first-new"),
        pytest.param(Strategy(3, 1, 0), (3, 3), (1, 1), 2, id="one-for-one"),
    ],
)
def test_old_replica_sets_shrink_as_far_as_pods_stay_available(
    strategy: Strategy, old: tuple[int, int], new: tuple[int, int], expected: int
) -> None:
    was = Revision("old", old[0], old[1], pods=old[0])
    assert sizes(strategy, Revision("new", new[0], new[1]), was)[1] == expected


def test_the_look_that_makes_the_new_replica_set_scales_the_old_one_down_as_well() -> None:
    new = Revision("new", exists=False)
    assert sizes(Strategy(10, 3, 2), new, healthy("old", 10)) == (3, 8)


def test_a_look_that_scales_the_new_one_up_leaves_the_others_alone() -> None:
    assert sizes(Strategy(10, 3, 2), healthy("new", 3), healthy("old", 8)) == (5, 8)


def test_the_oldest_replica_set_shrinks_first() -> None:
    old = healthy("v2", 4, created=2), healthy("v1", 4, created=1)
    assert sizes(Strategy(10, 0, 5), healthy("v3", 2), *old) == (2, 3, 0)


def test_unhealthy_pods_go_from_every_old_replica_set_before_healthy_ones() -> None:
    old = healthy("v1", 4, created=1), Revision("v2", 4, 1, created=2)
    assert sizes(Strategy(10, 0, 4), healthy("v3", 2), *old)[1:] == (3, 1)


def test_a_rollout_that_is_done_changes_nothing() -> None:
    new, old = healthy("new", 5), healthy("old", 0)
    assert look(Strategy(5, 2, 1), new, [old]) == (new, (old,))


def test_recreate_deletes_all_then_waits_until_the_last_is_gone() -> None:
    strategy, new = Strategy(3, recreate=True), Revision("new", exists=False)
    assert sizes(strategy, new, healthy("old", 3)) == (0, 0)
    assert sizes(strategy, new, Revision("old", 0, leaving=1)) == (0, 0)
    assert sizes(strategy, new, Revision("old", 0)) == (3, 0)


SCALED = [
    pytest.param((10, 12, 0, 0), (10,), (12,), id="one-replica-set-takes-all"),
    pytest.param((10, 5, 0, 0), (10,), (5,), id="or-gives-all"),
    pytest.param((5, 10, 0, 0), (2, 3), (4, 6), id="in-proportion-up"),
    pytest.param((5, 3, 0, 0), (2, 3), (1, 2), id="in-proportion-down"),
    pytest.param((9, 4, 0, 0), (8, 1), (4, 0), id="a-small-part-vanishes"),
    pytest.param((7, 10, 0, 0), (2, 3, 2), (3, 4, 3), id="three-of-them-up"),
    pytest.param((13, 8, 0, 0), (2, 8, 3), (1, 5, 2), id="three-of-them-down"),
    pytest.param((3, 4, 0, 0), (1, 1, 1), (2, 1, 1), id="the-rest-to-the-newest"),
    pytest.param((3, 2, 0, 0), (1, 1, 1), (1, 1, 0), id="the-rest-from-the-oldest"),
    pytest.param((6, 0, 0, 0), (3, 2, 1), (0, 0, 0), id="to-none"),
    pytest.param((10, 20, 2, 2), (6, 6), (11, 11), id="with-a-surge"),
    pytest.param((10, 50, 3, 6), (5, 8), (22, 34), id="with-another-surge-than-before"),
]


@pytest.mark.parametrize(("change", "before", "after"), SCALED)
def test_a_deployment_that_is_scaled_while_it_rolls_out_keeps_proportions(
    change: tuple[int, int, int, int], before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    """`change`: replicas before and now, surge before and now; newest ReplicaSet first."""
    was, wanted, surge_before, surge = change
    revisions = [
        healthy(f"v{i}", size, created=-i, desired=was, most=was + surge_before)
        for i, size in enumerate(before)
    ]
    assert sizes(Strategy(wanted, surge, 0), *revisions) == after


def test_with_the_template_changed_at_the_same_time_old_replica_sets_are_scaled_first() -> None:
    new = Revision("v3", exists=False, created=3)
    old = [
        healthy(n, s, created=c, desired=10, most=10) for n, s, c in (("v2", 7, 2), ("v1", 3, 1))
    ]
    assert sizes(Strategy(14, 0, 0), new, *old) == (0, 10, 4)


def test_a_replica_set_without_the_annotation_is_measured_by_the_pods_that_are_there() -> None:
    new = healthy("v2", 2, created=2, desired=5, most=5)
    old = healthy("v1", 3, created=1)
    assert sizes(Strategy(10, 0, 0), new, old) == (4, 6)


def test_a_saturated_new_replica_set_ends_the_old_ones() -> None:
    paused = Strategy(4, 1, 0, paused=True)
    new = healthy("v2", 4, created=2, desired=4, most=5)
    assert sizes(paused, new, healthy("v1", 1, created=1)) == (4, 0)


def test_a_paused_deployment_rolls_nothing_out() -> None:
    paused = Strategy(4, 1, 0, paused=True)
    assert sizes(paused, Revision("v2", exists=False), healthy("v1", 4)) == (0, 4)


def test_a_paused_deployment_is_scaled_nevertheless() -> None:
    paused = Strategy(6, 1, 0, paused=True)
    assert sizes(paused, Revision("v2", exists=False), healthy("v1", 4)) == (0, 6)
