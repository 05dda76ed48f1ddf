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
from planner.explain.rules import taken_on_node
from planner.explain.rules.counted_spread import matching_groups
from planner.explain.rules.inter_pod_affinity import (
    ANTI_FIELD,
    NEAR_FIELD,
    selector_words,
    terms_of_others,
)
from planner.explain.situation.subject import Subject
from planner.rules.catalogue import card_of
from planner.solver.problem.volume_reach import reach
from planner.words import (
    NAMED,
    amount,
    amount_of,
    conjoined,
    count_of,
    is_free,
    resource_word,
    short_key,
)
from planner_models.declared_features import ASKED_FOR_BY
from planner_models.diagnosis import ConflictFact, RuleKind

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
    groups: tuple[int, ...] = ()
    changeable: int = 0
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


def groups_of(cluster: Cluster, demands: Demands) -> list[int]:
    """The groups of the demanded pods."""
    return sorted({int(cluster.group_of[pod]) for pods in demands.values() for pod in pods})


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
    cluster, rules = subject.cluster, subject.state.node_rules
    spec, key = cluster.groups[groups[0]].spec, ref.key
    specs = {g: cluster.groups[g].spec for g in groups}
    yield from _spreads(subject, ref, groups)
    if spec.node_selector or spec.affinity.node_affinity.required is not None:
        shut = {g: ~rules.affinity(each) for g, each in specs.items()}
        text = f"{ref.name} asks for certain nodes."
        where = "spec.nodeSelector" if spec.node_selector else "spec.affinity.nodeAffinity"
        yield Fact("nodeAffinity", "node affinity", key, where, text, groups, blocked=shut)
    shut = {g: ~rules.taints(each.tolerations) for g, each in specs.items()}
    if any(mask.any() for mask in shut.values()):
        text = f"{ref.name} does not tolerate every taint."
        yield Fact("taints", "taints", key, "spec.tolerations", text, groups, blocked=shut)
    if spec.required_features:
        shut = {g: ~rules.declaring(each.required_features) for g, each in specs.items()}
        text = f"{ref.name} needs nodes that declare {conjoined(list(spec.required_features))}."
        where = ASKED_FOR_BY[spec.required_features[0]]
        yield Fact("declaredFeatures", "declared features", key, where, text, groups, blocked=shut)
    if spec.exclusive_on_node:
        card = card_of("ports")
        text = f"{ref.name} takes {taken_on_node(spec)}, once per node."
        yield Fact("ports", card.name, key, card.field(), text, groups)
    if any(cluster.groups[g].volumes for g in groups):
        shut = {g: ~reach(cluster, cluster.groups[g]) for g in groups}
        text = f"The volumes of {ref.name} reach some nodes only."
        yield Fact("volumes", "volume", key, "spec.volumes", text, groups, blocked=shut)
    yield from _company(cluster, ref, groups)


def _spreads(subject: Subject, ref: WorkloadRef, groups: tuple[int, ...]) -> Iterator[Fact]:
    cluster, state = subject.cluster, subject.state
    constraints = cluster.groups[groups[0]].spec.topology_spread_constraints
    one = replace(subject, pod=int(np.flatnonzero(cluster.group_of == groups[0])[0]))
    for index, constraint in enumerate(constraints):
        if not constraint.hard:
            continue
        topology = cluster.topology(constraint.topology_key)
        per_node = state.counts_by_node(matching_groups(one, constraint), terminating=False)
        labelled = topology.domain_of >= 0
        counts = np.zeros(len(topology.domains), np.int64)
        np.add.at(counts, topology.domain_of[labelled], per_node[labelled])
        names = [f"{d} {n}" for d, n in zip(topology.domains, counts.tolist(), strict=True)]
        have = f": {', '.join(names)} now" if len(names) <= NAMED else ""
        key = short_key(constraint.topology_key)
        yield Fact(
            "topologySpread",
            f"{key} spread",
            ref.key,
            f"spec.topologySpreadConstraints[{index}]",
            f"{key} spread of {ref.name} has maxSkew {constraint.max_skew}{have}.",
            groups,
            index=index,
            blocked=dict.fromkeys(groups, ~labelled),
            numbers={"maxSkew": constraint.max_skew},
        )


def _company(cluster: Cluster, ref: WorkloadRef, groups: tuple[int, ...]) -> Iterator[Fact]:
    """Whom the pods want near, and each term about whom they keep away from."""
    affinity = cluster.groups[groups[0]].spec.affinity
    near = affinity.pod_affinity.required
    if near:
        wanted = conjoined([selector_words(term.label_selector) for term in near])
        unlabelled = np.zeros(len(cluster.nodes), np.bool_)
        for term in near:
            unlabelled |= cluster.topology(term.topology_key).domain_of < 0
        text = f"{ref.name} wants to be near pods with {wanted}."
        shut = dict.fromkeys(groups, unlabelled)
        yield Fact("podAffinity", "pod affinity", ref.key, NEAR_FIELD, text, groups, blocked=shut)
    mine = tuple(g.index for g in cluster.groups if cluster.workloads[g.index] == ref)
    for index, term in enumerate(affinity.pod_anti_affinity.required):
        key, whom = short_key(term.topology_key), selector_words(term.label_selector)
        text = f"{ref.name} keeps away from pods with {whom} in the same {key}."
        name, where = f"{key} anti-affinity", f"{ANTI_FIELD}[{index}]"
        yield Fact("podAntiAffinity", name, ref.key, where, text, mine, index=index)


def _others(subject: Subject, demands: Demands) -> Iterator[Fact]:
    """Required anti-affinity of other workloads against these pods, a fact for each workload."""
    cluster = subject.cluster
    carriers: dict[WorkloadRef, set[int]] = {}
    for pods in demands.values():
        for owner, _ in terms_of_others(replace(subject, pod=pods[0])):
            ref = cluster.workloads[owner.index]
            if ref not in demands:
                carriers.setdefault(ref, set()).add(owner.index)
    for ref, owners in sorted(carriers.items()):
        name, text = f"anti-affinity of {ref.name}", f"{ref.name} keeps these pods away."
        groups = tuple(sorted(owners))
        yield Fact("podAntiAffinityOfOthers", name, ref.key, ANTI_FIELD, text, groups, 2)


def _room(cluster: Cluster, demands: Demands) -> Iterator[Fact]:
    table = cluster.resources
    asked = [pod for pods in demands.values() for pod in pods]
    for column, name in enumerate(table.names):
        wanted = int(table.requests[cluster.group_of[asked], column].sum())
        if not wanted:
            continue
        free = np.maximum(table.allocatable[:, column] - cluster.used[:, column], 0)
        whole, most = int(free.sum()), int(free.max())
        text = (
            f"The pods need {amount_of(name, wanted)} in all; {amount(name, whole)} "
            f"{is_free(name, whole)}, at most {amount(name, most)} on one node."
        )
        yield Fact(
            kind="capacity",
            name=resource_word(name),
            object="nodes",
            field=f"status.allocatable[{name}]",
            text=text,
            changeable=1,
            resource=name,
            numbers={"wanted": wanted, "free": whole, "largestFree": most},
        )


def _cordons(subject: Subject, demands: Demands) -> Iterator[Fact]:
    cordoned = np.array([node.spec.unschedulable for node in subject.cluster.nodes], np.bool_)
    names = subject.nodes.names(cordoned)
    if not names:
        return
    groups = tuple(groups_of(subject.cluster, demands))
    yield Fact(
        "unschedulable",
        "cordon",
        "node/" + ", ".join(names[:NAMED]),
        "spec.unschedulable",
        f"{count_of(len(names), 'node')} {'is' if len(names) == 1 else 'are'} cordoned.",
        groups,
        blocked=dict.fromkeys(groups, cordoned),
        numbers={"nodes": len(names)},
    )
