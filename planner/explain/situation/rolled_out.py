"""Whole workloads with changed specs, as if a rollout had ended without moving any pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.explain.situation.overlay import SpecEdit


def rolled_out(cluster: Cluster, edits: Mapping[WorkloadRef, Sequence[SpecEdit]]) -> Cluster:
    """Every replica of each workload has the changed spec; what it requests stays."""
    groups = list(cluster.groups)
    for index, ref in enumerate(cluster.workloads):
        for edit in edits.get(ref, ()):
            groups[index] = replace(groups[index], spec=edit(groups[index].spec))
    return replace(cluster, groups=tuple(groups))
