"""What a StatefulSet's controller does with its pods, case by case.

The decisions are those of Kubernetes v1.36: of its documentation, and of what its own tests of
`pkg/controller/statefulset` pin down.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.scenario.stateful_set import Policy, Replica, State, look, policy_of
from planner_models.workload import StatefulSet

STATES: dict[str, State] = {"r": "ready", "u": "unready", "t": "terminating"}
ORDERED, PARALLEL = Policy(3), Policy(3, parallel=True)
LIMITED = Policy(5, unavailable=2)


def seen(text: str, start: int = 0) -> dict[int, Replica]:
    """Ordinals from left to right: ready, unready, terminating, `.` missing; capitals updated."""
    return {
        start + i: Replica(STATES[each.lower()], each.isupper())
        for i, each in enumerate(text)
        if each != "."
    }


@pytest.mark.parametrize(
    ("policy", "pods", "made", "deleted"),
    [
        # Pods are made in order, each when the one below is ready.
        pytest.param(ORDERED, "...", [0], [], id="the-lowest-first"),
        pytest.param(ORDERED, "U..", [], [], id="the-next-waits-for-it"),
        pytest.param(ORDERED, "R..", [1], [], id="and-comes-when-it-is-ready"),
        pytest.param(ORDERED, "R.R", [1], [], id="a-gap-is-filled"),
        pytest.param(ORDERED, "T.R", [], [], id="one-that-ends-holds-everything-up"),
        pytest.param(PARALLEL, "...", [0, 1, 2], [], id="parallel-ones-all-at-once"),
        pytest.param(PARALLEL, "U.T", [1], [], id="and-wait-for-nobody"),
        pytest.param(Policy(2, start=5), "", [5], [], id="numbering-may-start-higher"),
        # Surplus pods go from the highest down.
        pytest.param(ORDERED, "RRRRR", [], [4], id="surplus-one-at-a-time"),
        pytest.param(ORDERED, "RRRRT", [], [], id="the-next-when-it-is-gone"),
        pytest.param(ORDERED, "RURRR", [], [], id="not-while-a-pod-below-is-not-ready"),
        pytest.param(ORDERED, "RRRUR", [], [4], id="a-ready-one-above-an-unready-one-goes"),
        pytest.param(ORDERED, "RRRRU", [], [4], id="an-unready-one-goes-if-it-is-the-only-one"),
        pytest.param(ORDERED, "RRRUU", [], [], id="of-two-unready-ones-the-higher-waits"),
        pytest.param(PARALLEL, "RRRUU", [], [4, 3], id="parallel-surplus-all-at-once"),
        # Updates go from the highest ordinal down, one at a time.
        pytest.param(ORDERED, "rrr", [], [2], id="the-highest-first"),
        pytest.param(ORDERED, "rrT", [], [], id="not-before-the-old-one-is-gone"),
        pytest.param(ORDERED, "rr.", [2], [], id="then-the-new-one-is-made"),
        pytest.param(ORDERED, "rrU", [], [], id="and-has-to-be-ready"),
        pytest.param(ORDERED, "rrR", [], [1], id="before-the-next-one-goes"),
        pytest.param(ORDERED, "RRR", [], [], id="done"),
        pytest.param(ORDERED, "urr", [], [], id="an-old-pod-that-fails-stops-an-ordered-update"),
        pytest.param(ORDERED, "rrrr", [], [3], id="scaling-comes-before-updating"),
        pytest.param(PARALLEL, "rrr", [], [2], id="parallel-ones-are-updated-one-at-a-time-too"),
        pytest.param(PARALLEL, "rrU", [], [], id="and-wait-for-those-above"),
        pytest.param(PARALLEL, "urr", [], [2], id="but-not-for-those-below"),
        pytest.param(PARALLEL, "ruR", [], [1], id="a-failing-old-pod-is-replaced-in-its-turn"),
        # A partition keeps the lower ordinals.
        pytest.param(Policy(3, partition=2), "rrr", [], [2], id="from-the-partition-on"),
        pytest.param(Policy(3, partition=2), "rrR", [], [], id="those-below-stay"),
        pytest.param(Policy(3, partition=3), "rrr", [], [], id="a-partition-above-all"),
        pytest.param(
            Policy(3, start=7, partition=2), "rrr", [], [9], id="it-counts-from-the-first-ordinal"
        ),
        # OnDelete.
        pytest.param(Policy(3, on_delete=True), "rrr", [], [], id="nothing-by-itself"),
        pytest.param(Policy(3, on_delete=True), "rr.", [2], [], id="who-is-deleted-comes-back"),
        # maxUnavailable, where it is stored.
        pytest.param(LIMITED, "rrrrr", [], [4, 3], id="as-many-at-once"),
        pytest.param(LIMITED, "rrrRR", [], [2, 1], id="the-next-two"),
        pytest.param(LIMITED, "rrrU.", [], [], id="ordered-ones-still-come-one-by-one"),
        pytest.param(
            Policy(5, unavailable=2, parallel=True), "rrrUR", [], [2], id="who-is-down-counts"
        ),
        pytest.param(
            Policy(5, unavailable=2, parallel=True), "uurrr", [], [], id="even-below-and-old"
        ),
        pytest.param(
            Policy(5, unavailable=4, partition=3), "rrrrr", [], [4, 3], id="within-the-partition"
        ),
    ],
)
def test_the_controller_looks_once(
    policy: Policy, pods: str, made: list[int], deleted: list[int]
) -> None:
    acts = look(policy, seen(pods, policy.start))
    assert (list(acts.made), list(acts.deleted)) == (made, deleted)


def given(replicas: int, **strategy: Any) -> StatefulSet:
    spec = {"replicas": replicas, "updateStrategy": strategy}
    return StatefulSet.model_validate({"metadata": {"name": "db"}, "spec": spec})


@pytest.mark.parametrize(
    ("rolling", "expected"),
    [
        pytest.param({}, None, id="not-stored"),
        pytest.param({"maxUnavailable": 1}, 1, id="stored-as-one"),
        pytest.param({"maxUnavailable": 3}, 3, id="a-number"),
        pytest.param({"maxUnavailable": "50%"}, 2, id="a-percentage-rounds-down"),
        pytest.param({"maxUnavailable": "10%"}, 1, id="but-not-to-none"),
    ],
)
def test_max_unavailable_counts_where_it_is_stored(
    rolling: dict[str, Any], expected: int | None
) -> None:
    policy = policy_of(given(5, type="RollingUpdate", rollingUpdate={"partition": 1, **rolling}))
    assert (policy.unavailable, policy.partition) == (expected, 1)


def test_without_a_strategy_all_pods_are_updated() -> None:
    assert policy_of(given(2)) == Policy(2)
    assert policy_of(given(2, type="OnDelete")) == Policy(2, on_delete=True)
