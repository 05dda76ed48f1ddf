"""Replicas that come one after the other are decided as if each of them were the only one."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.scheduler import alike_nodes
from planner.scheduler.alike_nodes import AlikeNodes
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import LocalScore
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.simulate import Attempt, simulate
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, owned, pod
from tests.scheduler.test_incremental_state import specs
from tests.scheduler.test_simulate import configured

SMALL_NODES = ("1", "2", "4")
SOFT_TAINT = {"key": "old", "effect": "PreferNoSchedule"}


@st.composite
def nodes(draw: st.DrawFn) -> list[Json]:
    found = []
    for i in range(draw(st.integers(1, 7))):
        name, few = f"n{i}", st.integers(0, 4).map(lambda n: n == 0)
        labels = {HOSTNAME: name, ZONE: draw(st.sampled_from("ab")), "rack": f"r{i // 2}"}
        made = node(name)
        made["metadata"]["labels"] = {k: v for k, v in labels.items() if not draw(few)}
        amounts = {"cpu": draw(st.sampled_from(SMALL_NODES)), "memory": "8Gi", "pods": "5"}
        if draw(few):
            del amounts["memory"]
        made["status"]["allocatable"] = amounts
        made["spec"] = {"taints": [SOFT_TAINT]} if draw(few) else {}
        found.append(made)
    return found


@st.composite
def runs(draw: st.DrawFn) -> Cluster:
    """Some running pods, and groups of replicas that wait, with a Service for some."""
    machines = draw(nodes())
    names = ["", *(each["metadata"]["name"] for each in machines)]
    objects: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        app, spec = draw(st.sampled_from(("web", "db"))), draw(specs())
        spec["priority"] = draw(st.integers(0, 1))
        if draw(st.booleans()):
            spec["containers"][0]["resources"]["requests"]["memory"] = "1Gi"
        if draw(st.integers(0, 2)) == 0:
            spec["topologySpreadConstraints"] = []
        for replica in range(draw(st.integers(1, 6))):
            where = draw(st.sampled_from(names)) if replica < 2 else ""
            made = pod(f"p{number}-{replica}", where, spec=spec)
            made["metadata"] |= {"labels": {"app": app}, **owned("ReplicaSet", f"rs{number}")}
            objects.append(made)
    if draw(st.booleans()):
        service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}}
        objects.append({"apiVersion": "v1", "kind": "Service", **service})
    return cluster_of(*machines, *objects)


def _decisions(cluster: Cluster, seed: int) -> list[Any]:
    seen: list[Any] = []

    def look(attempt: Attempt) -> None:
        result, evaluation = attempt.result, attempt.evaluation
        first = evaluation.some_best(2)
        best, feasible = evaluation.best.tolist(), evaluation.feasible.tolist()
        assert (result.feasible, first) == (len(feasible), best[:2])
        seen.append((result.pod, result.node, feasible, best, result.tied, result.message))

    run = simulate(cluster, seed=seed, preempt=bool(seed % 2), observe=look)
    return [seen, run.victims, run.final.node_of.tolist()]


@given(runs(), st.integers(0, 3), st.integers(1, 4))
def test_replicas_are_decided_together_as_one_by_one(cluster: Cluster, seed: int, few: int) -> None:
    """The twin looks at every node with every filter and score."""
    with patch.object(alike_nodes, "FEW_REPLICAS", few):
        together = _decisions(cluster, seed)
    with patch.object(Scheduler, "_choice", lambda *_: None):
        one_by_one = _decisions(cluster, seed)
    assert together == one_by_one


@given(runs(), st.integers(0, 3))
def test_too_many_kinds_of_nodes_are_looked_at_one_by_one(cluster: Cluster, seed: int) -> None:
    together = _decisions(cluster, seed)
    with patch.multiple(alike_nodes, MOST_CLASSES=1, FEW_REPLICAS=1):
        assert _decisions(cluster, seed) == together


def test_classes_are_made_after_a_few_replicas() -> None:
    replicas = [pod(f"web-{i}", metadata=owned("ReplicaSet", "web")) for i in range(8)]
    cluster = cluster_of(node("n1"), node("n2", "b"), *replicas)
    with patch.object(AlikeNodes, "of", side_effect=AlikeNodes.of) as made:
        counts: list[int] = []
        simulate(cluster, observe=lambda _: counts.append(made.call_count))
    few = alike_nodes.FEW_REPLICAS
    assert counts == [0] * few + [1] * (len(replicas) - few)


STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(
    offered=st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)),
    asked=st.tuples(st.integers(0, 2**61), st.integers(0, 2**61)),
)
def test_one_node_is_scored_as_many_are(
    strategy: str, offered: tuple[int, int], asked: tuple[int, int]
) -> None:
    amounts = {"cpu": f"{offered[0]}m", "memory": str(offered[1]), "pods": "9"}
    requests = {"cpu": f"{asked[0]}m", "memory": str(asked[1])}
    running, waiting = (
        pod(name, where, spec={"containers": [{"name": "c", "resources": {"requests": requests}}]})
        for name, where in (("a", "n1"), ("b", ""))
    )
    made = node("n1")
    made["status"]["allocatable"] = amounts
    scoring: Json = {"type": strategy}
    if strategy == STRATEGIES[-1]:
        shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
        scoring["requestedToCapacityRatio"] = {"shape": shape}
    arguments = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": scoring}}]
    (profile,) = configured(profiles=[{"pluginConfig": arguments}])
    cluster = cluster_of(made, running, waiting)
    scheduler = Scheduler(SchedulingState(cluster), profile)
    for _, _, score in scheduler.cycle(cluster.pod_index["default/b"]).scores:
        if isinstance(score, LocalScore):
            assert score.judge_at(0) == score.judge(np.array([0]))[0]
