from __future__ import annotations

from typing import Any

import pytest

from tests.descheduler.strategy_examples import owned_pod, record, strategy
from tests.objects import Json, cluster_of, node

DAY = 86400


def aged(name: str, day: int, **changes: Any) -> Json:
    metadata = {"creationTimestamp": f"1970-01-{day:02}T00:00:00Z"}
    return owned_pod(name, "a", metadata=metadata, **changes)


def evicted(args: Json, *pods: Json, today: int = 10) -> list[str]:
    cluster = cluster_of(node("a"), *pods)
    done = record(strategy("PodLifeTime", args), cluster, now=(today - 1) * DAY)
    return [eviction.pod.name for eviction in done.evictions]


def test_pods_beyond_their_life_time_go_oldest_first() -> None:
    pods = [aged("old", 3), aged("oldest", 1), aged("young", 9)]
    assert evicted({"maxPodLifeTimeSeconds": 5 * DAY}, *pods) == ["oldest", "old"]


def test_the_life_time_itself_is_not_beyond_it() -> None:
    assert evicted({"maxPodLifeTimeSeconds": 5 * DAY}, aged("old", 5)) == []


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Failed", "reason": "NodeLost"}, "NodeLost"),
        ({"phase": "Succeeded"}, "Succeeded"),
        (
            {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
            "CrashLoopBackOff",
        ),
        ({"containerStatuses": [{"state": {"terminated": {"reason": "Error"}}}]}, "Error"),
    ],
)
def test_pods_in_a_state_go_finished_ones_too(status: Json, state: str) -> None:
    web = aged("web", 1, status=status)
    assert evicted({"states": [state]}, web) == ["web"]
    assert evicted({"states": ["ImagePullBackOff"]}, web) == []


def test_init_and_ephemeral_containers_count_on_request() -> None:
    waiting = [{"state": {"waiting": {"reason": "ErrImagePull"}}}]
    for field, option in (
        ("initContainerStatuses", "includingInitContainers"),
        ("ephemeralContainerStatuses", "includingEphemeralContainers"),
    ):
        web = aged("web", 1, status={field: waiting})
        assert evicted({"states": ["ErrImagePull"]}, web) == []
        assert evicted({"states": ["ErrImagePull"], option: True}, web) == ["web"]


def test_all_criteria_have_to_be_met() -> None:
    args = {"maxPodLifeTimeSeconds": 5 * DAY, "states": ["Running"]}
    pending = aged("pending", 1, status={"phase": "Pending"})
    assert evicted(args, aged("old", 1), aged("young", 9), pending) == ["old"]


def test_kinds_of_owners_can_be_asked_for_or_left_out() -> None:
    pods = [aged("web", 1), aged("job", 1, kind="Job")]
    args = {"maxPodLifeTimeSeconds": 0}
    assert evicted({**args, "ownerKinds": {"include": ["Job"]}}, *pods) == ["job"]
    assert evicted({**args, "ownerKinds": {"exclude": ["Job"]}}, *pods) == ["web"]


def test_conditions_may_ask_how_long_they_hold() -> None:
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": "1970-01-09T00:00:00Z"}
    web = aged("web", 1, status={"conditions": [ready]})
    condition = {"type": "Ready", "status": "False"}
    assert evicted({"conditions": [condition]}, web) == ["web"]
    assert evicted({"conditions": [{"status": "True"}]}, web) == []
    lasting = {**condition, "minTimeSinceLastTransitionSeconds": DAY}
    assert evicted({"conditions": [lasting]}, web) == ["web"]
    longer = {**condition, "minTimeSinceLastTransitionSeconds": DAY + 1}
    assert evicted({"conditions": [longer]}, web) == []


def test_exit_codes_of_containers_that_ended() -> None:
    ended = [{"state": {"terminated": {"exitCode": 137}}}]
    web = aged("web", 1, status={"containerStatuses": ended})
    assert evicted({"exitCodes": [137]}, web) == ["web"]
    assert evicted({"exitCodes": [1]}, web) == []
