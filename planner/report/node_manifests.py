"""The nodes of a `NodePlan` as manifests."""

from __future__ import annotations

from typing import Any

from planner_models.node import HOSTNAME
from planner_models.node_plan import NewNode, NodePlan

BATCH = "planner/batch"
"""The annotation that says in which batch a node comes, if there are several."""


def node_manifests(document: NodePlan) -> str:
    """A Node object for each new node, as YAML."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    several = len({each.batch for each in document.adds}) > 1
    nodes = [
        _node(each.template, name, each.batch if several else None)
        for each in document.adds
        for name in each.template.names
    ]
    text: str = yaml.dump_all(
        nodes, Dumper=dumper, sort_keys=False, allow_unicode=True, explicit_start=True
    )
    return text if nodes else ""


def _node(template: NewNode, name: str, batch: int | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": {**template.labels, HOSTNAME: name}}
    annotations = dict(template.annotations)
    if batch is not None:
        annotations[BATCH] = str(batch)
    if annotations:
        metadata["annotations"] = annotations
    found: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    if template.taints:
        found["spec"] = {"taints": [dict(taint) for taint in template.taints]}
    return {**found, "status": {"allocatable": dict(template.allocatable)}}
