"""What a plan is known by, and the state of the cluster that it was made for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from planner.cluster import Cluster
from planner_models.base import Document

LENGTH = 12
"""Hexadecimal digits: two plans of a cluster are never taken for each other."""


def plan_id(document: Document) -> str:
    """A hash of the document as it is written, without the id itself.

    Of its source the cluster alone counts: the same plan for the same state is the same plan.
    """
    data = document.model_dump(mode="json", by_alias=True, exclude_none=True)
    data.pop("planId", None)
    data["source"] = (data.get("source") or {}).get("cluster")
    return _hash(data)[:LENGTH]


def fingerprint(cluster: Cluster) -> str:
    """Equal for two states in which every decision is the same.

    Counts per group and node; labels, taints, room and cordons of nodes; budgets; and what
    controllers want.
    """
    digest = hashlib.sha256()
    for part in _parts(cluster):
        digest.update(_hash(part).encode())
    return digest.hexdigest()[:LENGTH]


def _parts(cluster: Cluster) -> Iterator[Any]:
    for node in cluster.nodes:
        yield [
            node.name,
            node.labels,
            node.spec.model_dump(mode="json"),
            node.allocatable,
            node.ready,
        ]
    ready = np.fromiter((pod.ready for pod in cluster.pods), bool, len(cluster.pods))
    cells = np.stack([cluster.group_of, cluster.node_of, cluster.terminating, ready], axis=1)
    found, counts = np.unique(cells, axis=0, return_counts=True)
    names = {group.index: _hash(_group(cluster, group.index)) for group in cluster.groups}
    rows = zip(found.tolist(), counts.tolist(), strict=True)
    yield sorted([names[cell[0]], *cell[1:], count] for cell, count in rows)
    for budget in cluster.budgets:
        yield [budget.key, budget.model_dump(mode="json", exclude={"metadata"})]
    for ref, controller in sorted(cluster.owners.controllers.items()):
        meta = controller.metadata
        wants = getattr(controller.spec, "replicas", None)
        # The generation grows with every change of the spec.
        yield [ref.key, meta.uid, meta.generation, meta.deletion_timestamp, wants]


def _group(cluster: Cluster, index: int) -> list[Any]:
    group = cluster.groups[index]
    owner = None if group.owner is None else group.owner.model_dump(mode="json")
    spec, volumes = group.spec.model_dump(mode="json"), [v.model_dump() for v in group.volumes]
    return [group.namespace, dict(group.labels), spec, owner, volumes]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
