"""VolumeZone: zone labels on bound volumes."""

from __future__ import annotations

from typing import Any

import pytest

from planner.scheduler.plugins.volume_zone import BETA_ZONE, REASON, VolumeZone
from planner_models.meta import ObjectMeta
from planner_models.node import Node
from tests.scheduler.volume_examples import (
    ZONE,
    claim,
    node,
    pod,
    pre_filter,
    refusals,
    rejection,
    state_of,
    storage_class,
    volume,
)

NODES = [
    node("a", zone="a"),
    node("b", zone="b"),
    node("old-a", {BETA_ZONE: "a"}),
    node("somewhere"),
]


def refused(labels: dict[str, str], nodes: list[Node] = NODES) -> list[str]:
    state = state_of(
        nodes,
        [pod("db", "data")],
        claims=[claim("data", bound_to="disk")],
        volumes=[volume("disk", labels=labels)],
    )
    found = refusals(VolumeZone(), state, "db")
    assert set(found.values()) <= {REASON}
    return sorted(found)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, []),
        ({ZONE: "a"}, ["b", "old-a"]),
        ({BETA_ZONE: "a"}, ["b"]),
        ({ZONE: "a__b"}, ["old-a"]),
        ({ZONE: "a____b"}, []),
        ({ZONE: "a", "topology.kubernetes.io/region": "eu"}, ["a", "b", "old-a"]),
    ],
    ids=[
        "no label",
        "a current label is compared with the current one only",
        "a beta label with either",
        "two zones",
        "a label with an empty part is ignored",
        "every label must match",
    ],
)
def test_a_zone_label_of_the_volume_pins_the_pod_except_to_nodes_without_zone(
    labels: dict[str, str], expected: list[str]
) -> None:
    assert refused(labels) == expected


def test_the_beta_label_of_a_node_wins_over_its_current_one_for_a_beta_volume() -> None:
    moved = Node(metadata=ObjectMeta(name="moved", labels={ZONE: "a", BETA_ZONE: "b"}))
    assert refused({BETA_ZONE: "a"}, [moved]) == ["moved"]


def test_a_volume_that_is_gone_rejects_the_pod() -> None:
    state = state_of(NODES, [pod("db", "data")], claims=[claim("data", bound_to="gone")])
    found = rejection(VolumeZone(), state, "db")
    assert found is not None
    assert found.reasons == ('persistentvolume "gone" not found',)


def test_ephemeral_volumes_are_not_looked_at() -> None:
    ephemeral: dict[str, Any] = {"name": "scratch", "ephemeral": {}}
    state = state_of(
        NODES,
        [pod("db", volumes=[ephemeral])],
        claims=[claim("db-scratch", bound_to="disk", owner="db")],
        volumes=[volume("disk", labels={ZONE: "a"})],
    )
    assert pre_filter(VolumeZone(), state, "db").filter is None


def test_unbound_claims_wait_for_their_consumer() -> None:
    state = state_of(NODES, [pod("db", "data")], claims=[claim("data")], classes=[storage_class()])
    assert pre_filter(VolumeZone(), state, "db").filter is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "PersistentVolumeClaim had no pv name and storageClass name"),
        ("unknown", 'storageclass.storage.k8s.io "unknown" not found'),
        ("early", "PersistentVolume had no name"),
    ],
)
def test_other_unbound_claims_reject_the_pod(name: str | None, reason: str) -> None:
    state = state_of(
        NODES,
        [pod("db", "data")],
        claims=[claim("data", storage_class=name)],
        classes=[storage_class("early", volumeBindingMode="Immediate")],
    )
    found = rejection(VolumeZone(), state, "db")
    assert found is not None
    assert found.reasons == (reason,)
