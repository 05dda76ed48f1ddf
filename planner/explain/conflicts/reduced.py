"""A smaller cluster in which the same batches fit.

n pods use n nodes at most. Of nodes that no rule of these pods tells apart, and that hold no pod
which counts for one, n + 1 are as good as all: one of them stays as it is, so that the minimum of a
constraint by node is the same. In a large cluster that leaves hundreds of nodes out of thousands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import ResourceTable
from planner.explain.conflicts.facts import Demands, groups_of
from planner.explain.room.trials import topology_keys
from planner.explain.rules.counted_spread import matching_groups
from planner.explain.rules.inter_pod_affinity import matched
from planner.explain.situation.subject import Subject
from planner_models.pod import PodSpec

FEW = 100
"""Up to so many nodes nothing is gained."""


def reduced(subject: Subject, demands: Demands) -> Cluster:
    """The cluster with enough nodes of each kind; itself where every node may matter."""
    cluster = subject.cluster
    pods = [pod for each in demands.values() for pod in each]
    groups = [cluster.groups[g] for g in groups_of(cluster, demands)]
    if len(cluster.nodes) <= FEW or any(g.volumes or _by_name(g.spec) for g in groups):
        return cluster
    keys = _keys(subject, demands)
    if any(c.min_domains for g in groups for c in g.spec.topology_spread_constraints):
        return cluster
    held = _held(subject, demands)
    seen: Counter[tuple[object, ...]] = Counter()
    kept: list[int] = []
    labels = [key for key in sorted(keys) if not subject.nodes.per_node(key)]
    table, used = cluster.resources.allocatable, subject.state.used
    for index, node in enumerate(cluster.nodes):
        kind = (
            *(node.labels.get(key) for key in labels),
            *(key in node.labels for key in sorted(keys)),
            node.spec.taints,
            node.spec.unschedulable,
            node.status.declared_features,
            table[index].tobytes(),
            used[index].tobytes(),
        )
        seen[kind] += 1
        if held[index] or seen[kind] <= len(pods) + 1:
            kept.append(index)
    return _only(cluster, kept)


def _by_name(spec: PodSpec) -> bool:
    """Whether node affinity tells nodes apart by their own name."""
    required = spec.affinity.node_affinity.required
    return required is not None and any(t.match_fields for t in required.node_selector_terms)


def _keys(subject: Subject, demands: Demands) -> set[str]:
    """Every node label that a rule of these pods, or a rule against them, looks at."""
    found: set[str] = set()
    cluster = subject.cluster
    for pods in demands.values():
        group = cluster.groups[int(cluster.group_of[pods[0]])]
        found.update(topology_keys(group.spec))
        found.update(_asked(group.spec))
        labels = cluster.namespaces.get(group.namespace, {})
        found.update(c.term.topology_key for c in subject.state.carried_terms.about(group, labels))
    return found


def _asked(spec: PodSpec) -> Iterator[str]:
    yield from spec.node_selector
    required = spec.affinity.node_affinity.required
    for term in required.node_selector_terms if required is not None else ():
        yield from (expression.key for expression in term.match_expressions)


def _held(subject: Subject, demands: Demands) -> BoolArray:
    """Nodes with a pod that a rule of these pods counts, that carries one, or holds a port."""
    cluster, state = subject.cluster, subject.state
    groups: set[int] = set()
    for pods in demands.values():
        one = replace(subject, pod=pods[0])
        spec, labels = one.group.spec, cluster.namespaces.get(one.group.namespace, {})
        for constraint in spec.topology_spread_constraints:
            groups.update(matching_groups(one, constraint).tolist())
        for carried in state.carried_terms.about(one.group, labels):
            groups.add(carried.owner)
        if spec.exclusive_on_node:
            groups.update(g.index for g in cluster.groups if g.spec.exclusive_on_node)
        if spec.affinity.pod_affinity.required or spec.affinity.pod_anti_affinity.required:
            groups.update(_matched(one))
    counted = np.isin(cluster.group_of, sorted(groups)) & (state.node_of >= 0)
    held = np.zeros(len(cluster.nodes), np.bool_)
    held[state.node_of[counted]] = True
    return held


def _matched(subject: Subject) -> Iterator[int]:
    affinity = subject.group.spec.affinity
    for term in (*affinity.pod_affinity.required, *affinity.pod_anti_affinity.required):
        yield from matched(subject, term)


def _only(cluster: Cluster, kept: list[int]) -> Cluster:
    """With these nodes; pods on the others are gone."""
    new = np.full(len(cluster.nodes) + 1, GONE)
    new[kept] = np.arange(len(kept))
    node_of = np.where(cluster.node_of >= 0, new[cluster.node_of], cluster.node_of)
    table = cluster.resources
    return replace(
        cluster,
        nodes=tuple(cluster.nodes[i] for i in kept),
        node_of=node_of,
        resources=ResourceTable(table.names, table.allocatable[kept], table.requests),
        arrival=np.arange(len(kept)),
    )
