"""VolumeBinding: where bound volumes are, and what unbound claims find."""

from __future__ import annotations

from typing import Any

import pytest

from planner.scheduler.plugins.volume_binding import REASON_IMMEDIATE, REASONS, VolumeBinding
from planner.scheduler.volumes.matching import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_MISSING,
)
from planner_models.volume import (
    SELECTED_NODE,
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolumeClaim,
)
from tests.scheduler.volume_examples import (
    DRIVER,
    ZONE,
    claim,
    gets,
    node,
    place,
    pod,
    pre_filter,
    refusals,
    rejection,
    remove,
    state_of,
    storage_class,
    volume,
)

BINDING = VolumeBinding()
NODES = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
STATIC = storage_class(provisioner="kubernetes.io/no-provisioner")

WRONG_NODE = REASONS[NODE_CONFLICT]
NO_VOLUME = REASONS[BIND_CONFLICT]
NO_SPACE = REASONS[NOT_ENOUGH_SPACE]
MISSING = REASONS[VOLUME_MISSING]


def test_a_pod_without_claims_is_none_of_its_business() -> None:
    state = state_of(NODES, [pod("web", volumes=[{"name": "tmp", "emptyDir": {}}])])
    assert pre_filter(BINDING, state, "web").filter is None


def test_a_zonal_volume_pins_the_pod_to_its_zone() -> None:
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", bound_to="disk")],
        volumes=[volume("disk", zones=["a"])],
    )
    assert refusals(BINDING, state, "db") == {"b1": WRONG_NODE}


def test_match_fields_of_a_volume_ask_nothing_because_only_labels_are_shown_to_it() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["a1"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", bound_to="disk")],
        volumes=[volume("disk", nodeAffinity={"required": required})],
    )
    assert refusals(BINDING, state, "db") == {}


def test_a_volume_that_is_gone_refuses_every_node() -> None:
    state = state_of(NODES, [pod("db", "data")], claims=[claim("data", bound_to="gone")])
    assert refusals(BINDING, state, "db") == dict.fromkeys(["a1", "a2", "b1"], MISSING)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (None, 'persistentvolumeclaim "data" not found'),
        (
            claim("data", bound_to="gone").model_copy(
                update={"status": claim("x").status.model_copy(update={"phase": "Lost"})}
            ),
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "gone"',
        ),
        (claim("data", storage_class=None), REASON_IMMEDIATE),
        (claim("data", storage_class="unknown"), REASON_IMMEDIATE),
        (claim("data", storage_class="early"), REASON_IMMEDIATE),
        (claim("data", volumeName="disk"), REASON_IMMEDIATE),
    ],
    ids=["missing", "lost", "no class", "unknown class", "immediate", "binding not completed"],
)
def test_an_unusable_claim_rejects_the_pod_before_any_node_is_looked_at(
    broken: PersistentVolumeClaim | None, reason: str
) -> None:
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[broken] if broken else [],
        classes=[storage_class(), storage_class("early", volumeBindingMode="Immediate")],
    )
    found = rejection(BINDING, state, "db")
    assert found is not None
    assert found.reasons == (reason,)
    assert found.code == "UnschedulableAndUnresolvable"


def test_a_claim_that_is_being_deleted_rejects_the_pod() -> None:
    going = claim("data", bound_to="disk")
    going = going.replace(metadata=going.metadata.replace(deletion_timestamp=1))
    state = state_of(NODES, [pod("db", "data")], claims=[going], volumes=[volume("disk")])
    found = rejection(BINDING, state, "db")
    assert found is not None
    assert found.reasons == ('persistentvolumeclaim "data" is being deleted',)


EPHEMERAL: dict[str, Any] = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        (
            [],
            "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            '"worker-scratch"',
        ),
        (
            [claim("worker-scratch")],
            "PVC default/worker-scratch was not created for pod default/worker (pod is not owner)",
        ),
    ],
    ids=["not made yet", "somebody else's"],
)
def test_the_claim_of_an_ephemeral_volume_must_exist_and_belong_to_the_pod(
    claims: list[PersistentVolumeClaim], reason: str
) -> None:
    state = state_of(NODES, [pod("worker", volumes=[EPHEMERAL])], claims=claims)
    found = rejection(BINDING, state, "worker")
    assert found is not None
    assert found.reasons == (reason,)


def test_an_ephemeral_volume_follows_its_claim() -> None:
    state = state_of(
        NODES,
        [pod("worker", volumes=[EPHEMERAL])],
        claims=[claim("worker-scratch", bound_to="disk", owner="worker")],
        volumes=[volume("disk", zones=["b"])],
    )
    assert refusals(BINDING, state, "worker") == {"a1": WRONG_NODE, "a2": WRONG_NODE}


def test_a_waiting_claim_takes_the_smallest_free_volume_that_reaches_the_node() -> None:
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", size="10Gi")],
        volumes=[
            volume("large", zones=["a"], size="50Gi"),
            volume("right", zones=["a"], size="20Gi"),
            volume("small", zones=["a", "b"], size="5Gi"),
        ],
        classes=[STATIC],
    )
    assert refusals(BINDING, state, "db") == {"b1": NO_VOLUME}
    assert gets(state, "db", on="a1") == ({"data": "right"}, [])
    assert gets(state, "db", on="b1") == ({}, [])


@pytest.mark.parametrize(
    "unfit",
    [
        volume("disk", storage_class="other"),
        volume("disk", volumeMode="Block"),
        volume("disk", accessModes=["ReadOnlyMany"]),
        volume("disk", claimRef={"namespace": "default", "name": "other"}),
        volume("disk", labels={"tier": "slow"}),
        volume("disk").replace(status=volume("x").status.replace(phase="Released")),
        volume("disk").replace(metadata=volume("disk").metadata.replace(deletion_timestamp=1)),
    ],
    ids=["class", "mode", "access modes", "another's", "selector", "phase", "deleted"],
)
def test_a_free_volume_must_fit_in_every_way(unfit: Any) -> None:
    state = state_of(
        [node("a1")],
        [pod("db", "data")],
        claims=[claim("data", selector={"matchLabels": {"tier": "fast"}})],
        volumes=[unfit.replace(metadata=unfit.metadata.replace(labels={"tier": "fast"}))]
        if not unfit.metadata.labels
        else [unfit],
        classes=[STATIC],
    )
    assert refusals(BINDING, state, "db") == {"a1": NO_VOLUME}


def test_a_volume_that_names_the_claim_goes_first_and_alone() -> None:
    reserved = volume(
        "reserved", zones=["a"], size="90Gi", claimRef={"namespace": "default", "name": "data"}
    )
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data")],
        volumes=[reserved, volume("free")],
        classes=[STATIC],
    )
    assert gets(state, "db", on="a1") == ({"data": "reserved"}, [])
    assert refusals(BINDING, state, "db") == {"b1": NO_VOLUME}


def test_two_claims_of_a_pod_take_two_volumes_the_smaller_claim_choosing_first() -> None:
    state = state_of(
        [node("a1")],
        [pod("db", "data", "log")],
        claims=[claim("data", size="20Gi"), claim("log", size="1Gi")],
        volumes=[volume("one", size="20Gi"), volume("two", size="30Gi")],
        classes=[STATIC],
    )
    assert gets(state, "db", on="a1") == ({"data": "two", "log": "one"}, [])


def test_without_a_free_volume_the_class_provisions_where_its_topologies_allow() -> None:
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "c"]}]}]
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data")],
        classes=[storage_class(allowedTopologies=allowed)],
    )
    assert refusals(BINDING, state, "db") == {"a1": NO_VOLUME, "a2": NO_VOLUME}
    assert gets(state, "db", on="b1") == ({}, ["data"])


def test_reasons_of_bound_and_unbound_claims_add_up() -> None:
    state = state_of(
        [node("a1")],
        [pod("db", "old", "new")],
        claims=[claim("old", bound_to="disk"), claim("new")],
        volumes=[volume("disk", zones=["z"])],
        classes=[STATIC],
    )
    assert refusals(BINDING, state, "db") == {"a1": f"{NO_VOLUME}, {WRONG_NODE}"}


def test_the_selected_node_annotation_excludes_all_other_nodes() -> None:
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", annotations={SELECTED_NODE: "a2"})],
        volumes=[volume("free")],
        classes=[storage_class()],
    )
    assert refusals(BINDING, state, "db") == {"a1": NO_VOLUME, "b1": NO_VOLUME}
    assert gets(state, "db", on="a2") == ({}, ["data"])


def test_the_second_pod_of_an_unbound_shared_claim_follows_the_first() -> None:
    state = state_of(
        NODES,
        [pod("one", "shared"), pod("two", "shared")],
        claims=[claim("shared")],
        classes=[storage_class()],
    )
    place(state, "one", on="a2")
    assert refusals(BINDING, state, "two") == {"a1": NO_VOLUME, "b1": NO_VOLUME}
    remove(state, "one")
    assert refusals(BINDING, state, "two") == {}


def test_a_volume_promised_to_one_claim_is_no_longer_free_for_another() -> None:
    state = state_of(
        NODES,
        [pod("one", "data-1"), pod("two", "data-2")],
        claims=[claim("data-1"), claim("data-2")],
        volumes=[volume("disk", hosts=["a1"])],
        classes=[STATIC],
    )
    second = pre_filter(BINDING, state, "two")
    assert second.filter is not None
    assert second.filter.verdicts().tolist() == [0, BIND_CONFLICT, BIND_CONFLICT]
    place(state, "one", on="a1")
    assert second.filter.verdicts().tolist() == [BIND_CONFLICT] * 3
    remove(state, "one")
    assert second.filter.verdicts().tolist() == [0, BIND_CONFLICT, BIND_CONFLICT]


def capacity(zone: str | None, **sizes: str) -> CSIStorageCapacity:
    topology = None if zone is None else {"matchLabels": {ZONE: zone} if zone else {}}
    return CSIStorageCapacity.model_validate(
        {
            "metadata": {"name": "capacity"},
            "storageClassName": "late",
            "nodeTopology": topology,
            **sizes,
        }
    )


@pytest.mark.parametrize(
    ("capacities", "refused"),
    [
        ([], ["a1", "a2", "b1"]),
        ([capacity("a", capacity="10Gi")], ["b1"]),
        ([capacity("a", capacity="9Gi")], ["a1", "a2", "b1"]),
        ([capacity("a", capacity="90Gi", maximumVolumeSize="9Gi")], ["a1", "a2", "b1"]),
        ([capacity("", capacity="10Gi")], []),
        ([capacity(None, capacity="10Gi")], ["a1", "a2", "b1"]),
    ],
    ids=["nothing known", "enough in a zone", "too little", "volumes too small", "all", "none"],
)
def test_a_driver_that_publishes_its_capacity_must_have_room_for_the_claim(
    capacities: list[CSIStorageCapacity], refused: list[str]
) -> None:
    driver = {"metadata": {"name": DRIVER}, "spec": {"storageCapacity": True}}
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", size="10Gi")],
        classes=[storage_class()],
        csi_drivers=(CSIDriver.model_validate(driver),),
        storage_capacities=tuple(capacities),
    )
    assert refusals(BINDING, state, "db") == dict.fromkeys(refused, NO_SPACE)
