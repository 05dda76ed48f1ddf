"""deletePod: a running pod that nobody brings back makes room, or evens out a count.

Pods of a controller are left out: their replacement would wait in the place of the pod, or run
elsewhere, which is a rearrangement and not a deletion.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster import PENDING
from planner.cluster.topology import IntArray
from planner.disruption.movability import DEFAULT_POLICY, MIRROR, immovable
from planner.explain.repairs.commands import kubectl, rehearsed
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.situation.overlay import Overlay, feasible
from planner_models.diagnosis import RuleKind

MOST = 40
"""Pods that are tried."""
TRIED = 12
"""Replicas that are tried for the remark about their replacement."""
_HOLDING: tuple[RuleKind, ...] = ("capacity", "ports")
"""Rules by which a pod closes its own node alone."""
_COUNTING: tuple[RuleKind, ...] = ("topologySpread", "podAntiAffinity", "podAntiAffinityOfOthers")
"""Rules by which it closes a domain."""


def propose(case: Case) -> Iterator[Proposal]:
    """Bare pods that a rule counts, or that hold room where only room is missing."""
    cluster, state = case.subject.cluster, case.subject.state
    for index in _candidates(case)[:MOST].tolist():
        pod = cluster.pods[index]
        node = cluster.nodes[int(state.node_of[index])].name
        yield Proposal(
            kind="deletePod",
            object=f"pod/{pod.name}",
            before=node,
            text=f"delete {pod.name}",
            cost=case.costs["deletePod"],
            overlay=Overlay(without=frozenset((index,))),
            notes=("it won't come back",),
            command=rehearsed(kubectl("-n", pod.namespace, "delete", "pod", pod.name)),
        )


def replacement_waits(case: Case) -> Iterator[str]:
    """A pod whose deletion lets this one in until a controller brings it back, and that one waits.

    Where no sequence helps, a replacement that found a node would be one.
    """
    subject = case.subject
    cluster = subject.cluster
    for index in _owned(case):
        if feasible(subject, Overlay(without=frozenset((index,)))).any():
            name = cluster.pods[index].name
            mine = cluster.group_of[index] == subject.group.index
            then = (
                ", and its replacement waits instead"
                if mine
                else " only until its controller brings it back: then that one waits"
            )
            yield f"Not listed: deleting {name} lets this pod in{then}."
            return


def _owned(case: Case) -> list[int]:
    """Some pods that would come back: replicas of this one, or those that hold room or a port."""
    subject = case.subject
    cluster, state = subject.cluster, subject.state
    held = np.zeros(len(cluster.nodes) + 1, np.bool_)
    for rule in case.rules:
        if rule.kind in _HOLDING:
            held[:-1] |= case.refused_only_by(rule)
    mates = (cluster.group_of == subject.group.index) & (not subject.bare)
    there = held[np.maximum(state.node_of, PENDING)]
    chosen = (mates | there) & (state.node_of >= 0) & ~state.terminating
    pods = np.flatnonzero(chosen)
    pods = pods[np.argsort(~mates[pods], kind="stable")][: 2 * TRIED].tolist()
    return [i for i in pods if immovable(cluster.pods[i], DEFAULT_POLICY) is None][:TRIED]


def _candidates(case: Case) -> IntArray:
    """In order of their names; none of them has a controller or is a static pod."""
    cluster, state = case.subject.cluster, case.subject.state
    bare = np.array(
        [
            group.owner is None and MIRROR not in group.example.annotations
            for group in cluster.groups
        ],
        np.bool_,
    )
    running = (state.node_of >= 0) & ~state.terminating & bare[cluster.group_of]
    if not running.any():
        return np.empty(0, np.int64)
    nodes = np.zeros(len(cluster.nodes), np.bool_)
    for rule in case.rules:
        if rule.kind in _HOLDING:
            nodes |= case.refused_only_by(rule)
        if rule.kind in _COUNTING:
            nodes |= rule.blocked
    pods = np.flatnonzero(running)
    pods = pods[nodes[state.node_of[pods]]]
    return np.array(sorted(pods.tolist(), key=lambda i: cluster.pods[i].key), np.int64)
