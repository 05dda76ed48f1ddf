"""Claims, volumes and classes that the input does not have prove nothing."""

from __future__ import annotations

import pytest

from planner.cluster import Cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.one_sentence import ShortExplainer
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import requests, workload
from tests.objects import HOSTNAME, Json, cluster_of, node, pod

VOLUMES = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}


def claim(**spec: str) -> Json:
    request = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {**request, **spec},
    }


def explained(cluster: Cluster) -> Diagnosis:
    pods = cluster.pending.tolist()
    return explain_pods(cluster, pods, default_profile(), ExplainOptions())


@pytest.mark.parametrize(
    ("claims", "named", "command"),
    [
        ([], "PersistentVolumeClaim default/data", "kubectl get pvc -A -o json"),
        ([claim(volumeName="pv-1")], "PersistentVolume pv-1", "kubectl get pv -A -o json"),
        ([claim(storageClassName="fast")], "StorageClass fast", "kubectl get sc -A -o json"),
        ([claim()], "the default StorageClass", "kubectl get sc -A -o json"),
    ],
)
def test_a_pod_whose_storage_is_not_in_the_input_is_undecided(
    claims: list[Json], named: str, command: str
) -> None:
    found = explained(cluster_of(node("n1"), *claims, pod("db", spec=VOLUMES)))
    assert found.verdict == "undecided"
    assert found.headline == f"pod/db needs {named}, which is not in the input"
    assert command in found.narrative[0]
    assert not found.proof
    assert found.counting is None


def test_so_are_the_replicas_of_a_workload() -> None:
    spec = {**requests("500m"), **VOLUMES}
    cluster = cluster_of(node("n1"), *workload("db", pending=2, spec=spec))
    found = explained(cluster)
    assert found.verdict == "undecided"
    assert len(found.targets) == 2
    assert not found.proof


def test_a_pod_that_no_node_can_take_anyway_is_impossible_for_that_reason() -> None:
    spec = {**VOLUMES, "nodeSelector": {HOSTNAME: "elsewhere"}}
    found = explained(cluster_of(node("n1"), pod("db", spec=spec)))
    assert found.verdict == "impossible"
    assert [fact.kind for fact in found.conflicts[0].constraints] == ["nodeAffinity"]


def test_a_full_node_is_told_beside_the_missing_class() -> None:
    big = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    found = explained(
        cluster_of(
            node("n1"),
            *workload("busy", ["n1"], spec=requests("3")),
            claim(storageClassName="fast"),
            pod("db", spec={**VOLUMES, **big}),
        )
    )
    assert found.verdict == "undecided"
    assert "short of CPU" in found.narrative[1]


def test_one_sentence_says_what_the_input_lacks() -> None:
    cluster = cluster_of(node("n1"), pod("db", spec=VOLUMES))
    short = ShortExplainer(cluster, default_profile())
    assert short.sentence(cluster.pod_index["default/db"]) == (
        "needs PersistentVolumeClaim default/data, not in the input"
    )
