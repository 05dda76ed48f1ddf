from __future__ import annotations

import pytest

from planner.disruption.movability import WHY, Immovable, MovePolicy, immovable
from tests.objects import Json, cluster_of, merged, owned, pod

OWNED = owned("ReplicaSet", "web-1")
LOCAL = {"volumes": [{"name": "tmp", "emptyDir": {}}]}
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
CRITICAL = {"priority": 2_000_000_000}


def why(metadata: Json, spec: Json | None = None, policy: MovePolicy | None = None) -> str | None:
    (found,) = cluster_of(pod("web", "n1", spec=spec, metadata=metadata)).pods
    return immovable(found, policy or MovePolicy())


@pytest.mark.parametrize(
    ("metadata", "spec", "reason"),
    [
        (OWNED, {}, None),
        ({}, {}, "noController"),
        ({"deletionTimestamp": "2026-05-01T12:00:00Z"}, {}, "terminating"),
        ({"annotations": {"kubernetes.io/config.mirror": "x"}}, {}, "mirror"),
        (owned("Node", "n1"), {}, "mirror"),
        (owned("DaemonSet", "log"), {}, "daemonSet"),
        (OWNED, LOCAL, "localStorage"),
        (OWNED, CLAIM, "volume"),
        (OWNED, CRITICAL, "systemCritical"),
        (
            merged(
                OWNED, {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}
            ),
            {},
            "annotation",
        ),
        (
            merged(
                OWNED, {"annotations": {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}}
            ),
            {},
            "annotation",
        ),
        (
            merged(
                OWNED, {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}}
            ),
            {},
            None,
        ),
    ],
)
def test_a_pod_that_must_stay_says_why(
    metadata: Json, spec: Json, reason: Immovable | None
) -> None:
    assert why(metadata, spec) == reason
    assert reason is None or WHY[reason]


@pytest.mark.parametrize(
    ("metadata", "spec", "policy"),
    [
        ({}, {}, MovePolicy(bare_pods=True)),
        (OWNED, LOCAL, MovePolicy(local_storage=True)),
        (OWNED, CLAIM, MovePolicy(volumes=True)),
        (OWNED, CRITICAL, MovePolicy(system_critical=True)),
    ],
)
def test_a_policy_can_allow_what_is_usually_left_alone(
    metadata: Json, spec: Json, policy: MovePolicy
) -> None:
    assert why(metadata, spec) is not None
    assert why(metadata, spec, policy) is None
