"""What running pods break, against the naive twin; small clusters with everything in them."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster, spread_screen
from planner.replay import Violation, violations
from planner.scheduler.profile import default_profile
from planner_models.node import HOSTNAME, UNSCHEDULABLE_TAINT, ZONE
from tests.objects import cluster_of
from tests.replay.naive_violations import REQUIRED, Crowded, Misplaced, Objects, crowded, misplaced

Json = dict[str, Any]
PROFILE = default_profile()
NAMESPACES = ("default", "other")
KEYS = st.sampled_from((ZONE, HOSTNAME))
TAINTS = (
    {"key": "gpu", "effect": "NoSchedule"},
    {"key": "gpu", "value": "old", "effect": "NoExecute"},
    {"key": "gpu", "effect": "PreferNoSchedule"},
    {"key": UNSCHEDULABLE_TAINT, "effect": "NoSchedule"},
)
TOLERATIONS = (
    {"key": "gpu", "operator": "Exists"},
    {"key": "gpu", "operator": "Equal", "value": "old"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": UNSCHEDULABLE_TAINT, "operator": "Exists"},
)
SELECTORS: tuple[Json | None, ...] = (
    None,
    {},
    {"matchLabels": {"app": "a"}},
    {"matchLabels": {"app": "b"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
)
NODE_TERMS: tuple[Json, ...] = (
    {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["x"]}]},
    {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["x"]}]},
    {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]},
    {"matchExpressions": [{"key": "cores", "operator": "Exists"}]},
)


def some(choices: tuple[Any, ...], most: int = 2) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(choices), max_size=most, unique_by=repr)


@st.composite
def nodes(draw: st.DrawFn) -> list[Json]:
    found = []
    for index in range(draw(st.integers(1, 5))):
        zone, cores = draw(st.sampled_from(("x", "y", "z", ""))), draw(st.sampled_from(("8", "2")))
        labels = {HOSTNAME: f"n{index}", "cores": cores, **({ZONE: zone} if zone else {})}
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"n{index}", "labels": labels},
                "spec": {
                    "taints": draw(st.one_of(st.just([]), some(TAINTS))),
                    "unschedulable": draw(st.booleans()),
                },
                "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
            }
        )
    return found


@st.composite
def constraint(draw: st.DrawFn) -> Json:
    hard = draw(st.sampled_from((True, True, True, False)))
    made: Json = {
        "maxSkew": draw(st.integers(1, 2)),
        "topologyKey": draw(KEYS),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "nodeAffinityPolicy": draw(st.sampled_from(("Honor", "Ignore"))),
        "nodeTaintsPolicy": draw(st.sampled_from(("Honor", "Ignore"))),
        "matchLabelKeys": draw(some(("tier",))),
    }
    least = draw(st.sampled_from((None, 1, 3)))
    selector = draw(st.sampled_from((*SELECTORS, *([{"matchLabels": {"app": "a"}}] * 6))))
    if least is not None and hard:
        made["minDomains"] = least
    if selector is not None:
        made["labelSelector"] = selector
    else:
        del made["matchLabelKeys"]
    return made


@st.composite
def term(draw: st.DrawFn) -> Json:
    made: Json = {"topologyKey": draw(KEYS), "namespaces": draw(some(NAMESPACES, 1))}
    selector = draw(st.sampled_from((None, {}, {"matchLabels": {"team": "t"}})))
    if selector is not None:
        made["namespaceSelector"] = selector
    labels = draw(st.sampled_from(SELECTORS))
    if labels is not None:
        made["labelSelector"] = labels
    return made


@st.composite
def specs(draw: st.DrawFn) -> Json:
    affinity: Json = {"podAntiAffinity": {REQUIRED: draw(st.lists(term(), max_size=2))}}
    terms = draw(st.one_of(st.just([]), some(NODE_TERMS)))
    if terms:
        affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}
    return {
        "containers": [{"name": "main"}],
        "affinity": affinity,
        "nodeSelector": draw(st.sampled_from(({}, {}, {ZONE: "x"}))),
        "tolerations": draw(some(TOLERATIONS)),
        "topologySpreadConstraints": draw(
            st.lists(constraint(), max_size=2, unique_by=lambda c: c["topologyKey"])
        ),
    }


@st.composite
def dumps(draw: st.DrawFn) -> Objects:
    there = draw(nodes())
    places = [node["metadata"]["name"] for node in there] * 2 + ["", "elsewhere"]
    pods: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        labels = {"app": draw(st.sampled_from("aab")), **draw(st.sampled_from(({}, {"tier": "1"})))}
        spec, namespace = draw(specs()), draw(st.sampled_from(NAMESPACES))
        for index, place in enumerate(draw(st.lists(st.sampled_from(places), max_size=8))):
            metadata = {"name": f"w{number}-{index}", "namespace": namespace, "labels": labels}
            if draw(st.sampled_from((False, False, False, True))):
                metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            placed = {"nodeName": place} if place else {}
            pods.append(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {**metadata, "uid": metadata["name"]},
                    "spec": {**spec, **placed},
                    "status": {"phase": "Running" if place else "Pending"},
                }
            )
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}]
    if draw(st.booleans()):
        metadata = {"name": "other", "labels": {"team": "t"}}
        namespaces.append({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    return Objects(there, pods, namespaces)


def pod_keys(cluster: Cluster, violation: Violation) -> frozenset[str]:
    return frozenset(cluster.pods[pod].key for pod in violation.pods)


@pytest.mark.parametrize("worth_a_table", [1, spread_screen.MANY])
@settings(max_examples=200, deadline=None)
@given(objects=dumps())
def test_violations_are_those_that_a_look_at_every_pod_finds(
    worth_a_table: int, objects: Objects
) -> None:
    cluster = cluster_of(*objects.nodes, *objects.pods, *objects.namespaces)
    with patch.object(spread_screen, "MANY", worth_a_table):
        found = violations(cluster, PROFILE)
    spread = [
        Crowded(v.topology_key, v.domain, v.count, v.allowed, pod_keys(cluster, v))
        for v in found
        if v.rule == "topologySpread"
    ]
    alone = [
        Misplaced(v.rule, key, v.domain, v.index)
        for v in found
        if v.rule != "topologySpread"
        for key in sorted(pod_keys(cluster, v))
    ]
    assert sorted(spread, key=repr) == sorted(crowded(objects), key=repr)
    assert sorted(alone, key=repr) == sorted(misplaced(objects), key=repr)
    assert all(v.excess == len(v.pods) for v in found if v.rule != "topologySpread")
