"""deletePod: a running pod that nobody brings back makes room, or evens out a count.

Pods of a controller are left out: their replacement would wait in the place of the pod, or run
elsewhere, which is a rearrangement and not a deletion.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.movability import MIRROR
from planner.cluster.topology import IntArray
from planner.explain.overlay import Overlay, feasible
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule, OthersRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule

MOST = 40
"""Pods that are tried."""
TRIED = 12
"""Replicas that are tried for the remark about their replacement."""


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
            command=f"kubectl -n {pod.namespace} delete pod {pod.name}",
        )


def replacement_waits(case: Case) -> Iterator[str]:
    """A replica whose deletion lets the pod in, while its own replacement then waits."""
    subject = case.subject
    if subject.bare:
        return
    cluster, state = subject.cluster, subject.state
    mates = (cluster.group_of == subject.group.index) & (state.node_of >= 0) & ~state.terminating
    for index in np.flatnonzero(mates).tolist()[:TRIED]:
        if feasible(subject, Overlay(without=frozenset((index,)))).any():
            yield (
                f"Not listed: deleting {cluster.pods[index].name} lets this pod in, and its "
                "replacement waits instead."
            )
            return


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
        if isinstance(rule, CapacityRule):
            nodes |= case.refused_by((rule,))
        if isinstance(rule, SpreadRule | AntiAffinityRule | OthersRule):
            nodes |= rule.blocked
        if rule.kind == "ports":
            nodes |= case.refused_by((rule,))
    pods = np.flatnonzero(running)
    pods = pods[nodes[state.node_of[pods]]]
    return np.array(sorted(pods.tolist(), key=lambda i: cluster.pods[i].key), np.int64)
