"""From changes to the cluster right after them, before kube-scheduler has placed anything.

Pods keep their index. A pod that is replaced becomes the one that waits in its place, and the old
one, while it is still terminating, stands behind all others as its twin: so the same index is the
same replica before and after. Nodes that are removed stay as ghosts, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.replay.verify import cordoned_node, with_old_pods
from planner.scenario.add_nodes import added_nodes
from planner.scenario.changes import (
    ORDER,
    AddNodes,
    Apply,
    Change,
    Cordon,
    Evict,
    LoseNodes,
    Manner,
    RemovePods,
    Scale,
)
from planner.scenario.lost_pods import LostPod, lost_pods, staying
from planner.scenario.manifests import applied
from planner.scenario.scale import scaled
from planner.scenario.unreachable import ZoneOutage, unreachable
from planner.words import count_of, named_or_counted

FactKind = Literal["apply", "scale", "addNodes", "cordon", "removePods", "evict", "loseNodes"]


@dataclass(frozen=True)
class Fact:
    """One thing that changed, and the names of what it is about."""

    kind: FactKind
    objects: tuple[str, ...]
    text: str


class Departure(NamedTuple):
    """A pod of a silent node is deleted, so many seconds after the outage.

    It stays on the node as its terminating `twin`; with `again` another pod waits in its place.
    """

    seconds: int
    pod: int
    node: int
    twin: int
    again: bool


@dataclass(frozen=True, eq=False)
class Changed:
    """The cluster before and right after changes, and what they were.

    Pods and nodes are indexes of `cluster`. Of a cluster that only lost or cordoned something,
    those of `before` are the same.
    """

    before: Cluster
    cluster: Cluster
    intact: Cluster
    """With all changes made, before any node was lost."""
    facts: tuple[Fact, ...] = ()
    made: tuple[int, ...] = ()
    """New pods, which nobody had before."""
    lost: tuple[LostPod, ...] = ()
    """Pods that went down or were evicted, and what comes after each."""
    down: frozenset[int] = frozenset()
    """Nodes that no longer run anything: silent ones and ghosts."""
    zones: tuple[ZoneOutage, ...] = ()
    """Zones with silent nodes, and how fast these are emptied."""
    drawn: bool = False
    """Whether chance decided which pods went when a workload was scaled down."""
    departures: tuple[Departure, ...] = ()
    """Pods of silent nodes, which are deleted later, in that order."""


def apply_changes(cluster: Cluster, changes: Iterable[Change], *, seed: int = 0) -> Changed:
    """The cluster after these changes, made in the order that `changes.ORDER` says.

    Nodes and pods of the changes are indexes of the given cluster. Where chance decides which pods
    go, they are drawn; with seed 0 the UIDs of the snapshot decide.
    """
    random = Random(seed) if seed else None
    asked, state = list(changes), Changed(cluster, cluster, cluster)
    for kind in ORDER:
        found = [change for change in asked if isinstance(change, kind)]
        if kind is not LoseNodes:
            for change in found:
                state = _changed(state, change, random)
    failures = [change for change in asked if isinstance(change, LoseNodes)]
    return _lost(replace(state, intact=state.cluster), failures)


def _changed(state: Changed, change: Change, random: Random | None) -> Changed:
    match change:
        case Apply():
            more, names = applied(state.cluster, change.inventory)
            fact = Fact("apply", names, f"applied {named_or_counted(names, 'object')}")
            return _lowered(state, _with_more(state, more, fact), random)
        case Scale():
            name, before = change.workload.short, state.cluster.owners.desired(change.workload)
            fact = Fact("scale", (name,), f"{name} {before} -> {change.replicas}")
            cluster, drawn = scaled(state.cluster, change, random)
            return replace(_with_more(state, cluster, fact), drawn=state.drawn or drawn)
        case AddNodes():
            more, names = added_nodes(state.cluster, change)
            fact = Fact("addNodes", names, f"added {_nodes(names)}")
            return _with_more(state, more, fact)
        case Cordon():
            return _cordoned(state, change)
        case RemovePods():
            pods = _pods_now(state, change.pods)
            fact = Fact("removePods", _keys(state, pods), f"removed {count_of(len(pods), 'pod')}")
            return replace(state, cluster=state.cluster.without(pods), facts=(*state.facts, fact))
        case Evict():
            return _evicted(state, change)
        case LoseNodes():
            return _lost(state, [change])


def _with_more(state: Changed, cluster: Cluster, fact: Fact) -> Changed:
    """A cluster with more pods behind those that it had."""
    made = range(len(state.cluster.pods), len(cluster.pods))
    return replace(state, cluster=cluster, facts=(*state.facts, fact), made=(*state.made, *made))


def _lowered(before: Changed, state: Changed, random: Random | None) -> Changed:
    """Workloads of which manifests want fewer pods than before lose the others."""
    for ref in state.cluster.owners.controllers:
        wanted, had = state.cluster.owners.desired(ref), before.cluster.owners.desired(ref)
        lowered = wanted is not None and had is not None and wanted < had
        if lowered and ref in state.cluster.workloads:
            cluster, drawn = scaled(state.cluster, Scale(ref, wanted or 0), random)
            state = replace(state, cluster=cluster, drawn=state.drawn or drawn)
    return state


def _cordoned(state: Changed, change: Cordon) -> Changed:
    nodes = _nodes_now(state, change.nodes)
    records = {node: cordoned_node(state.cluster.nodes[node], True) for node in nodes}
    names = tuple(state.cluster.nodes[node].name for node in nodes)
    fact = Fact("cordon", names, f"cordoned {_nodes(names)}")
    return replace(state, cluster=state.cluster.with_nodes(records), facts=(*state.facts, fact))


def _evicted(state: Changed, change: Evict) -> Changed:
    """The old pods are gone by the time that kube-scheduler looks at the new ones."""
    pods = _pods_now(state, change.pods)
    lost = lost_pods(state.cluster, pods, ended=True)
    fact = Fact("evict", _keys(state, pods), f"evicted {count_of(len(pods), 'pod')}")
    return replace(
        state,
        cluster=state.cluster.with_placement(_gone_or_again(lost)),
        facts=(*state.facts, fact),
        lost=(*state.lost, *lost),
    )


def _gone_or_again(lost: Iterable[LostPod]) -> dict[int, int]:
    return {each.pod: PENDING if each.fate == "replaced" else GONE for each in lost}


def _lost(state: Changed, changes: Sequence[LoseNodes]) -> Changed:
    """All nodes that fail, together: removed ones count for no zone."""
    lose_as: dict[Manner, Callable[[Changed, Sequence[int]], Changed]] = {
        "removed": _removed,
        "unreachable": _silent,
    }
    for manner, lose in lose_as.items():
        nodes = [each for change in changes if change.manner == manner for each in change.nodes]
        lost = _nodes_now(state, dict.fromkeys(nodes))
        if lost:
            names = tuple(state.cluster.nodes[node].name for node in lost)
            fact = Fact("loseNodes", names, f"{_nodes(names)} {manner}")
            state = lose(replace(state, facts=(*state.facts, fact)), lost)
    return state


def _removed(state: Changed, nodes: Sequence[int]) -> Changed:
    pods = _pods_on(state.cluster, nodes)
    lost = lost_pods(state.cluster, pods, ended=True)
    cluster = state.cluster.without_nodes(nodes).with_placement(_gone_or_again(lost))
    return replace(state, cluster=cluster, lost=(*state.lost, *lost), down=state.down.union(nodes))


def _silent(state: Changed, nodes: Sequence[int]) -> Changed:
    """Pods stay where they are until their time comes; they are not ready from now on."""
    cluster = state.cluster
    pods = _pods_on(cluster, nodes)
    outage = unreachable(cluster, nodes, pods)
    lost = lost_pods(cluster, (p for p in pods if p in outage.deleted_at), ended=False)
    stay = staying(cluster, (p for p in pods if p not in outage.deleted_at))
    departures = (
        Departure(outage.deleted_at[e.pod], e.pod, e.node, twin, e.fate == "replaced")
        for twin, e in enumerate(lost, start=len(cluster.pods))
    )
    records = {pod: msgspec.structs.replace(cluster.pods[pod], ready=False) for pod in pods}
    changed = cluster.with_nodes(outage.nodes).with_pods(records)
    return replace(
        state,
        cluster=with_old_pods(changed, [each.pod for each in lost]),
        lost=(*state.lost, *lost, *stay),
        down=state.down.union(nodes),
        zones=outage.zones,
        departures=tuple(sorted(departures)),
    )


def _pods_on(cluster: Cluster, nodes: Sequence[int]) -> list[int]:
    """Pods of these nodes but those that are terminating already."""
    there = np.isin(cluster.node_of, nodes) & ~cluster.terminating
    return np.flatnonzero(there).tolist()


def _nodes_now(state: Changed, nodes: Iterable[int]) -> list[int]:
    """Indexes of the given cluster as they are by now: more nodes may have come between them."""
    index = state.cluster.node_index
    return [index[state.before.nodes[node].name] for node in nodes]


def _pods_now(state: Changed, pods: Iterable[int]) -> list[int]:
    index = state.cluster.pod_index
    return [index[state.before.pods[pod].key] for pod in pods]


def _keys(state: Changed, pods: Iterable[int]) -> tuple[str, ...]:
    return tuple(state.cluster.pods[pod].key for pod in pods)


def _nodes(names: Sequence[str]) -> str:
    return named_or_counted(names, "node")
