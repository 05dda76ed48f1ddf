"""Nodes and costs in words, wherever they are told."""

from __future__ import annotations

from collections.abc import Sequence

from planner_models.node_plan import NodeCount, NodePlan, NodesToAdd


def cost_of(document: NodePlan, cost: float) -> str:
    """`0.357 per hour`, `7.72 CPU`, `4 nodes`."""
    return _cost_text(document.objective, cost)


def batches_of(document: NodePlan) -> int:
    """In how many batches the nodes come."""
    return len({each.batch for each in document.adds}) or 1


def in_short(nodes: NodesToAdd) -> str:
    """`2 m7i.2xlarge in eu-1a, 0.81 per hour`, and whether that is known to be the least."""
    if not nodes.adds:
        return "no node helps"
    text = f"{nodes_text(nodes.adds)}, {_cost_text(nodes.objective, nodes.cost)}"
    return text if nodes.status in ("optimal", "impossible") else f"{text}, not proven the least"


def nodes_text(adds: Sequence[NodeCount]) -> str:
    """`1 c7i.large in eu-1a, 2 c7i.xlarge in eu-1b`."""
    return ", ".join(
        f"{each.nodes} {each.pool}{f' in {each.zone}' if each.zone else ''}" for each in adds
    )


def _cost_text(objective: str, cost: float) -> str:
    unit = {"price": "per hour", "cpu": "CPU", "nodes": "nodes"}[objective]
    return f"{cost:.10g} {unit}"
