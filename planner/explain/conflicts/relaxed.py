"""The cluster as it would be if only some of the facts held: what every answer is checked on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from planner.cluster import GONE, Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.resources import ResourceTable
from planner.explain.conflicts.confirm import spec_with_only, tolerating_all
from planner.explain.conflicts.facts import Demands, Fact, groups_of
from planner.explain.situation.overlay import sharing, uncordoned
from planner_models.declared_features import RESTART_ALL
from planner_models.node import Node
from planner_models.pod import Container, PodSpec

PLENTY = 2**50
"""More of a resource than pods ask for."""


def relaxed(
    cluster: Cluster, demands: Demands, facts: Collection[Fact], kept: Collection[Fact]
) -> Cluster:
    """Without the facts that are not kept; only the demanded pods wait."""
    wanted = {pod for fact in kept if fact.workload for pod in demands[fact.workload]}
    others = [pod for pod in cluster.pending.tolist() if pod not in wanted]
    dropped = [fact for fact in facts if fact not in kept]
    groups = _groups(cluster, demands, dropped, kept)
    changed = replace(
        cluster,
        groups=groups,
        resources=_resources(cluster.resources, dropped),
        nodes=_nodes(cluster, dropped),
    )
    changed = sharing(cluster, changed, nodes=changed.nodes is not cluster.nodes)
    return changed.with_placement(dict.fromkeys(others, GONE))


def _groups(
    cluster: Cluster, demands: Demands, dropped: Collection[Fact], kept: Collection[Fact]
) -> tuple[PodGroup, ...]:
    tolerations = tolerating_all(node.spec.taints for node in cluster.nodes)
    groups = list(cluster.groups)
    for index in groups_of(cluster, demands):
        mine = [fact for fact in kept if index in fact.groups]
        kinds = {fact.kind for fact in mine}
        group = groups[index]
        spec = spec_with_only(group.spec, {(f.kind, f.index) for f in mine}, tolerations)
        if "ports" not in kinds:
            spec = _without_ports(spec)
        if "declaredFeatures" not in kinds:
            spec = _without_features(spec)
        volumes = group.volumes if "volumes" in kinds else ()
        groups[index] = replace(group, spec=spec, volumes=volumes)
    for index, terms in _lost_terms(cluster, dropped).items():
        if groups[index].spec is cluster.groups[index].spec:
            groups[index] = replace(groups[index], spec=_without_terms(groups[index].spec, terms))
    return tuple(groups)


def _without_ports(spec: PodSpec) -> PodSpec:
    return spec.replace(
        containers=tuple(c.replace(ports=()) for c in spec.containers),
        init_containers=tuple(c.replace(ports=()) for c in spec.init_containers),
    )


def _without_features(spec: PodSpec) -> PodSpec:
    """The spec without what asks for features of nodes."""

    def without(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        rules = (c.restart_policy_rules for c in containers)
        left = (tuple(r for r in each if r.action != RESTART_ALL) for each in rules)
        return tuple(
            c.replace(restart_policy_rules=r) for c, r in zip(containers, left, strict=True)
        )

    return spec.replace(
        containers=without(spec.containers),
        init_containers=without(spec.init_containers),
        host_users=None,
    )


def _lost_terms(cluster: Cluster, dropped: Collection[Fact]) -> Mapping[int, set[int]]:
    """Running pods lose a term too: it keeps new pods away from them as well."""
    lost: dict[int, set[int]] = defaultdict(set)
    for fact in dropped:
        for index in fact.groups:
            if fact.kind == "podAntiAffinity":
                lost[index].add(fact.index)
            if fact.kind == "podAntiAffinityOfOthers":
                required = cluster.groups[index].spec.affinity.pod_anti_affinity.required
                lost[index].update(range(len(required)))
    return lost


def _without_terms(spec: PodSpec, terms: Collection[int]) -> PodSpec:
    anti = spec.affinity.pod_anti_affinity
    left = tuple(term for i, term in enumerate(anti.required) if i not in terms)
    affinity = spec.affinity.replace(pod_anti_affinity=anti.replace(required=left))
    return spec.replace(affinity=affinity)


def _resources(table: ResourceTable, dropped: Collection[Fact]) -> ResourceTable:
    names = [fact.resource for fact in dropped if fact.resource]
    if not names:
        return table
    allocatable = table.allocatable.copy()
    allocatable[:, [table.column(name) for name in names]] = PLENTY
    return ResourceTable(table.names, allocatable, table.requests)


def _nodes(cluster: Cluster, dropped: Collection[Fact]) -> tuple[Node, ...]:
    if not any(fact.kind == "unschedulable" for fact in dropped):
        return cluster.nodes
    return tuple(uncordoned(n) if n.spec.unschedulable else n for n in cluster.nodes)
