"""Repairs applied by hand to a cluster that is then built anew: the judge's independent twin."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from planner.cluster import Cluster, build_cluster
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory
from planner_models.affinity import NodeAffinity, PodAffinity
from planner_models.diagnosis import Repair
from planner_models.meta import ObjectMeta
from planner_models.node import HOSTNAME, Node, NodeStatus
from planner_models.pod import PodSpec
from planner_models.quantity import NANO, parse_quantity
from planner_models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from planner_models.taints import Toleration

_INDEX = re.compile(r"\[(\d+)\]")


def passes(cluster: Cluster, pod: int) -> bool:
    """Whether kube-scheduler finds a node for the pod."""
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    return bool(len(scheduler.evaluate(pod).feasible))


def applied(cluster: Cluster, pod: int, repair: Repair) -> Cluster:
    """The cluster after the repair, made from its objects."""
    if repair.parts:
        for part in repair.parts:
            cluster = applied(cluster, pod, part)
        return cluster
    nodes, pods = list(cluster.nodes), list(cluster.pods)
    name = repair.object.partition("/")[2]
    match repair.kind:
        case "uncordon" | "labelNode" | "freeCapacity" | "nodeCondition":
            index = next(i for i, node in enumerate(nodes) if node.name == name)
            nodes[index] = _changed_node(nodes[index], repair)
        case "deletePod":
            gone = next(i for i, each in enumerate(pods) if each.name == name and each.node_name)
            pods[gone] = msgspec.structs.replace(pods[gone], phase="Succeeded")
        case "addNode":
            nodes.append(_new_node(cluster, pod, repair))
        case _:
            edit = _edit(repair)
            for index in _meant(cluster, pod, repair):
                pods[index] = msgspec.structs.replace(pods[index], spec=edit(pods[index].spec))
    return build_cluster(Inventory(nodes=tuple(nodes), pods=tuple(pods)))


def _meant(cluster: Cluster, pod: int, repair: Repair) -> list[int]:
    if repair.judged_for == "pod":
        return [pod]
    own = cluster.workloads[cluster.group_of[pod]].short
    if repair.kind == "relaxAntiAffinity" and repair.object not in (own, f"pod/{own}"):
        groups = cluster.group_of.tolist()
        return [i for i, g in enumerate(groups) if cluster.workloads[g].short == repair.object]
    group = cluster.groups[cluster.group_of[pod]]
    return [
        i
        for i, g in enumerate(cluster.group_of.tolist())
        if cluster.groups[g].spec == group.spec
        and cluster.workloads[g] == cluster.workloads[group.index]
    ]


def _changed_node(node: Node, repair: Repair) -> Node:
    assert repair.kind == "uncordon" or repair.change is not None
    if repair.kind == "uncordon":
        taints = tuple(t for t in node.spec.taints if "unschedulable" not in t.key)
        return node.replace(spec=node.spec.replace(unschedulable=False, taints=taints))
    assert repair.change is not None
    if repair.kind == "nodeCondition":
        gone: Any = repair.change.from_
        taints = tuple(t for t in node.spec.taints if t.key not in gone)
        return node.replace(spec=node.spec.replace(taints=taints))
    if repair.kind == "labelNode":
        key = repair.field.partition("[")[2].rstrip("]")
        labels = {**node.labels, key: repair.change.to}
        return node.replace(metadata=node.metadata.replace(labels=labels))
    freed: Any = repair.change.to
    allocatable = dict(node.status.allocatable)
    for resource, amount in freed.items():
        allocatable[resource] += amount * (10**6 if resource == "cpu" else NANO)
    return node.replace(status=node.status.replace(allocatable=allocatable))


def _new_node(cluster: Cluster, pod: int, repair: Repair) -> Node:
    assert repair.change is not None
    to: Any = repair.change.to
    spec = cluster.pods[pod].spec
    base = next(
        (
            n.labels
            for n in cluster.nodes
            if all(n.labels.get(k) == v for k, v in spec.node_selector.items())
            and (
                spec.affinity.node_affinity.required is None
                or spec.affinity.node_affinity.required.matches(n.labels, n.name)
            )
        ),
        {},
    )
    size = {name: parse_quantity(value) for name, value in to["size"].items()}
    all_labels = {**base, HOSTNAME: "new-node", **to["labels"]}
    return Node(
        metadata=ObjectMeta(name="new-node", labels=all_labels),
        status=NodeStatus(allocatable={**size, "pods": NANO}),
    )


_FIELDS = {
    "raiseMaxSkew": "max_skew",
    "lowerMinDomains": "min_domains",
    "nodeTaintsPolicy": "node_taints_policy",
    "nodeAffinityPolicy": "node_affinity_policy",
}


def _edit(repair: Repair) -> Callable[[PodSpec], PodSpec]:
    to: Any = repair.change.to if repair.change is not None else None
    indexes = [int(found) for found in _INDEX.findall(repair.field)]
    if repair.kind in _FIELDS:
        return lambda spec: _constraints(spec, indexes, **{_FIELDS[repair.kind]: to})
    edits: dict[str, Callable[[PodSpec], PodSpec]] = {
        "scheduleAnyway": lambda spec: _constraints(
            spec, indexes, when_unsatisfiable=to, min_domains=None
        ),
        "topologyKey": lambda spec: _other_key(spec, repair.field, indexes[0], to),
        "addToleration": lambda spec: _tolerating(spec, to),
        "lowerRequest": lambda spec: _requests(spec, repair.field.rpartition(".")[2], to),
        "relaxAffinity": lambda spec: _relaxed(spec, repair.field),
        "addNodeAffinity": lambda spec: _only_in(spec, to),
        "dropHostPort": lambda spec: spec.replace(
            containers=tuple(container.replace(ports=()) for container in spec.containers)
        ),
        "relaxAntiAffinity": lambda spec: _apart(spec, indexes[0], to) if indexes else _alone(spec),
    }
    return edits[repair.kind]


def _other_key(spec: PodSpec, field: str, index: int, key: str) -> PodSpec:
    if "podAffinity" not in field:
        return _constraints(spec, [index], topology_key=key)
    near = spec.affinity.pod_affinity
    terms = tuple(
        term.replace(topology_key=key) if i == index else term
        for i, term in enumerate(near.required)
    )
    affinity = spec.affinity.replace(pod_affinity=near.replace(required=terms))
    return spec.replace(affinity=affinity)


def _tolerating(spec: PodSpec, added: list[Any]) -> PodSpec:
    more = tuple(Toleration.model_validate(each) for each in added)
    return spec.replace(tolerations=(*spec.tolerations, *more))


def _constraints(spec: PodSpec, indexes: list[int], **changes: Any) -> PodSpec:
    constraints = tuple(
        c.replace(**changes) if i in indexes else c
        for i, c in enumerate(spec.topology_spread_constraints)
    )
    return spec.replace(topology_spread_constraints=constraints)


def _requests(spec: PodSpec, resource: str, value: str) -> PodSpec:
    container = spec.containers[0]
    requests = {**container.resources.requests, resource: parse_quantity(value)}
    resources = container.resources.replace(requests=requests)
    return spec.replace(containers=(container.replace(resources=resources),))


def _relaxed(spec: PodSpec, field: str) -> PodSpec:
    if field.startswith("spec.nodeSelector["):
        key = field.partition("[")[2].rstrip("]")
        left = {k: v for k, v in spec.node_selector.items() if k != key}
        return spec.replace(node_selector=left)
    if field == "spec.nodeSelector":
        return spec.replace(node_selector={})
    if "nodeAffinity" in field:
        return spec.replace(affinity=spec.affinity.replace(node_affinity=NodeAffinity()))
    return spec.replace(affinity=spec.affinity.replace(pod_affinity=PodAffinity()))


def _only_in(spec: PodSpec, asked: Any) -> PodSpec:
    """Every term asks for it as well."""
    nodes = spec.affinity.node_affinity
    terms = nodes.required.node_selector_terms if nodes.required else (NodeSelectorTerm(),)
    more = NodeSelectorRequirement.model_validate(asked)
    changed = tuple(t.replace(match_expressions=(*t.match_expressions, more)) for t in terms)
    required = NodeSelector(node_selector_terms=changed)
    affinity = spec.affinity.replace(node_affinity=nodes.replace(required=required))
    return spec.replace(affinity=affinity)


def _alone(spec: PodSpec) -> PodSpec:
    return spec.replace(affinity=spec.affinity.replace(pod_anti_affinity=PodAffinity()))


def _apart(spec: PodSpec, index: int, to: str | None) -> PodSpec:
    terms = list(spec.affinity.pod_anti_affinity.required)
    if to is None:
        del terms[index]
    else:
        terms[index] = terms[index].replace(topology_key=to)
    anti = PodAffinity(required=tuple(terms))
    return spec.replace(affinity=spec.affinity.replace(pod_anti_affinity=anti))
