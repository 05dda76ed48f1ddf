"""NodePools of Karpenter as pools, with a table of instance types."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
import yaml

from planner.errors import PlannerError
from planner.pools import PoolInput, offers_of
from planner.pools.fill import Filling
from planner.pools.read import SAMPLE_FILE
from planner.scheduler.profile import default_profile
from planner_models.instance_types import InstanceTypes
from planner_models.node import INSTANCE_TYPE, ZONE
from planner_models.node_pool import CAPACITY_TYPE, NODE_POOL
from planner_models.resources import in_scheduler_units
from tests.objects import Json, cluster_of, node
from tests.pools.test_machine_deployments import read

ARCH = "kubernetes.io/arch"


def node_pool(*requirements: Json, labels: Json | None = None, **spec: Any) -> Json:
    template = {"metadata": {"labels": labels or {}}, "spec": {"requirements": list(requirements)}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "general"},
        "spec": {"template": template, **spec},
    }


def asks(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator, "values": list(values)}


def kind(name: str, cpu: int, *offerings: Json, **labels: str) -> Json:
    room = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"}
    named = {"size": str(cpu), ARCH: labels.get("arch", "amd64")}
    return {
        "name": name,
        "labels": named,
        "capacity": room,
        "allocatable": {**room, "cpu": f"{cpu * 1000 - 100}m"},
        "offerings": list(offerings or [{"zones": ["a", "b"], "price": 0.1 * cpu}]),
    }


def table(*types: Json, **fields: object) -> Json:
    return {"apiVersion": "planner/v1", "kind": "InstanceTypes", "types": list(types), **fields}


TYPES = table(kind("s", 2), kind("m", 4), kind("l", 8), kind("arm", 4, arch="arm64"))


def names(found: PoolInput) -> list[str]:
    return [pool.name for pool in found.pools]


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (asks(INSTANCE_TYPE, "In", "s", "m"), ["s", "m"]),
        (asks(INSTANCE_TYPE, "NotIn", "s", "m"), ["l", "arm"]),
        (asks("size", "Gt", "2"), ["m", "l", "arm"]),
        (asks("size", "Lt", "4"), ["s"]),
        (asks("size", "Gte", "4"), ["m", "l", "arm"]),
        (asks("size", "Lte", "4"), ["s", "m", "arm"]),
        (asks("size", "Exists"), ["s", "m", "l", "arm"]),
        (asks("beta.kubernetes.io/arch", "In", "arm64"), ["arm"]),
        (asks("gpu", "DoesNotExist"), ["s", "m", "l", "arm"]),
    ],
)
def test_requirements_choose_instance_types(requirement: Json, expected: list[str]) -> None:
    assert names(read(node_pool(requirement), TYPES)) == [f"general-{name}" for name in expected]


def test_nodes_have_the_labels_of_pool_type_and_offering() -> None:
    pool = node_pool(
        asks(INSTANCE_TYPE, "In", "s"), asks("tier", "In", "gold"), labels={"team": "web"}
    )
    (found,) = read(pool, TYPES).pools
    (first, _) = offers_of([found], "price")
    assert first.template.labels == {
        "team": "web",
        "tier": "gold",
        "size": "2",
        ARCH: "amd64",
        INSTANCE_TYPE: "s",
        NODE_POOL: "general",
        CAPACITY_TYPE: "on-demand",
        ZONE: "a",
    }
    assert first.template.allocatable["cpu"] == 1900


def test_zones_and_capacity_types_choose_offerings() -> None:
    offerings = [
        {"zones": ["a"], "price": "0.2"},
        {"zones": ["b"], "price": "0.3"},
        {"zones": ["a", "b"], "capacityType": "spot", "price": "0.1"},
    ]
    types = table(kind("s", 2, *offerings))
    every = read(node_pool(), types).pools
    assert [(pool.name, pool.zones, pool.price) for pool in every] == [
        ("general-s", ("a",), Decimal("0.2")),
        ("general-s", ("b",), Decimal("0.3")),
        ("general-s-spot", ("a", "b"), Decimal("0.1")),
    ]
    only = read(node_pool(asks(ZONE, "In", "b"), asks(CAPACITY_TYPE, "In", "spot")), types).pools
    assert [(pool.name, pool.zones) for pool in only] == [("general-s-spot", ("b",))]


def test_a_type_without_zones_is_where_the_pool_or_the_cluster_is() -> None:
    types = table(kind("s", 2, {"price": 1}))
    there = (node("n1", "x"), node("n2", "y"))
    assert read(node_pool(), types, nodes=there).pools[0].zones == ("x", "y")
    required = node_pool(asks(ZONE, "In", "y", "z"))
    assert read(required, types, nodes=there).pools[0].zones == ("y", "z")


def test_limits_are_shared_by_all_types_and_count_the_nodes_that_are_there() -> None:
    labels = {"labels": {NODE_POOL: "general"}}
    there = node("n1", metadata=labels, status={"capacity": {"cpu": "4"}})
    found = read(node_pool(limits={"cpu": "14"}), TYPES, nodes=(there,))
    assert {pool.name: pool.most for pool in found.pools} == {
        "general-s": 5,
        "general-m": 2,
        "general-l": 1,
        "general-arm": 2,
    }
    cluster, offers = cluster_of(there), offers_of(found.pools, "price")
    filling = Filling(cluster, (), offers, default_profile())
    assert filling.allowed((1, 0, 0, 0, 1, 0, 0, 0))
    assert not filling.allowed((2, 0, 0, 0, 1, 0, 0, 0))


@pytest.mark.parametrize(
    ("pool", "message", "field"),
    [
        (
            node_pool(asks(INSTANCE_TYPE, "In", "s", "xl")),
            "allows instance types that the table lacks: xl",
            "requirements[0]",
        ),
        (node_pool(asks("rack", "In", "1", "2")), "asks for rack In [1, 2]", "requirements[0]"),
        (node_pool(asks("rack", "Exists")), "asks for rack Exists", "requirements[0]"),
        (node_pool(asks("size", "Gt", "8")), "allows none of the instance types", "requirements"),
        (node_pool(asks(ZONE, "In", "c")), "allows no zone and capacity type", "requirements"),
        (node_pool(replicas=3), "fixed number of nodes", "spec.replicas"),
        (node_pool(asks("size", "Above", "8")), "Above", "operator"),
        (node_pool(asks("size", "Gt", "big")), "one whole number", "values"),
        (node_pool(limits={"cpu": "1"}), "may have no more nodes", ""),
    ],
)
def test_what_a_pool_can_not_mean_is_refused_with_its_place(
    pool: Json, message: str, field: str
) -> None:
    with pytest.raises(PlannerError) as raised:
        read(pool, TYPES)
    assert message in f"{raised.value.message} {raised.value.detail}"
    assert field in (raised.value.field or "")
    assert raised.value.file == "pools.yaml"


def test_without_a_table_it_says_what_is_missing() -> None:
    with pytest.raises(PlannerError, match="no instance types are there") as raised:
        read(node_pool())
    assert "sample-instance-types" in (raised.value.help or "")


def test_a_type_without_price_among_priced_ones_is_refused() -> None:
    with pytest.raises(PlannerError) as raised:
        read(node_pool(), table(kind("s", 2), kind("m", 4, {"zones": ["a"]})))
    assert raised.value.message == "pool m has no price, and others have"
    assert raised.value.object == "InstanceTypes m"


def test_an_instance_type_that_stands_there_twice_is_refused() -> None:
    with pytest.raises(PlannerError, match="instance type s is there twice"):
        read(node_pool(), TYPES, table(kind("s", 2)))


def test_a_field_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(PlannerError) as raised:
        read(node_pool(), table({**kind("s", 2), "cpus": 2}))
    assert "cpus" in f"{raised.value.field} {raised.value.message}"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"weight": 10}, "spec.weight of NodePool general is not used"),
        ({"limits": {"cpu": "2"}}, "the limits of NodePool general leave no room"),
    ],
)
def test_what_is_not_used_is_named(spec: Json, text: str) -> None:
    assert any(text in notice.text for notice in read(node_pool(**spec), TYPES).notices)


def test_objects_that_are_no_pools_are_named() -> None:
    other = {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "d"},
    }
    texts = [notice.text for notice in read(node_pool(), TYPES, other).notices]
    assert any("1 EC2NodeClass" in text for text in texts)


def test_prices_of_the_sample_say_that_they_are_samples() -> None:
    sample = yaml.safe_load(SAMPLE_FILE.read_text())
    found = read(node_pool(), sample, nodes=(node("n1", "x"),))
    assert len(found.pools) == 12
    assert any("samples, not offers" in notice.text for notice in found.notices)


def test_the_sample_takes_off_what_the_kubelet_keeps() -> None:
    """6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest."""
    sample = InstanceTypes.model_validate(yaml.safe_load(SAMPLE_FILE.read_text()))
    steps = [(0, 60), (1, 10), (2, 5), (4, 2.5), (1 << 20, 0)]
    for each in sample.types:
        has, left = in_scheduler_units(each.capacity), in_scheduler_units(each.allocatable)
        cores = has["cpu"] // 1000
        kept = sum(
            rate * max(0, min(cores, end) - start) for (start, rate), (end, _) in pairwise(steps)
        )
        assert left["cpu"] == has["cpu"] - kept
        machine = has["memory"] * 925 // 1000 >> 20
        assert left["memory"] >> 20 == machine - 255 - 11 * left["pods"] - 100
