"""Workloads that get fewer replicas: which of their pods go."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from planner.cluster import GONE, Cluster
from planner.cluster.owners import WorkloadRef
from planner.errors import UsageError
from planner.scenario import Apply, Changed, Scale, apply_changes
from planner.scenario.replica_set import acted_at, choices
from planner.scenario.scale_down import surplus
from planner.sources.load import load_documents
from planner_models.node import ZONE
from planner_models.workload import Deployment
from tests.objects import Json, cluster_of, document, merged, node, owned, pod, template, workload
from tests.scenario.examples import after, deployment, example, running
from tests.scenario.running_workloads import deployed, ref, revision_of, stateful

THREE = ("n1", "n2", "n3")


def scaled(cluster: Cluster, of: WorkloadRef, replicas: int, seed: int = 0) -> Changed:
    return apply_changes(cluster, [Scale(of, replicas)], seed=seed)


def left(changed: Changed) -> list[str]:
    """Pods that are there and not leaving."""
    cluster = changed.cluster
    there = (cluster.node_of != GONE) & ~cluster.terminating
    return sorted(each.name for each, stays in zip(cluster.pods, there, strict=True) if stays)


# ReplicaSets delete by rank


def test_scaling_down_does_not_look_at_spread() -> None:
    """J3: of the 924 choices 216 leave two pods in each zone, and 84 a zone without any."""
    cluster = example()
    topology = cluster.topology(ZONE)
    found = cluster.owners.controllers[deployment("api")]
    assert isinstance(found, Deployment)
    six = found.replace(spec=found.spec.replace(replicas=6))
    (only,) = surplus(cluster, six)
    zone_of = topology.domain_of[cluster.node_of]
    ways = choices(only.candidates, only.count, acted_at(cluster), lambda pod: int(zone_of[pod]))
    assert ways is not None
    assert sum(ways.values()) == 924
    assert ways[2, 2, 2] == 216
    assert sum(number for counts, number in ways.items() if 0 in counts) == 84


def test_a_seed_draws_between_equal_pods_and_uids_decide_without_one() -> None:
    ends = Counter(running(after(scaled_example(seed)))["api"] for seed in range(1, 30))
    assert len(ends) > 3
    assert left(scaled(example(), deployment("api"), 6)) == left(
        scaled(example(), deployment("api"), 6)
    )


def scaled_example(seed: int) -> Cluster:
    return scaled(example(), deployment("api"), 6, seed).cluster


def test_pods_that_wait_go_before_those_that_run() -> None:
    cluster = cluster_of(*map(node, THREE), *deployed("web", ["n1", "", "n2"]))
    changed = scaled(cluster, ref("web"), 2)
    assert left(changed) == ["web-v1-0", "web-v1-2"]
    assert changed.deleted == (cluster.pod_index["default/web-v1-1"],)
    assert [fact.text for fact in changed.facts] == ["deploy/web 3 -> 2"]


def test_then_those_with_others_of_the_deployment_on_their_node() -> None:
    cluster = cluster_of(*map(node, THREE), *deployed("web", ["n1", "n2", "n2"]))
    assert "web-v1-0" in left(scaled(cluster, ref("web"), 2))


def test_a_replica_set_of_its_own_does_not_ask_who_is_on_the_node() -> None:
    metadata = {**owned("ReplicaSet", "web"), "labels": {"app": "web"}}
    pods = [pod(f"web-{i}", on, metadata=metadata) for i, on in enumerate(("n1", "n2", "n2"))]
    owner = workload("ReplicaSet", "web", {"replicas": 3, "template": template()})
    cluster = cluster_of(*map(node, THREE), owner, *pods)
    of = ref("web", "ReplicaSet")
    gone = {scaled(cluster, of, 2, seed).deleted for seed in range(1, 20)}
    assert gone == {(0,), (1,), (2,)}


def test_the_controllers_want_what_is_left() -> None:
    changed = scaled(cluster_of(*map(node, THREE), *deployed("web", THREE)), ref("web"), 1)
    owners = changed.cluster.owners
    assert owners.desired(ref("web")) == 1
    assert owners.desired(WorkloadRef("default", "ReplicaSet", "web-v1")) == 1


def test_two_replica_sets_shrink_in_proportion() -> None:
    on = {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "200"}}
    cluster = cluster_of(
        node("n1", status=on),
        deployed("web", [], replicas=9)[0],
        *revision_of("web", "v1", ["n1"] * 6),
        *revision_of("web", "v2", ["n1"] * 3),
    )
    names = Counter(name[:6] for name in left(scaled(cluster, ref("web"), 3)))
    assert names == {"web-v1": 2, "web-v2": 1}


def test_what_is_deleted_on_a_silent_node_stays_terminating() -> None:
    silent = node("n2", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    made = deployed("web", ["n1", "n2"])
    made[-1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    changed = scaled(cluster_of(node("n1"), silent, *made), ref("web"), 1)
    assert left(changed) == ["web-v1-0"]
    assert changed.cluster.terminating.tolist() == [False, True]


def test_a_replica_set_of_a_deployment_is_not_scaled_alone() -> None:
    cluster = cluster_of(*map(node, THREE), *deployed("web", THREE))
    with pytest.raises(UsageError, match="deploy/web scales rs/web-v1"):
        scaled(cluster, WorkloadRef("default", "ReplicaSet", "web-v1"), 2)


# StatefulSets delete from the highest ordinal down


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_the_highest_ordinals_go(policy: str) -> None:
    made = stateful("db", THREE, podManagementPolicy=policy)
    changed = scaled(cluster_of(*map(node, THREE), *made), ref("db", "StatefulSet"), 1)
    assert left(changed) == ["db-0"]


def test_an_ordered_set_waits_for_pods_that_are_not_ready() -> None:
    made = stateful("db", THREE)
    made[1]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    changed = scaled(cluster_of(*map(node, THREE), *made), ref("db", "StatefulSet"), 1)
    assert left(changed) == ["db-0", "db-1", "db-2"]
    assert changed.facts[0].text == (
        "sts/db 3 -> 1; 2 pods more, until those that are not ready are"
    )


# Manifests


def applied(objects: list[Json], changed: Json) -> Changed:
    both = load_documents([document(*objects), document(changed)])
    return apply_changes(cluster_of(*objects), [Apply(both)])


def test_a_manifest_with_fewer_replicas_takes_pods_away() -> None:
    for made, names in (
        (deployed("web", ["n1", "n2", ""]), ["web-v1-0", "web-v1-1"]),
        (stateful("db", THREE), ["db-0", "db-1"]),
    ):
        fewer = merged(made[0], {"spec": {"replicas": 2}})
        changed = applied([*map(node, THREE), *made], fewer)
        assert left(changed) == names
        assert len(changed.deleted) == 1


def test_a_manifest_with_as_many_leaves_a_surplus_alone() -> None:
    made = stateful("db", THREE, replicas=2)
    changed = applied([*map(node, THREE), *made], json.loads(json.dumps(made[0])))
    assert not changed.deleted
