"""Who is replaced when nodes fail, who is not, and what waits for whom."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import GONE, Cluster
from planner.scenario import Changed, LoseNodes, Manner, apply_changes, settle
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, cluster_of, node, owned, pod, workload

PROFILE = default_profile()
UNREACHABLE = "node.kubernetes.io/unreachable"
USUAL = [
    {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
]
FOR_EVER = [{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute"}]
SIX = {"backoffLimit": 6, "parallelism": 2, "completions": 9}


def member(kind: str, owner: str, name: str, at: str = "b", **changes: Any) -> dict[str, Any]:
    spec = {"tolerations": USUAL, **changes.pop("spec", {})}
    metadata = {**owned(kind, owner), "labels": {"app": "web"}}
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return pod(name, at, spec=spec, metadata=metadata, status=ready)


def lost(cluster: Cluster, manner: Manner) -> Changed:
    return apply_changes(cluster, [LoseNodes((cluster.node_index["b"],), manner)])


def fates(cluster: Cluster, manner: Manner) -> dict[str, str]:
    changed = lost(cluster, manner)
    return {changed.cluster.pods[each.pod].name: each.fate for each in changed.lost}


def two_zones(*objects: dict[str, Any]) -> Cluster:
    return cluster_of(node("a", "a"), node("b", "b"), node("c", "b"), *objects)


@pytest.mark.parametrize(
    ("kind", "name", "spec", "unreachable", "removed"),
    [
        ("ReplicaSet", "web-x", {"replicas": 1}, "replaced", "replaced"),
        ("StatefulSet", "web-0", {"replicas": 1}, "held", "replaced"),
        ("DaemonSet", "web-x", {}, "daemon", "daemon"),
        ("Job", "web-x", SIX, "replaced", "replaced"),
        ("Job", "web-x", SIX | {"podReplacementPolicy": "Failed"}, "held", "replaced"),
        ("Job", "web-x", SIX | {"backoffLimit": 0}, "ends", "ends"),
        ("ReplicaSet", "web-x", {"replicas": 0}, "ends", "ends"),
        ("KafkaNodePool", "web-x", None, "unknown", "unknown"),
    ],
)
def test_what_comes_after_a_pod(
    kind: str, name: str, spec: dict[str, Any] | None, unreachable: str, removed: str
) -> None:
    owners = [] if spec is None else [workload(kind, "web", spec)]
    cluster = two_zones(*owners, member(kind, "web", name))
    assert fates(cluster, "unreachable")[name] == unreachable
    assert fates(cluster, "removed")[name] == removed


def test_a_pod_without_controller_does_not_come_back() -> None:
    cluster = two_zones(pod("bare", "b", spec={"tolerations": USUAL}))
    assert fates(cluster, "removed") == {"bare": "ends"}


def test_a_pod_that_tolerates_the_taint_for_ever_stays_and_is_not_ready() -> None:
    cluster = two_zones(member("ReplicaSet", "web", "web-x", spec={"tolerations": FOR_EVER}))
    changed = lost(cluster, "unreachable")
    assert [each.fate for each in changed.lost] == ["stays"]
    assert changed.cluster.node_of[0] == 1
    assert not changed.cluster.pods[0].ready


def test_a_controller_with_too_many_pods_replaces_only_those_that_it_lacks_then() -> None:
    pods = [member("ReplicaSet", "web", f"web-{i}", at) for i, at in enumerate("abbb")]
    cluster = two_zones(workload("ReplicaSet", "web", {"replicas": 3}), *pods)
    assert sorted(fates(cluster, "removed").values()) == ["ends", "replaced", "replaced"]


def test_a_job_fails_when_more_pods_are_lost_than_it_may_retry() -> None:
    spec = {"parallelism": 4, "completions": 9, "backoffLimit": 2}
    pods = [member("Job", "web", f"web-{i}", at) for i, at in enumerate("aabb")]
    assert set(fates(two_zones(workload("Job", "web", spec), *pods), "removed").values()) == {
        "replaced"
    }
    more = [member("Job", "web", f"web-{i}", at) for i, at in enumerate("abbb")]
    assert set(fates(two_zones(workload("Job", "web", spec), *more), "removed").values()) == {
        "ends"
    }


@pytest.mark.parametrize("manner", ["removed", "unreachable"])
def test_a_job_that_fails_takes_its_other_pods_along(manner: Manner) -> None:
    """One that runs in the other zone, and one that waits for room."""
    spec = {"parallelism": 5, "completions": 9, "backoffLimit": 2}
    pods = [member("Job", "web", f"web-{i}", at) for i, at in enumerate(("a", "b", "b", "b", ""))]
    changed = lost(two_zones(workload("Job", "web", spec), *pods), manner)
    ended = [each.pod for each in changed.lost if each.reason == "job/web has failed"]
    assert ended == [0, 4]
    settled = settle(changed, PROFILE, seed=1).cluster
    assert settled.node_of[:5].tolist() == [GONE] * 5
    assert not settled.used[0].any()


def test_one_that_ignores_evictions_does_not_fail() -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    spec = {"parallelism": 2, "backoffLimit": 0, "podFailurePolicy": {"rules": [rule]}}
    pods = [member("Job", "web", f"web-{i}", at) for i, at in enumerate("ab")]
    assert fates(two_zones(workload("Job", "web", spec), *pods), "removed") == {"web-1": "replaced"}


def test_a_deleted_pod_of_a_silent_node_no_longer_counts_for_spread_but_for_affinity() -> None:
    """Of the replacement, the zone of the old pod is empty, and still nobody may go beside it."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
    cluster = two_zones(member("ReplicaSet", "web", "web-x", spec={"affinity": apart}))
    changed = lost(cluster, "unreachable")
    settled = settle(changed, PROFILE).cluster
    assert (settled.pods[-1].terminating, int(settled.node_of[-1])) == (True, 1)
    assert settled.used[1].any()
    assert settled.node_of[0] in (0, 2)


def test_an_ordered_stateful_set_makes_one_pod_after_the_other() -> None:
    big = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "3"}}}]}
    other = {"containers": [{"name": "m", "resources": {"requests": {"cpu": "5"}}}]}
    spec = {"replicas": 2, "template": {"spec": other}}
    cluster = two_zones(
        workload("StatefulSet", "web", spec),
        pod("web-0", "b", spec=other, metadata=owned("StatefulSet", "web")),
        pod("web-1", "b", spec=big, metadata=owned("StatefulSet", "web")),
    )
    settled = settle(lost(cluster, "removed"), PROFILE)
    assert settled.cluster.node_of.tolist() == [-1, -1]
    assert set(settled.messages) == {0}, "web-1 is not made before web-0 runs"


def test_a_stateful_set_comes_back_in_order() -> None:
    pods = [member("StatefulSet", "web", f"web-{i}") for i in range(3)]
    cluster = two_zones(workload("StatefulSet", "web", {"replicas": 3}), *pods)
    assert not len(settle(lost(cluster, "removed"), PROFILE).cluster.pending)


def test_pods_driven_off_by_others_wait_in_turn() -> None:
    def size(cpu: str, priority: int) -> dict[str, Any]:
        resources = {"requests": {"cpu": cpu}}
        return {"containers": [{"name": "m", "resources": resources}], "priority": priority}

    cluster = cluster_of(
        node("a", "a"),
        node("b", "b"),
        pod("high", "b", spec=size("3", 10), metadata=owned("ReplicaSet", "high")),
        pod("low", "a", spec=size("3", 1), metadata=owned("ReplicaSet", "low")),
    )
    changed = lost(cluster, "removed")
    assert settle(changed, PROFILE).cluster.node_of.tolist() == [-1, 0]
    driven = settle(changed, PROFILE, preempt=True)
    assert driven.cluster.node_of.tolist() == [0, -1]
    assert driven.preempted == (1,)
    assert driven.messages[1].startswith("0/1 nodes are available")
