"""What evictions are for, expressed as hard rules of a cluster.

Goals turn into the *aim*, the same pods and nodes under stricter rules: for `soft`, ScheduleAnyway
becomes DoNotSchedule and PreferNoSchedule becomes NoSchedule; a node that is to be emptied gets a
taint that its pods do not tolerate. Whatever breaks a rule of the aim is what there is to do. The
scheduler that places the replacements knows only the real rules, and the cordons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import allowances
from planner.disruption.movability import WITH_THEIR_NODE, goes_with_node, immovable
from planner.replay.cordons import cordoned_node
from planner.replay.trial import Manner, Trial, WavePlan
from planner.replay.violations import Violation
from planner.scheduler.profile import Profile
from planner_models.node import Node
from planner_models.pod import PodSpec
from planner_models.taints import Taint, Toleration

Goal = Literal["spread", "soft", "utilization", "consolidate"]
GOALS: tuple[Goal, ...] = ("spread", "soft", "utilization", "consolidate")
DRAIN = Taint(key="planner/drain", effect="NoSchedule")
DRAINED = Toleration(key=DRAIN.key, operator="Exists")


@dataclass(frozen=True, eq=False)
class Aim:
    """`real` is what kube-scheduler sees, `wanted` what the goals make of it.

    `drained` nodes are cordoned before anything else and stay so. `anywhere` says whether pods that
    are not on them may be moved, too.
    """

    real: Cluster
    wanted: Cluster
    drained: tuple[int, ...]
    anywhere: bool

    def at(self, node_of: IntArray) -> Cluster:
        """The wanted cluster with its pods on these nodes."""
        return placed_at(self.wanted, node_of)


def placed_at(cluster: Cluster, node_of: IntArray) -> Cluster:
    """The cluster with its pods on these nodes."""
    return cluster.with_nodes_of_pods(node_of)


def aim_of(cluster: Cluster, goals: Collection[Goal], nodes: Iterable[int]) -> Aim:
    """The aim of the goals, with these nodes to be emptied."""
    drained = tuple(sorted(set(nodes)))
    real = _with_nodes(
        cluster, {node: cordoned_node(cluster.nodes[node], True) for node in drained}
    )
    wanted = _tolerant(
        _with_nodes(real, {node: _drained(real.nodes[node]) for node in drained}), drained
    )
    if "soft" in goals:
        wanted = _hardened(wanted)
    anywhere = bool({"spread", "soft"} & set(goals))
    return Aim(real, wanted, drained, anywhere)


def drains(cluster: Cluster, violation: Violation) -> bool:
    """Whether what is broken is that a node that is to be emptied still has pods."""
    if violation.rule != "taints":
        return False
    return DRAIN in cluster.nodes[cluster.node_index[violation.domain]].spec.taints


def _with_nodes(cluster: Cluster, nodes: dict[int, Node]) -> Cluster:
    return cluster.with_nodes(nodes) if nodes else cluster


def _drained(node: Node) -> Node:
    return node.replace(spec=node.spec.replace(taints=(*node.spec.taints, DRAIN)))


def _tolerant(cluster: Cluster, drained: Sequence[int]) -> Cluster:
    """Pods of DaemonSets and static pods stay with the nodes that are drained."""
    there = np.unique(cluster.group_of[np.isin(cluster.node_of, drained)]).tolist()
    staying = [group for group in there if goes_with_node(cluster.groups[group])]
    if not staying:
        return cluster
    groups = list(cluster.groups)
    for group in staying:
        spec = groups[group].spec
        spec = spec.replace(tolerations=(*spec.tolerations, DRAINED))
        groups[group] = replace(groups[group], spec=spec)
    return replace(cluster, groups=tuple(groups))


def _hardened(cluster: Cluster) -> Cluster:
    """Soft spread constraints and taints, taken for hard ones."""
    specs: dict[int, PodSpec] = {}
    for group in cluster.groups:
        if id(group.spec) not in specs:
            specs[id(group.spec)] = _hard_spec(group.spec)
    groups = tuple(replace(group, spec=specs[id(group.spec)]) for group in cluster.groups)
    nodes = {i: _hard_taints(node) for i, node in enumerate(cluster.nodes)}
    return replace(_with_nodes(cluster, nodes), groups=groups)


def _hard_spec(spec: PodSpec) -> PodSpec:
    constraints = spec.topology_spread_constraints
    if all(constraint.hard for constraint in constraints):
        return spec
    hard = tuple(each.replace(when_unsatisfiable="DoNotSchedule") for each in constraints)
    return spec.replace(topology_spread_constraints=hard)


def _hard_taints(node: Node) -> Node:
    taints = node.spec.taints
    if all(taint.effect != "PreferNoSchedule" for taint in taints):
        return node
    hard = tuple(
        taint.replace(effect="NoSchedule") if taint.effect == "PreferNoSchedule" else taint
        for taint in taints
    )
    return node.replace(spec=node.spec.replace(taints=hard))


IN_A_ROW = 20
"""So many nodes that can't be emptied, one after the other, end a consolidation."""


@dataclass(frozen=True)
class Emptied:
    """The nodes that a consolidation empties, and the others that it looked at.

    `kept` have pods that may not be evicted; of `refused` some pods found no place beside those of
    the nodes that were chosen before. `untried` are fuller than all that were tried.
    """

    chosen: tuple[int, ...]
    kept: frozenset[int] = frozenset()
    refused: Mapping[int, Refused] = field(default_factory=dict)
    untried: int = 0


@dataclass(frozen=True, eq=False)
class Refused:
    """The cluster with the node and those before it cordoned, and a pod that waits in the end."""

    ended: Cluster
    pod: int


def nodes_to_empty(
    cluster: Cluster, profile: Profile, spared: Collection[int], given: Iterable[int]
) -> Emptied:
    """The least used nodes whose pods all find a place elsewhere, one after the other.

    Nodes with a pod that has to stay can't be emptied; DaemonSet and static pods do not count, for
    they go with their node. A node that can't be emptied is no reason to leave fuller ones alone.
    """
    chosen, refused = list(given), dict[int, Refused]()
    kept = _kept_nodes(cluster, spared)
    by_use = np.argsort(node_use(cluster), kind="stable").tolist()
    order = [node for node in by_use if node not in kept and node not in chosen]
    occupied = {int(cluster.node_of[pod]) for pod in _leaving(cluster, order, spared)}
    order = [node for node in order if node in occupied]
    waiting, in_a_row = len(cluster.pending), 0
    for number, node in enumerate(order):
        emptied = aim_of(cluster, (), (*chosen, node)).real
        pods = tuple(_leaving(emptied, (*chosen, node), spared))
        trial = Trial(emptied, profile, allowances(emptied), pods)
        ended = trial.run((WavePlan(pods),), Manner(seed=0), unlimited=True).node_of
        if np.count_nonzero(ended == PENDING) <= waiting:
            chosen.append(node)
            in_a_row = 0
            continue
        stuck = next(pod for pod in pods if ended[pod] == PENDING)
        refused[node] = Refused(placed_at(emptied, ended), stuck)
        in_a_row += 1
        if in_a_row == IN_A_ROW:
            return Emptied(tuple(chosen), kept, refused, len(order) - number - 1)
    return Emptied(tuple(chosen), kept, refused)


def _kept_nodes(cluster: Cluster, spared: Collection[int]) -> frozenset[int]:
    staying = (
        int(cluster.node_of[pod])
        for pod in spared
        if cluster.node_of[pod] >= 0 and immovable(cluster.pods[pod]) not in WITH_THEIR_NODE
    )
    return frozenset(staying)


def node_use(cluster: Cluster) -> NDArray[np.float64]:
    """The fuller of CPU and memory on each node, as a part of what it has."""
    allocatable = np.maximum(cluster.resources.allocatable[:, :2], 1)
    return np.asarray((cluster.used[:, :2] / allocatable).max(axis=1), np.float64)


def _leaving(cluster: Cluster, nodes: Collection[int], spared: Collection[int]) -> Iterator[int]:
    for pod in cluster.running.tolist():
        if int(cluster.node_of[pod]) in nodes and pod not in spared:
            yield pod
