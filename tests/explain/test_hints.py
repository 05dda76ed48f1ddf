"""Typos and traps are named where they matter."""

from __future__ import annotations

from typing import Any

import pytest

from planner.cluster import Cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.explain.situation.lookalikes import looks_like
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Diagnosis
from tests.explain.situations import (
    THREE_ZONES,
    ZONAL_CLASS,
    nodes,
    requests,
    spread,
    stateful,
    too_many_domains,
    workload,
    zonal_volume,
)
from tests.objects import ZONE, cluster_of, pod

Json = dict[str, Any]


def explained(cluster: Cluster) -> Diagnosis:
    return explain_pods(cluster, cluster.pending.tolist()[:1], default_profile(), ExplainOptions())


def codes(cluster: Cluster) -> list[str]:
    return [hint.code for hint in explained(cluster).hints]


def with_constraint(**changes: Any) -> Cluster:
    body = {**requests("500m"), "topologySpreadConstraints": [{**spread("web"), **changes}]}
    return cluster_of(*nodes(THREE_ZONES), *workload("web", ["a1", "a2"], 1, spec=body))


def test_a_selector_that_misses_the_pod_itself() -> None:
    selector = {"matchLabels": {"app": "wbe"}}
    assert codes(with_constraint(labelSelector=selector)) == ["selectorMissesPod"]


def test_an_empty_selector_counts_nobody() -> None:
    assert codes(with_constraint(labelSelector={})) == ["emptySelector"]


def test_an_absent_selector_does_nothing() -> None:
    assert codes(with_constraint(labelSelector=None)) == ["nullSelector"]


def test_min_domains_above_the_domains_there_are() -> None:
    assert codes(too_many_domains()) == ["minDomains"]


def test_a_volume_that_can_t_reach_a_zone_that_counts() -> None:
    assert codes(zonal_volume()) == ["volumeAgainstSpread"]


def test_a_request_above_any_node() -> None:
    cluster = cluster_of(*nodes(THREE_ZONES), *workload("report", pending=1, spec=requests("6")))
    found = explained(cluster)
    assert [hint.code for hint in found.hints] == ["aboveAnyNode"]
    assert found.headline == "report needs 6 CPU; no node has more than 4"


def test_a_hundred_million_cores_were_probably_a_hundred_milli_cores() -> None:
    cluster = cluster_of(*nodes(THREE_ZONES), pod("mypod", spec=requests("100M")))
    hint = explained(cluster).hints[0]
    assert hint.text == "the CPU request is 100M cores. Did you mean 100m?"


def test_a_tenth_of_a_byte_was_probably_a_hundred_megabytes() -> None:
    cluster = cluster_of(*nodes(THREE_ZONES), pod("mypod", spec=requests("100m", "100m")))
    assert "memoryUnit" in codes(cluster)


def test_match_label_keys_make_each_revision_count_alone() -> None:
    body = {
        **requests("500m"),
        "topologySpreadConstraints": [spread("web", matchLabelKeys=["revision"])],
    }
    old = pod("old", "a1", spec=body, metadata={"labels": {"app": "web", "revision": "1"}})
    new = pod("new", "b1", spec=body, metadata={"labels": {"app": "web", "revision": "2"}})
    waiting = pod("waits", spec=body, metadata={"labels": {"app": "web", "revision": "2"}})
    assert "matchLabelKeys" in codes(cluster_of(*nodes(THREE_ZONES), old, new, waiting))


def test_terminating_pods_are_not_counted() -> None:
    body = {**requests("500m"), "topologySpreadConstraints": [spread("web")]}
    labels = {"labels": {"app": "web"}}
    leaving = {**labels, "deletionTimestamp": "2026-05-01T12:00:00Z"}
    cluster = cluster_of(
        *nodes(THREE_ZONES),
        pod("stays", "a1", spec=body, metadata=labels),
        pod("leaves", "b1", spec=body, metadata=leaving),
        pod("waits", spec=body, metadata=labels),
    )
    assert "terminatingNotCounted" in codes(cluster)


def test_taints_on_some_nodes_of_a_zone_under_honor() -> None:
    taint = {"key": "special", "effect": "NoSchedule"}
    body = {
        **requests("500m"),
        "topologySpreadConstraints": [spread("web", nodeTaintsPolicy="Honor")],
    }
    cluster = cluster_of(
        *nodes({"eu-1a": ["a1"], "eu-1b": ["b1"]}),
        *nodes({"eu-1a": ["a2"]}, spec={"taints": [taint]}),
        *workload("web", ["b1"], 1, spec=body),
    )
    assert "partlyTainted" in codes(cluster)


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("zone-typo", "zone"),
        ("Zone", "zone"),
        ("topolgy.kubernetes.io/zone", ZONE),
        ("failure-domain.beta.kubernetes.io/zone", ZONE),
        ("rak", "rack"),
    ],
)
def test_keys_that_look_alike(key: str, wanted: str) -> None:
    assert looks_like(key, wanted)


@pytest.mark.parametrize(
    ("key", "wanted"),
    [("kubernetes.io/arch", "zone"), ("zone", "zone"), ("node", "zone"), ("rack", "row")],
)
def test_keys_that_don_t(key: str, wanted: str) -> None:
    assert not looks_like(key, wanted)


def test_a_claim_that_waits_for_its_first_consumer_where_spread_does_not_allow_it() -> None:
    places = [{"matchLabelExpressions": [{"key": ZONE, "values": ["eu-1a"]}]}]
    claim: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-2", "namespace": "default"},
        "spec": {
            "storageClassName": "zonal-ssd",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    body = {**requests("1"), "topologySpreadConstraints": [spread("db")]}
    labels = {"labels": {"app": "db"}}
    cluster = cluster_of(
        *nodes(THREE_ZONES),
        {**ZONAL_CLASS, "allowedTopologies": places},
        claim,
        pod("db-0", "a1", spec=body, metadata=labels),
        pod("db-1", "b1", spec=body, metadata=labels),
        pod("db-2", spec=stateful("db-2", "data-db-2", body), metadata=labels),
    )
    assert codes(cluster) == ["volumeAgainstSpread"]


def test_nodes_that_lack_one_of_several_keys_are_named() -> None:
    body = {
        **requests("500m"),
        "topologySpreadConstraints": [spread("web"), spread("web", "rack")],
    }
    racks: Json = {"metadata": {"labels": {"rack": "r1"}}}
    cluster = cluster_of(
        *nodes({"eu-1a": ["a1"]}, **racks),
        *nodes({"eu-1b": ["b1"]}),
        *workload("web", ["a1"], 1, spec=body),
    )
    hint = explained(cluster).hints[0]
    assert hint.code == "bypassedNodes"
    assert hint.text == "1 of 2 nodes is bypassed, because it lacks the label rack: b1."


def test_more_room_that_would_not_help() -> None:
    cluster = cluster_of(
        *nodes({"eu-1a": ["a1"]}),
        *workload("batch", ["a1"], spec=requests("4")),
        *workload("web", pending=1, spec={**requests("1"), "nodeSelector": {"disk": "ssd"}}),
    )
    assert "moreRoomWouldNotHelp" in codes(cluster)
