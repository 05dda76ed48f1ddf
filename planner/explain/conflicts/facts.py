"""The facts of a batch, in the user's words: demands, rules of workloads, room, cordons.

One fact is a workload and a rule, or a resource of all nodes; never a pod and a node. A fact knows
which guards of the solver's model stand for it, and what it states in the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.explain.rules.inter_pod_affinity import ANTI_FIELD, NEAR_FIELD, selector_words
from planner.explain.rules.pod_topology_spread import matching_groups
from planner.explain.situation.subject import Subject
from planner.solver.volume_reach import reach
from planner.words import (
    NAMED,
    amount,
    conjoined,
    count_of,
    resource_word,
    short_key,
)
from planner_models.declared_features import ASKED_FOR_BY
from planner_models.diagnosis import ConflictFact, RuleKind
from planner_models.resources import PODS

Demands = Mapping[WorkloadRef, Sequence[int]]
"""The waiting pods of each workload, in the order in which they are counted."""


@dataclass(frozen=True, eq=False)
class Fact:
    """One thing that could be otherwise.

    `groups` are the groups whose rule it is; `index` which constraint or term of theirs. `blocked`
    are nodes that the fact closes to a group whatever runs where.
    """

    kind: RuleKind
    name: str
    object: str
    field: str
    text: str
    changeable: int
    groups: tuple[int, ...] = ()
    index: int = 0
    resource: str = ""
    workload: WorkloadRef | None = None
    blocked: Mapping[int, BoolArray] | None = None
    numbers: Mapping[str, int] | None = None

    def document(self) -> ConflictFact:
        """As the document states it."""
        return ConflictFact(
            kind=self.kind,
            object=self.object,
            field=self.field,
            name=self.name,
            text=self.text,
            facts=dict(self.numbers or {}),
        )


def facts_of(subject: Subject, demands: Demands) -> tuple[Fact, ...]:
    """Demands first, then the rules of each workload, then room and cordons."""
    several = len(demands) > 1
    found: list[Fact] = [_demand(ref, pods, several=several) for ref, pods in demands.items()]
    for ref, pods in demands.items():
        groups = tuple(dict.fromkeys(subject.cluster.group_of[list(pods)].tolist()))
        own = [*_rules(subject, ref, groups)]
        if several:
            own = [replace(fact, name=f"{fact.name} of {ref.name}") for fact in own]
        found += own
    found += _others(subject, demands)
    found += _room(subject.cluster, demands)
    found += _cordons(subject, demands)
    return tuple(found)


def _demand(ref: WorkloadRef, pods: Sequence[int], *, several: bool) -> Fact:
    number = len(pods)
    return Fact(
        kind="replicas",
        name=ref.name if several else count_of(number, f"{ref.name} pod"),
        object=ref.key,
        field="spec.replicas",
        text=f"{ref.name} wants {count_of(number, 'more pod')}.",
        changeable=1,
        workload=ref,
        numbers={"pending": number},
    )


def _rules(subject: Subject, ref: WorkloadRef, groups: tuple[int, ...]) -> Iterator[Fact]:
    """What the template of a workload asks for; its groups have the same spec."""
    cluster = subject.cluster
    spec = cluster.groups[groups[0]].spec
    yield from _spreads(subject, ref, groups)
    if spec.node_selector or spec.affinity.node_affinity.required is not None:
        shut = {g: ~_admitted(subject, g) for g in groups}
        text = f"{ref.name} asks for certain nodes."
        field = "spec.nodeSelector" if spec.node_selector else "spec.affinity.nodeAffinity"
        yield _static("nodeAffinity", "node affinity", ref, field, text, groups, shut)
    rules = subject.state.node_rules
    shut = {g: ~rules.taints(cluster.groups[g].spec.tolerations) for g in groups}
    if any(mask.any() for mask in shut.values()):
        text = f"{ref.name} does not tolerate every taint."
        yield _static("taints", "taints", ref, "spec.tolerations", text, groups, shut)
    if spec.required_features:
        features = conjoined(list(spec.required_features))
        shut = {g: ~rules.declaring(cluster.groups[g].spec.required_features) for g in groups}
        text = f"{ref.name} needs nodes that declare {features}."
        field = ASKED_FOR_BY[spec.required_features[0]]
        yield _static("declaredFeatures", "declared features", ref, field, text, groups, shut)
    if spec.host_ports:
        ports = conjoined([str(port) for _, _, port in spec.host_ports])
        text = f"{ref.name} takes host port {ports}, once per node."
        field = "spec.containers[*].ports[*].hostPort"
        yield Fact("ports", "host ports", ref.key, field, text, 0, groups)
    if any(cluster.groups[g].volumes for g in groups):
        shut = {g: ~reach(cluster, cluster.groups[g]) for g in groups}
        text = f"The volumes of {ref.name} reach some nodes only."
        yield _static("volumes", "volume", ref, "spec.volumes", text, groups, shut)
    yield from _company(cluster, ref, groups)


def _static(
    kind: RuleKind,
    name: str,
    ref: WorkloadRef,
    field: str,
    text: str,
    groups: tuple[int, ...],
    blocked: Mapping[int, BoolArray],
) -> Fact:
    return Fact(kind, name, ref.key, field, text, 0, groups, blocked=blocked)


def _admitted(subject: Subject, group: int) -> BoolArray:
    return subject.state.node_rules.affinity(subject.cluster.groups[group].spec)


def _spreads(subject: Subject, ref: WorkloadRef, groups: tuple[int, ...]) -> Iterator[Fact]:
    cluster, state = subject.cluster, subject.state
    constraints = cluster.groups[groups[0]].spec.topology_spread_constraints
    for index, constraint in enumerate(constraints):
        if not constraint.hard:
            continue
        topology = cluster.topology(constraint.topology_key)
        one = replace(subject, pod=int(np.flatnonzero(cluster.group_of == groups[0])[0]))
        per_node = state.counts_by_node(matching_groups(one, constraint), terminating=False)
        counts = np.bincount(
            topology.domain_of[topology.domain_of >= 0],
            weights=per_node[topology.domain_of >= 0],
            minlength=len(topology.domains),
        ).astype(int)
        names = [f"{d} {n}" for d, n in zip(topology.domains, counts.tolist(), strict=True)]
        have = f": {', '.join(names)} now" if len(names) <= NAMED else ""
        key = short_key(constraint.topology_key)
        yield Fact(
            kind="topologySpread",
            name=f"{key} spread",
            object=ref.key,
            field=f"spec.topologySpreadConstraints[{index}]",
            text=f"{key} spread of {ref.name} has maxSkew {constraint.max_skew}{have}.",
            changeable=0,
            groups=groups,
            index=index,
            blocked=dict.fromkeys(groups, topology.domain_of < 0),
            numbers={"maxSkew": constraint.max_skew},
        )


def _company(cluster: Cluster, ref: WorkloadRef, groups: tuple[int, ...]) -> Iterator[Fact]:
    """Whom the pods want near, and each term about whom they keep away from."""
    affinity = cluster.groups[groups[0]].spec.affinity
    if affinity.pod_affinity.required:
        wanted = conjoined(
            [selector_words(t.label_selector) for t in affinity.pod_affinity.required]
        )
        keys = [t.topology_key for t in affinity.pod_affinity.required]
        unlabelled = np.zeros(len(cluster.nodes), np.bool_)
        for key in keys:
            unlabelled |= cluster.topology(key).domain_of < 0
        yield Fact(
            kind="podAffinity",
            name="pod affinity",
            object=ref.key,
            field=NEAR_FIELD,
            text=f"{ref.name} wants to be near pods with {wanted}.",
            changeable=0,
            groups=groups,
            blocked=dict.fromkeys(groups, unlabelled),
        )
    mine = tuple(g.index for g in cluster.groups if cluster.workloads[g.index] == ref)
    for index, term in enumerate(affinity.pod_anti_affinity.required):
        key = short_key(term.topology_key)
        yield Fact(
            kind="podAntiAffinity",
            name=f"{key} anti-affinity",
            object=ref.key,
            field=f"{ANTI_FIELD}[{index}]",
            text=f"{ref.name} keeps away from pods with {selector_words(term.label_selector)} in "
            f"the same {key}.",
            changeable=0,
            groups=mine,
            index=index,
        )


def _others(subject: Subject, demands: Demands) -> Iterator[Fact]:
    """Required anti-affinity of other workloads against these pods, a fact for each workload."""
    cluster = subject.cluster
    carriers: dict[WorkloadRef, set[int]] = {}
    for pods in demands.values():
        group = cluster.groups[int(cluster.group_of[pods[0]])]
        labels = cluster.namespaces.get(group.namespace, {})
        for carried in subject.state.carried_terms.about(group, labels):
            ref = cluster.workloads[carried.owner]
            if carried.apart and carried.weight is None and ref not in demands:
                carriers.setdefault(ref, set()).add(carried.owner)
    for ref, groups in sorted(carriers.items()):
        yield Fact(
            kind="podAntiAffinityOfOthers",
            name=f"anti-affinity of {ref.name}",
            object=ref.key,
            field=ANTI_FIELD,
            text=f"{ref.name} keeps these pods away.",
            changeable=2,
            groups=tuple(sorted(groups)),
        )


def _room(cluster: Cluster, demands: Demands) -> Iterator[Fact]:
    table = cluster.resources
    groups = sorted({int(cluster.group_of[p]) for pods in demands.values() for p in pods})
    for column, name in enumerate(table.names):
        if not table.requests[groups, column].any():
            continue
        free = np.maximum(table.allocatable[:, column] - cluster.used[:, column], 0)
        wanted = int(
            sum(table.requests[cluster.group_of[list(p)], column].sum() for p in demands.values())
        )
        text = (
            f"The pods need {amount(name, wanted)} {resource_word(name)} in all; "
            f"{amount(name, int(free.sum()))} are free, at most {amount(name, int(free.max()))} "
            "on one node."
        )
        yield Fact(
            kind="capacity",
            name=resource_word(name) if name != PODS else "pod slots",
            object="nodes",
            field=f"status.allocatable[{name}]",
            text=text,
            changeable=1,
            resource=name,
            numbers={"wanted": wanted, "free": int(free.sum()), "largestFree": int(free.max())},
        )


def _cordons(subject: Subject, demands: Demands) -> Iterator[Fact]:
    cordoned = np.array([node.spec.unschedulable for node in subject.cluster.nodes], np.bool_)
    if not cordoned.any():
        return
    groups = sorted({int(subject.cluster.group_of[p]) for pods in demands.values() for p in pods})
    names = [node.name for node in subject.cluster.nodes if node.spec.unschedulable]
    number = len(names)
    yield Fact(
        kind="unschedulable",
        name="cordon",
        object="node/" + ", ".join(names[:NAMED]),
        field="spec.unschedulable",
        text=f"{count_of(number, 'node')} {'is' if number == 1 else 'are'} cordoned.",
        changeable=0,
        groups=tuple(groups),
        blocked=dict.fromkeys(groups, cordoned),
        numbers={"nodes": number},
    )
