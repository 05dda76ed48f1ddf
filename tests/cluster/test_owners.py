from __future__ import annotations

import pytest

from planner.cluster.owners import WorkloadRef
from tests.objects import Json, cluster_of, owned, pod, workload


def workload_of(*objects: Json) -> WorkloadRef:
    cluster = cluster_of(*objects)
    return cluster.owners.workload_of(cluster.pods[0])


REPLICA = pod(
    "web-1-x", metadata={"labels": {"pod-template-hash": "1"}, **owned("ReplicaSet", "web-1")}
)
REPLICA_SET = workload("ReplicaSet", "web-1", {"replicas": 1}, metadata=owned("Deployment", "web"))
DEPLOYMENT = workload("Deployment", "web", {"replicas": 1})


@pytest.mark.parametrize(
    ("objects", "key"),
    [
        ([pod("bare")], "Pod default/bare"),
        ([REPLICA], "ReplicaSet default/web-1"),
        ([REPLICA, REPLICA_SET], "Deployment default/web"),
        ([REPLICA, REPLICA_SET, DEPLOYMENT], "Deployment default/web"),
        ([REPLICA, DEPLOYMENT], "Deployment default/web"),
        ([pod("db-0", metadata=owned("StatefulSet", "db"))], "StatefulSet default/db"),
    ],
)
def test_the_workload_is_the_top_of_the_chain_as_far_as_the_input_shows_it(
    objects: list[Json], key: str
) -> None:
    assert workload_of(*objects).key == key


def test_a_foreign_owner_of_a_replica_set_ends_the_chain() -> None:
    rollout = workload("ReplicaSet", "web-1", {"replicas": 1}, metadata=owned("Rollout", "web"))
    assert workload_of(REPLICA, rollout).key == "ReplicaSet default/web-1"


def test_owners_in_a_circle_come_to_an_end() -> None:
    first = workload("ReplicaSet", "web-1", {"replicas": 1}, metadata=owned("Deployment", "web"))
    second = workload("Deployment", "web", {"replicas": 1}, metadata=owned("ReplicaSet", "web-1"))
    assert workload_of(REPLICA, first, second).namespace == "default"


def test_workloads_are_named_as_kubectl_does() -> None:
    assert WorkloadRef("default", "Deployment", "web").short == "deploy/web"
    assert WorkloadRef("default", "Rollout", "web").short == "rollout/web"


def test_the_wanted_number_is_the_controllers() -> None:
    owners = cluster_of(workload("Deployment", "web", {"replicas": 0}), workload("Job", "j")).owners
    assert owners.desired(WorkloadRef("default", "Deployment", "web")) == 0
    assert owners.desired(WorkloadRef("default", "Job", "j")) is None
    assert owners.desired(WorkloadRef("default", "Deployment", "none")) is None
