from __future__ import annotations

from typing import Any

import pytest

from tests.descheduler.strategy_examples import owned_pod, record, strategy
from tests.objects import Json, cluster_of, node

HOUR = 3600


def failed(name: str = "web", **changes: Any) -> Json:
    status = {"phase": "Failed", **changes.pop("status", {})}
    return owned_pod(
        name, "a", metadata={"creationTimestamp": "1970-01-01T01:00:00Z"}, status=status, **changes
    )


def evicted(args: Json, *pods: Json, now: int = 2 * HOUR) -> list[str]:
    cluster = cluster_of(node("a"), *pods)
    done = record(strategy("RemoveFailedPods", args), cluster, now=now)
    return [eviction.pod.name for eviction in done.evictions]


def test_failed_pods_go_after_an_hour() -> None:
    assert evicted({}, failed(), owned_pod("well", "a")) == ["web"]
    assert evicted({}, failed(), now=2 * HOUR - 1) == []
    assert evicted({"minPodLifetimeSeconds": 60}, failed(), now=HOUR + 60) == ["web"]


def test_kinds_of_owners_can_be_left_out() -> None:
    assert evicted({"excludeOwnerKinds": ["Job"]}, failed(), failed("job", kind="Job")) == ["web"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({"reason": "NodeAffinity"}, "NodeAffinity"),
        ({"containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}]}, "OOMKilled"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "BadImage"}}}]}, "BadImage"),
    ],
)
def test_one_of_the_reasons_has_to_be_given(status: Json, reason: str) -> None:
    assert evicted({"reasons": [reason]}, failed(status=status)) == ["web"]
    assert evicted({"reasons": ["Other"]}, failed(status=status)) == []


def test_init_containers_count_on_request() -> None:
    ended = [{"state": {"terminated": {"reason": "Error", "exitCode": 3}}}]
    web = failed(status={"initContainerStatuses": ended})
    for args in ({"reasons": ["Error"]}, {"exitCodes": [3]}):
        assert evicted(args, web) == []
        assert evicted({**args, "includingInitContainers": True}, web) == ["web"]
