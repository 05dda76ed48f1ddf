"""Where a DaemonSet's pods run, by the rules of its own controller."""

from __future__ import annotations

from typing import TypeVar

from planner_models.node import Node
from planner_models.pod import Pod, PodSpec, TemplatePodSpec
from planner_models.selectors import NodeFieldRequirement, NodeSelector, NodeSelectorTerm
from planner_models.taints import HARD_EFFECTS, TaintEffect, Toleration, first_untolerated

_TOLERATED: tuple[tuple[str, TaintEffect], ...] = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_TOLERATED_BY_HOST_NETWORK: tuple[tuple[str, TaintEffect], ...] = (
    ("network-unavailable", "NoSchedule"),
)
S = TypeVar("S", bound=PodSpec)
_NAME = NodeFieldRequirement(key="metadata.name", operator="In", values=("node",))


def daemon_spec(spec: TemplatePodSpec) -> TemplatePodSpec:
    """The template's spec with the tolerations that the controller adds."""
    wanted = (*_TOLERATED, *(_TOLERATED_BY_HOST_NETWORK if spec.host_network else ()))
    added = tuple(
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
        for key, effect in wanted
    )
    return spec.replace(tolerations=(*spec.tolerations, *added))


def runs_on(spec: TemplatePodSpec, node: Node) -> bool:
    """The controller's test of a node: its name, node selector, node affinity and taints."""
    required = spec.affinity.node_affinity.required
    return (
        spec.node_name in ("", node.name)
        and all(node.labels.get(key) == value for key, value in spec.node_selector.items())
        and (required is None or required.matches(node.labels, node.name))
        and first_untolerated(node.spec.taints, spec.tolerations, HARD_EFFECTS) is None
    )


def pinned_spec(spec: S, node_name: str) -> S:
    """The spec of the pod for one node: its name takes the place of all required terms."""
    name = _NAME.replace(values=(node_name,))
    pinned = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
    node_affinity = spec.affinity.node_affinity.replace(required=pinned)
    return spec.replace(affinity=spec.affinity.replace(node_affinity=node_affinity))


def pinned_node(pod: Pod) -> str:
    """The node a pending DaemonSet pod waits for."""
    required = pod.spec.affinity.node_affinity.required
    for term in required.node_selector_terms if required else ():
        for field in term.match_fields:
            if field.operator == "In":
                return field.values[0]
    return ""
