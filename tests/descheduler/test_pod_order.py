from __future__ import annotations

import pytest

from planner.descheduler.strategies.pod_order import by_priority, qos_class
from planner_models.pod import Pod
from tests.objects import Json, inventory_of, pod

BEST_EFFORT: Json = {"containers": [{"name": "main"}]}
LIMITS = {"cpu": "1", "memory": "1Gi"}
GUARANTEED: Json = {"containers": [{"name": "main", "resources": {"limits": LIMITS}}]}
EQUAL: Json = {"containers": [{"name": "m", "resources": {"limits": LIMITS, "requests": LIMITS}}]}


def pods(*objects: Json) -> tuple[Pod, ...]:
    return inventory_of(*objects).pods


def test_low_priorities_come_first_and_pods_without_one_before_them() -> None:
    found = pods(
        pod("high", "n", spec={"priority": 10}),
        pod("none", "n"),
        pod("low", "n", spec={"priority": -1}),
    )
    assert [each.name for each in by_priority(found)] == ["none", "low", "high"]


def test_of_the_same_priority_best_effort_comes_before_burstable_and_guaranteed() -> None:
    found = pods(
        pod("guaranteed", "n", spec=EQUAL),
        pod("burstable", "n"),
        pod("best", "n", spec=BEST_EFFORT),
    )
    assert [each.name for each in by_priority(found)] == ["best", "burstable", "guaranteed"]


def test_pods_that_prefer_to_stay_come_last_among_equals() -> None:
    key = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
    found = pods(pod("stays", "n", metadata={"annotations": {key: ""}}), pod("goes", "n"))
    assert [each.name for each in by_priority(found)] == ["goes", "stays"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (BEST_EFFORT, "BestEffort"),
        (EQUAL, "Guaranteed"),
        (GUARANTEED, "Burstable"),
        ({}, "Burstable"),
    ],
)
def test_the_class_follows_from_requests_and_limits(spec: Json, expected: str) -> None:
    """The descheduler does not default requests from limits: the API server has done that."""
    (found,) = pods(pod("web", "n", spec=spec))
    assert qos_class(found) == expected


def test_the_class_in_the_status_wins() -> None:
    (found,) = pods(pod("web", "n", status={"qosClass": "Guaranteed"}))
    assert qos_class(found) == "Guaranteed"
