"""MachineDeployments of cluster-api as pools, with the annotations of cluster-autoscaler."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from planner.errors import PlannerError
from planner.pools import Pool, PoolInput, pools_in
from planner.sources.read import RawDocument
from planner_models.node import INSTANCE_TYPE, ZONE
from tests.objects import Json, inventory_of, node

CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
SIZED = {f"{CAPACITY}cpu": "4", f"{CAPACITY}memory": "16Gi"}


def machines(annotations: dict[str, str], **spec: object) -> Json:
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {"name": "workers", "annotations": annotations},
        "spec": {"replicas": 3, **spec},
    }


def read(*objects: Json, nodes: tuple[Json, ...] = ()) -> PoolInput:
    documents = [RawDocument("pools.yaml", json.dumps(each).encode(), 1) for each in objects]
    return pools_in(documents, inventory_of(*nodes).nodes)


def only(found: PoolInput) -> Pool:
    (pool,) = found.pools
    return pool


def test_annotations_say_what_a_node_has_and_110_pods_are_the_default() -> None:
    gpus = {f"{CAPACITY}gpu-type": "nvidia.com/gpu", f"{CAPACITY}gpu-count": "2"}
    disk = {f"{CAPACITY}ephemeral-disk": "100Gi"}
    pool = only(read(machines({**SIZED, **gpus, **disk, "planner/price": "0.2"})))
    assert pool.template.allocatable == {
        "cpu": 4000,
        "memory": 16 << 30,
        "pods": 110,
        "nvidia.com/gpu": 2,
        "ephemeral-storage": 100 << 30,
    }
    assert pool.price == Decimal("0.2")


def test_sizes_count_the_machines_that_are_there() -> None:
    pool = only(read(machines({**SIZED, f"{SIZE}min-size": "4", f"{SIZE}max-size": "10"})))
    assert (pool.least, pool.most) == (1, 7)


def test_the_failure_domain_is_the_zone_and_labels_of_three_domains_reach_the_node() -> None:
    labels = {
        "node-role.kubernetes.io/web": "",
        "gpu.node.cluster.x-k8s.io/model": "a100",
        "own": "x",
    }
    template = {"metadata": {"labels": labels}, "spec": {"failureDomain": "eu-1a"}}
    told = {f"{CAPACITY}labels": "disk=ssd,kubernetes.io/arch=arm64"}
    pool = only(read(machines({**SIZED, **told}, template=template)))
    assert pool.zones == ("eu-1a",)
    assert pool.template.labels == {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "arm64",
        "node-role.kubernetes.io/web": "",
        "gpu.node.cluster.x-k8s.io/model": "a100",
        "disk": "ssd",
        ZONE: "eu-1a",
    }


def test_a_taint_of_the_annotation_wins_over_that_of_the_machine() -> None:
    taints = [
        {"key": "team", "value": "a", "effect": "NoSchedule", "propagation": "Always"},
        {"key": "setup", "effect": "NoExecute", "propagation": "OnInitialization"},
    ]
    told = {f"{CAPACITY}taints": "team=b:NoSchedule"}
    pool = only(read(machines({**SIZED, **told}, template={"spec": {"taints": taints}})))
    assert [str(taint) for taint in pool.template.spec.taints] == [
        "team=b:NoSchedule",
        "setup:NoExecute",
    ]


def test_a_node_of_the_same_instance_type_tells_what_the_kubelet_keeps() -> None:
    told = {f"{CAPACITY}labels": f"{INSTANCE_TYPE}=m5.xlarge"}
    there = [
        node(
            name,
            metadata={"labels": {INSTANCE_TYPE: "m5.xlarge"}},
            status={"allocatable": {**room, **rest}},
        )
        for rest in [{"memory": "14Gi", "pods": "58"}]
        for name, room in (("n1", {"cpu": "3920m"}), ("n2", {"cpu": "3900m"}))
    ]
    found = read(machines({**SIZED, **told}), nodes=tuple(there))
    assert only(found).template.allocatable == {"cpu": 3900, "memory": 14 << 30, "pods": 58}
    assert found.notices == ()


def test_without_such_a_node_the_capacity_is_taken_and_a_notice_says_so() -> None:
    (notice,) = read(machines(SIZED)).notices
    assert "capacity is taken for allocatable" in notice.text
    assert notice.objects == ("workers",)


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        ({f"{SIZE}max-size": "3"}, "workers has 3 of at most 3 machines, and gets no more"),
        ({"cluster.x-k8s.io/paused": ""}, "workers is paused, and gets no nodes"),
        ({f"{CAPACITY}csi-driver": "ebs=25"}, f"{CAPACITY}csi-driver is not used"),
    ],
)
def test_what_changes_nothing_or_excludes_the_pool_is_named(
    annotations: dict[str, str], text: str
) -> None:
    other = machines(SIZED)
    other["metadata"]["name"] = "other"
    found = read(machines({**SIZED, **annotations}), other)
    assert text in [notice.text for notice in found.notices]


@pytest.mark.parametrize(
    ("annotations", "message", "place"),
    [
        ({f"{SIZE}max-size": "0"}, "may have no nodes", "max-size"),
        ({f"{SIZE}max-size": "many"}, 'max-size "many"', "max-size"),
        ({f"{CAPACITY}cpu": "four"}, 'has cpu "four"', f"{CAPACITY}cpu"),
        ({f"{CAPACITY}gpu-count": "1"}, "not of which type", f"{CAPACITY}gpu-type"),
        ({f"{CAPACITY}labels": "disk"}, 'has the label "disk"', f"{CAPACITY}labels"),
        ({f"{CAPACITY}taints": "a=b"}, 'has the taint "a=b"', f"{CAPACITY}taints"),
        ({f"{CAPACITY}ram": "4Gi"}, "does not know", f"{CAPACITY}ram"),
        ({"planner/zones": "a"}, "does not know: planner/zones", "planner/zones"),
    ],
)
def test_what_an_annotation_can_not_mean_is_refused_with_its_place(
    annotations: dict[str, str], message: str, place: str
) -> None:
    with pytest.raises(PlannerError) as raised:
        read(machines({**SIZED, **annotations}))
    assert message in raised.value.message
    assert place in (raised.value.field or "")
    assert raised.value.object == "MachineDeployment workers"


def test_a_machine_deployment_without_capacity_is_refused() -> None:
    with pytest.raises(PlannerError, match="does not say what a node has of cpu"):
        read(machines({}))


def test_a_zone_label_that_is_not_the_failure_domain_is_refused() -> None:
    template = {"spec": {"failureDomain": "eu-1a"}}
    with pytest.raises(PlannerError, match="failure domain eu-1a"):
        read(machines({**SIZED, f"{CAPACITY}labels": f"{ZONE}=eu-1b"}, template=template))


def test_if_no_pool_may_grow_that_is_an_error() -> None:
    with pytest.raises(PlannerError, match="may have no more nodes"):
        read(machines({**SIZED, f"{SIZE}max-size": "3"}))
