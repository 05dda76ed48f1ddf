from __future__ import annotations

import pytest

from planner.disruption.movability import WHY, Immovable, Movability, MovePolicy, immovable
from tests.objects import Json, cluster_of, merged, node, owned, pod

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


def budget(**spec: object) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def web(name: str, node_name: str = "n1", *, ready: bool = True) -> Json:
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
    return pod(name, node_name, metadata=merged(OWNED, {"labels": {"app": "web"}}), status=status)


def texts(*objects: Json) -> list[str | None]:
    cluster = cluster_of(node("n1"), *objects)
    movability = Movability(cluster)
    stays = [movability.why(each) for each in cluster.running.tolist()]
    return [None if stay is None else stay.text for stay in stays]


def test_a_budget_that_needs_every_pod_never_lets_one_go() -> None:
    never = "the budget default/web never allows it (minAvailable 2 of 2)"
    assert texts(budget(minAvailable=2), web("a"), web("b")) == [never, never]


def test_a_budget_in_use_lets_only_the_pod_go_that_is_not_ready() -> None:
    pods = (web("a"), web("b", ready=False), web("c"))
    now = "the budget default/web does not allow it now"
    assert texts(budget(minAvailable=2), *pods) == [now, None, now]


def test_a_budget_may_allow_more_when_a_waiting_pod_has_found_a_node() -> None:
    assert texts(budget(minAvailable=1), web("a"), web("b", "")) == [None]


def test_a_budget_that_says_nothing_allows_nothing() -> None:
    nothing = "it names neither minAvailable nor maxUnavailable"
    assert texts(budget(), web("a")) == [f"the budget default/web never allows it ({nothing})"]


def test_a_pod_on_a_node_that_does_not_answer_stays() -> None:
    away = node("n2", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    assert texts(away, web("a", "n2")) == [WHY["nodeNotReady"]]
