"""nodeCondition: a node that isn't ready or is under pressure has to recover.

The node lifecycle controller and cloud providers taint such nodes, and take the taints away when
the condition ends. Tolerating them puts pods where no kubelet starts them, or where the next
shortage evicts them, so it is never proposed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.taint_toleration import TaintRule
from planner.explain.situation.overlay import Overlay
from planner.words import conjoined
from planner_models.node import Node
from planner_models.taints import HARD_EFFECTS, Taint

_RECOVERY = {
    "node.kubernetes.io/not-ready": "has to become ready",
    "node.kubernetes.io/unreachable": "has to become reachable",
    "node.kubernetes.io/memory-pressure": "has to get rid of its memory pressure",
    "node.kubernetes.io/disk-pressure": "has to get rid of its disk pressure",
    "node.kubernetes.io/pid-pressure": "has to get rid of its PID pressure",
    "node.kubernetes.io/network-unavailable": "has to get its network",
    "node.kubernetes.io/out-of-service": "has to come back into service",
    "node.cloudprovider.kubernetes.io/uninitialized": "has to be initialised by its cloud provider",
    "node.cloudprovider.kubernetes.io/shutdown": "has to be started again",
}
"""What has to happen to a node before whoever set the taint removes it."""
MOST = 6


def is_condition(taint: Taint) -> bool:
    """Whether the taint tells of the state of the node, not of whom the node is for."""
    return taint.key in _RECOVERY


def recover(case: Case, rule: TaintRule, nodes: BoolArray) -> Iterator[Proposal]:
    """Each of these nodes, the first few, whose taints all tell of its state."""
    found = 0
    for index in np.flatnonzero(nodes).tolist():
        node = case.subject.cluster.nodes[index]
        taints = [taint for taint, where in rule.nodes_of.items() if where[index]]
        if found < MOST and taints and all(is_condition(taint) for taint in taints):
            found += 1
            yield _proposal(case, index, node, taints)


def _proposal(case: Case, index: int, node: Node, taints: list[Taint]) -> Proposal:
    keys = list(dict.fromkeys(taint.key for taint in taints))
    return Proposal(
        kind="nodeCondition",
        object=f"node/{node.name}",
        field="status.conditions",
        before=[*keys],
        text=f"{node.name} {conjoined([_RECOVERY[key] for key in keys])}",
        cost=case.costs["nodeCondition"],
        overlay=Overlay(nodes={index: _recovered(node)}),
        notes=("its taint then goes by itself",),
    )


def _recovered(node: Node) -> Node:
    """Without the taints of its state; those that only score stay."""
    taints = tuple(
        t for t in node.spec.taints if not (is_condition(t) and t.effect in HARD_EFFECTS)
    )
    return node.replace(spec=node.spec.replace(taints=taints))
