"""Conflicts judged by hand: clusters in which only some facts hold, built anew from objects."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from planner.cluster import Cluster, build_cluster
from planner.sources.inventory import Inventory
from planner_models.affinity import Affinity, NodeAffinity, PodAffinity
from planner_models.diagnosis import ConflictFact
from planner_models.node import Node
from planner_models.pod import Pod, PodSpec
from planner_models.quantity import NANO
from planner_models.taints import Toleration
from tests.explain.changes import passes

_INDEX = re.compile(r"\[(\d+)\]$")
PLENTY = 10**15 * NANO


def satisfiable(cluster: Cluster, pod: int, facts: Sequence[ConflictFact]) -> bool:
    """Whether some node takes the pod if it has these rules and no others."""
    kinds: set[str] = {fact.kind for fact in facts}
    nodes = [_node(node, kinds) for node in cluster.nodes]
    pods: list[Pod] = []
    for index, each in enumerate(cluster.pods):
        if index == pod:
            pods.append(msgspec.structs.replace(each, spec=_spec(each.spec, facts)))
        elif each.node_name:
            pods.append(each if "podAntiAffinityOfOthers" in kinds else _friendly(each))
    built = build_cluster(Inventory(nodes=tuple(nodes), pods=tuple(pods)))
    return passes(built, built.pod_index[cluster.pods[pod].key])


def _node(node: Node, kinds: set[str]) -> Node:
    spec, status = node.spec, node.status
    if "unschedulable" not in kinds:
        spec = spec.replace(unschedulable=False)
    if "capacity" not in kinds:
        plenty = dict.fromkeys(status.allocatable, PLENTY)
        status = status.replace(allocatable=plenty)
    return node.replace(spec=spec, status=status)


def _friendly(pod: Pod) -> Pod:
    affinity = pod.spec.affinity.replace(pod_anti_affinity=PodAffinity())
    return msgspec.structs.replace(pod, spec=pod.spec.replace(affinity=affinity))


def _spec(spec: PodSpec, facts: Sequence[ConflictFact]) -> PodSpec:
    """The rules of the facts, found again by their fields."""
    kinds = {fact.kind for fact in facts}
    near = spec.affinity.pod_affinity if "podAffinity" in kinds else PodAffinity()
    nodes = spec.affinity.node_affinity if "nodeAffinity" in kinds else NodeAffinity()
    anti = spec.affinity.pod_anti_affinity.required
    apart = tuple(anti[i] for i in _indexes(facts, "podAntiAffinity"))
    spreads = spec.topology_spread_constraints
    tolerates = Toleration(key="special", operator="Exists")
    return spec.replace(
        topology_spread_constraints=tuple(spreads[i] for i in _indexes(facts, "topologySpread")),
        affinity=Affinity(
            node_affinity=nodes,
            pod_affinity=near,
            pod_anti_affinity=PodAffinity(required=apart),
        ),
        node_selector=spec.node_selector if "nodeAffinity" in kinds else {},
        tolerations=spec.tolerations if "taints" in kinds else (*spec.tolerations, tolerates),
        containers=spec.containers
        if "ports" in kinds
        else tuple(container.replace(ports=()) for container in spec.containers),
    )


def _indexes(facts: Sequence[ConflictFact], kind: str) -> list[int]:
    found = [_INDEX.search(fact.field) for fact in facts if fact.kind == kind]
    return sorted(int(each[1]) for each in found if each is not None)
