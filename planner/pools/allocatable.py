"""What is left for pods on a new node, where its template knows the size of the machine alone.

The kubelet keeps some of it for itself and the system, which no template of a machine tells; nodes
of the same instance type in the cluster do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner_models.node import INSTANCE_TYPE, Node, NodeStatus
from planner_models.resources import CPU, MEMORY


def with_allocatable(template: Node, nodes: Sequence[Node]) -> tuple[Node, tuple[str, ...]]:
    """The template with what such a node reports at least, and remarks if no node tells it."""
    if any(template.status.allocatable.values()):
        return template, ()
    kind = template.labels.get(INSTANCE_TYPE, "")
    same = [
        node
        for node in nodes
        if kind and node.labels.get(INSTANCE_TYPE) == kind and node.status.allocatable
    ]
    if not same:
        known = template.replace(status=_status(template, template.status.capacity))
        return known, (
            "capacity is taken for allocatable: no node of that instance type is there to tell "
            "what the kubelet keeps",
        )
    least = min(same, key=lambda node: (node.allocatable[CPU], node.allocatable[MEMORY], node.name))
    return template.replace(status=_status(template, least.status.allocatable)), ()


def _status(template: Node, allocatable: Mapping[str, int]) -> NodeStatus:
    return template.status.replace(allocatable=dict(allocatable))
