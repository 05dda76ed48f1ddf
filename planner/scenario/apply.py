"""From changes to the cluster right after them, before kube-scheduler has placed anything.

Pods keep their index. A pod that is replaced becomes the one that waits in its place, and the old
one, while it is still terminating, stands behind all others as its twin: so the same index is the
same replica before and after. Nodes that are removed stay as ghosts, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.node_rules import BoolArray
from planner.replay.cordons import cordoned_node
from planner.replay.verify import with_old_pods
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
from planner.scenario.lost_pods import LostPod, ended_with_their_jobs, lost_pods, staying
from planner.scenario.manifests import applied
from planner.scenario.scale import scaled
from planner.scenario.unreachable import ZoneOutage, unreachable
from planner.scenario.workload_pods import lasting_pods
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
    Pods elsewhere that end with their Job have no twin.
    """

    seconds: int
    pod: int
    node: int
    twin: int | None
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
    deleted: tuple[int, ...] = ()
    """Pods that their controllers deleted, because they want fewer replicas."""
    lost: tuple[LostPod, ...] = ()
    """Pods that went down or were evicted, and what comes after each."""
    down: frozenset[int] = frozenset()
    """Nodes that no longer run anything: silent ones and ghosts."""
    zones: tuple[ZoneOutage, ...] = ()
    """Zones with silent nodes, and how fast these are emptied."""
    departures: tuple[Departure, ...] = ()
    """Pods of silent nodes, which are deleted later, in that order."""


def apply_changes(cluster: Cluster, changes: Iterable[Change], *, seed: int = 0) -> Changed:
    """The cluster after these changes, made in the order that `changes.ORDER` says.

    Nodes and pods of the changes are indexes of the given cluster. Which of equal pods go when a
    workload gets fewer replicas, and which of silent nodes is emptied first, is drawn by the seed;
    with 0 UIDs and names decide.
    """
    asked, state = list(changes), Changed(cluster, cluster, cluster)
    random = Random(seed) if seed else None
    for kind in ORDER:
        found = [change for change in asked if isinstance(change, kind)]
        if kind is not LoseNodes:
            for change in found:
                state = _changed(state, change, random)
    failures = [change for change in asked if isinstance(change, LoseNodes)]
    # Other numbers than those that ties are broken by later: they have nothing to do with these.
    noticed = Random(f"noticed {seed}") if seed else None
    return _lost(replace(state, intact=state.cluster), failures, noticed)


def _changed(state: Changed, change: Change, random: Random | None) -> Changed:
    match change:
        case Apply():
            more, names = applied(state.cluster, change.inventory, random)
            fact = Fact("apply", names, f"applied {named_or_counted(names, 'object')}")
            return _with_more(state, more, fact)
        case Scale():
            name, before = change.workload.short, state.cluster.owners.desired(change.workload)
            more = scaled(state.cluster, change, random)
            text = f"{name} {before} -> {change.replicas}"
            surplus = len(lasting_pods(more, change.workload)) - change.replicas
            if surplus > 0:
                text += f"; {count_of(surplus, 'pod')} more, until those that are not ready are"
            return _with_more(state, more, Fact("scale", (name,), text))
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
            return _lost(state, [change], random)


def _with_more(state: Changed, cluster: Cluster, fact: Fact) -> Changed:
    """A cluster with more pods behind those that it had, or with fewer of these."""
    size = len(state.cluster.pods)
    before, now = _lasts(state.cluster), _lasts(cluster)[:size]
    return replace(
        state,
        cluster=cluster,
        facts=(*state.facts, fact),
        made=(*state.made, *range(size, len(cluster.pods))),
        deleted=(*state.deleted, *np.flatnonzero(before & ~now).tolist()),
    )


def _lasts(cluster: Cluster) -> BoolArray:
    there: BoolArray = cluster.node_of != GONE
    return there & ~cluster.terminating


def _cordoned(state: Changed, change: Cordon) -> Changed:
    nodes = _nodes_now(state, change.nodes)
    records = {node: cordoned_node(state.cluster.nodes[node], True) for node in nodes}
    names = tuple(state.cluster.nodes[node].name for node in nodes)
    fact = Fact("cordon", names, f"cordoned {_nodes(names)}")
    return replace(state, cluster=state.cluster.with_nodes(records), facts=(*state.facts, fact))


def _evicted(state: Changed, change: Evict) -> Changed:
    """The old pods are gone by the time that kube-scheduler looks at the new ones."""
    pods = _pods_now(state, change.pods)
    lost = _lost_pods(state.cluster, pods)
    fact = Fact("evict", _keys(state, pods), f"evicted {count_of(len(pods), 'pod')}")
    return replace(
        state,
        cluster=state.cluster.with_placement(_gone_or_again(lost)),
        facts=(*state.facts, fact),
        lost=(*state.lost, *lost),
    )


def _lost_pods(cluster: Cluster, pods: Sequence[int]) -> tuple[LostPod, ...]:
    """What becomes of pods that end at once, and of those that end with them."""
    lost = lost_pods(cluster, pods, ended=True)
    more = ended_with_their_jobs(cluster, lost, ended=True).values()
    return (*lost, *(each for siblings in more for each in siblings))


def _gone_or_again(lost: Iterable[LostPod]) -> dict[int, int]:
    return {each.pod: PENDING if each.fate == "replaced" else GONE for each in lost}


def _lost(state: Changed, changes: Sequence[LoseNodes], random: Random | None) -> Changed:
    """All nodes that fail, together: removed ones count for no zone."""
    lose_as: dict[Manner, Callable[[Changed, Sequence[int]], Changed]] = {
        "removed": _removed,
        "unreachable": partial(_silent, random=random),
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
    lost = _lost_pods(state.cluster, pods)
    cluster = state.cluster.without_nodes(nodes).with_placement(_gone_or_again(lost))
    return replace(state, cluster=cluster, lost=(*state.lost, *lost), down=state.down.union(nodes))


def _silent(state: Changed, nodes: Sequence[int], *, random: Random | None) -> Changed:
    """Pods stay where they are until their time comes; they are not ready from now on."""
    cluster = state.cluster
    pods = _pods_on(cluster, nodes)
    outage = unreachable(cluster, nodes, pods, random)
    lost = lost_pods(cluster, (p for p in pods if p in outage.deleted_at), ended=False)
    stay = staying(cluster, (p for p in pods if p not in outage.deleted_at))
    departures = [
        Departure(outage.deleted_at[e.pod], e.pod, e.node, twin, e.fate == "replaced")
        for twin, e in enumerate(lost, start=len(cluster.pods))
    ]
    in_order = sorted(lost, key=lambda each: (outage.deleted_at[each.pod], each.pod))
    with_jobs = ended_with_their_jobs(cluster, in_order, ended=False)
    for last, siblings in with_jobs.items():
        at = outage.deleted_at[last]
        departures += [Departure(at, e.pod, e.node, None, False) for e in siblings]
    also = (each for siblings in with_jobs.values() for each in siblings)
    records = {pod: msgspec.structs.replace(cluster.pods[pod], ready=False) for pod in pods}
    changed = cluster.with_nodes(outage.nodes).with_pods(records)
    return replace(
        state,
        cluster=with_old_pods(changed, [each.pod for each in lost]),
        lost=(*state.lost, *lost, *also, *stay),
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
