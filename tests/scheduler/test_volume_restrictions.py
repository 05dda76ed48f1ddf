"""VolumeRestrictions: ReadWriteOncePod claims and disks that can't be shared."""

from __future__ import annotations

from typing import Any

import pytest

from planner.scheduler.framework.plugin import Change
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.volume_restrictions import (
    REASON_CLAIM,
    REASON_DISK,
    VolumeRestrictions,
    conflict,
)
from planner_models.volume import Volume
from tests.scheduler.volume_examples import (
    claim,
    index,
    judged,
    judged_at,
    node,
    place,
    pod,
    pre_filter,
    refusals,
    rejection,
    remove,
    state_of,
    storage_class,
)

RESTRICTIONS = VolumeRestrictions()
NODES = [node("n1"), node("n2")]


def once(name: str, namespace: str = "default") -> Any:
    return claim(name, modes=["ReadWriteOncePod"], namespace=namespace)


def test_a_missing_claim_rejects_the_pod() -> None:
    state = state_of(NODES, [pod("db", "data")])
    found = rejection(RESTRICTIONS, state, "db")
    assert found is not None
    assert found.reasons == ('persistentvolumeclaim "data" not found',)


def test_claims_that_may_be_shared_are_not_looked_at() -> None:
    state = state_of(
        NODES, [pod("one", "data", on="n1"), pod("two", "data")], claims=[claim("data")]
    )
    assert pre_filter(RESTRICTIONS, state, "two").filter is None


def test_one_user_of_a_read_write_once_pod_claim_refuses_every_node_to_others() -> None:
    state = state_of(
        NODES,
        [pod("one", "data"), pod("two", "data")],
        claims=[once("data")],
        classes=[storage_class()],
    )
    second = pre_filter(RESTRICTIONS, state, "two")
    assert judged(state, second) == {}
    place(state, "one", on="n1")
    assert judged(state, second) == {"n1": REASON_CLAIM, "n2": REASON_CLAIM}
    remove(state, "one")
    assert judged(state, second) == {}


def test_users_in_other_namespaces_have_another_claim() -> None:
    state = state_of(
        NODES,
        [pod("one", "data", on="n1", namespace="other"), pod("two", "data")],
        claims=[once("data"), once("data", "other")],
    )
    assert refusals(RESTRICTIONS, state, "two") == {}


def dry_run(state: SchedulingState, filter_: Any, victim: int, delta: int) -> None:
    group = int(state.cluster.group_of[victim])
    filter_.dry_run(Change(group, int(state.node_of[victim]), delta, False))


@pytest.mark.parametrize("namespace", ["default", "other"])
def test_preemption_counts_users_by_the_claims_name_alone(namespace: str) -> None:
    state = state_of(
        NODES,
        [
            pod("user", "data", on="n1"),
            pod("stranger", "data", on="n2", namespace="other"),
            pod("urgent", "data"),
        ],
        claims=[once("data"), once("data", "other")],
    )
    result = pre_filter(RESTRICTIONS, state, "urgent")
    victim = index(state, "user" if namespace == "default" else "stranger", namespace)
    dry_run(state, result.filter, victim, -1)
    assert judged_at(state, result, "n1") == ""
    dry_run(state, result.filter, victim, 1)
    assert judged(state, result) == {"n1": REASON_CLAIM, "n2": REASON_CLAIM}


def disk(read_only: bool = False) -> dict[str, Any]:
    source = {"monitors": ["m1", "m2"], "image": "img", "readOnly": read_only}
    return {"name": "disk", "rbd": source}


def test_a_disk_in_use_refuses_its_node_alone() -> None:
    state = state_of(NODES, [pod("one", on="n1", volumes=[disk()]), pod("two", volumes=[disk()])])
    second = pre_filter(RESTRICTIONS, state, "two")
    assert judged(state, second) == {"n1": REASON_DISK}
    dry_run(state, second.filter, index(state, "one"), -1)
    assert judged_at(state, second, "n1") == ""


def gce(name: str, read_only: bool) -> dict[str, Any]:
    return {"name": "v", "gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def iscsi(iqn: str, read_only: bool) -> dict[str, Any]:
    return {"name": "v", "iscsi": {"iqn": iqn, "readOnly": read_only}}


def rbd(monitor: str, read_only: bool) -> dict[str, Any]:
    source = {"monitors": [monitor, "m9"], "image": "i", "readOnly": read_only}
    return {"name": "v", "rbd": source}


def aws(name: str, read_only: bool) -> dict[str, Any]:
    return {"name": "v", "awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (gce("d", False), gce("d", True), True),
        (gce("d", True), gce("d", True), False),
        (gce("d", False), gce("e", False), False),
        (iscsi("q", False), iscsi("q", True), True),
        (iscsi("q", True), iscsi("q", True), False),
        (rbd("m1", False), rbd("m2", True), True),
        (rbd("m1", True), rbd("m1", True), False),
        (aws("v", True), aws("v", True), True),
        (aws("v", False), gce("v", False), False),
    ],
)
def test_a_disk_may_be_shared_read_only_unless_it_is_an_aws_one(
    one: dict[str, Any], other: dict[str, Any], expected: bool
) -> None:
    assert conflict(Volume.model_validate(one), Volume.model_validate(other)) is expected
