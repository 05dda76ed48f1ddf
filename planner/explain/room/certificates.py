"""Checks counting arguments again, from the objects themselves.

An argument is found with the rules of the explanation; here it is judged without them, pod by pod
and node by node, with nothing but selectors, labels and numbers. Only what holds twice is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import effective_selector
from planner.explain.rules.inter_pod_affinity import matched
from planner.explain.situation.overlay import Overlay, feasible
from planner.explain.situation.subject import Subject
from planner.solver.problem.volume_reach import reach
from planner_models.affinity import PodAffinity
from planner_models.diagnosis import Counting
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.pod import PodSpec
from planner_models.resources import PODS
from planner_models.taints import HARD_EFFECTS, Taint
from planner_models.topology_spread import TopologySpreadConstraint

Held = Mapping[str, int]
CORDON = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")


def holds(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """Whether the numbers contradict each other as the argument says."""
    check = _CHECKS.get(counting.kind)
    return check is None or check(subject, movable, counting)


def _static(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """No node, were it empty."""
    spec = subject.group.spec
    return not any(
        _admits(node, spec)
        and _large_enough(node, spec)
        and subject.group.node_name in ("", node.name)
        for node in subject.cluster.nodes
    )


def _admits(node: Node, spec: PodSpec) -> bool:
    taints = (*node.spec.taints, *((CORDON,) if node.spec.unschedulable else ()))
    able = all(feature in node.status.declared_features for feature in spec.required_features)
    return able and _wished(node, spec) and _untainted(taints, spec)


def _wished(node: Node, spec: PodSpec) -> bool:
    required = spec.affinity.node_affinity.required
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    return required is None or required.matches(node.labels, node.name)


def _untainted(taints: Iterable[Taint], spec: PodSpec) -> bool:
    hard = [taint for taint in taints if taint.effect in HARD_EFFECTS]
    return all(any(each.tolerates(taint) for each in spec.tolerations) for taint in hard)


def _large_enough(node: Node, spec: PodSpec) -> bool:
    asked = {name: n for name, n in spec.requests.items() if n > 0}
    offered = node.allocatable
    return offered.get(PODS, 0) > 0 and all(offered.get(k, 0) >= n for k, n in asked.items())


def _capacity(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """Evictions move requests about; they don't make them fewer."""
    name = str(counting.numbers["resource"])
    held = _held(subject, np.ones_like(movable))
    free = sum(
        max(0, node.allocatable.get(name, 0) - held[i].get(name, 0))
        for i, node in enumerate(subject.cluster.nodes)
    )
    return free < subject.group.spec.requests.get(name, 1 if name == PODS else 0)


def _pigeonhole(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """All of them carry the term, and each domain takes one, or keeps what it has."""
    index = int(str(counting.numbers["index"]))
    term = subject.group.spec.affinity.pod_anti_affinity.required[index]
    cluster, node_of = subject.cluster, subject.state.node_of
    domains = [node.labels.get(term.topology_key) for node in cluster.nodes]
    if None in domains or term.label_selector is None:
        return False
    counts: Counter[str | None] = Counter(dict.fromkeys(domains, 0))
    for group in cluster.groups:
        mine = np.flatnonzero((cluster.group_of == group.index) & (node_of >= 0))
        same = group.namespace == subject.group.namespace
        if not len(mine) or not same or not term.label_selector.matches(group.labels):
            continue
        if term not in group.spec.affinity.pod_anti_affinity.required:
            return False
        counts.update(domains[n] for n in node_of[mine].tolist())
    return sum(counts.values()) + 1 > sum(max(1, n) for n in counts.values())


def _domains(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """No domain can get more than has room in it, nor more than maxSkew above the least of them."""
    index = int(str(counting.numbers["index"]))
    constraint = subject.group.spec.topology_spread_constraints[index]
    counts, most = counts_and_most(subject, movable, constraint)
    if subject.group not in _matching(subject, constraint):
        return False
    limit = _lowest(constraint, most) + constraint.max_skew
    ceiling = {d: min(max(n, limit), max(most[d], n)) for d, n in counts.items()}
    return sum(counts.values()) + 1 > sum(ceiling.values())


def _lowest(constraint: TopologySpreadConstraint, most: Mapping[str, int]) -> int:
    """The highest that the minimum of all domains can get; 0 below minDomains."""
    return 0 if len(most) < (constraint.min_domains or 1) else min(most.values())


def counts_and_most(
    subject: Subject,
    movable: BoolArray,
    constraint: TopologySpreadConstraint,
    *,
    with_pod: bool = True,
    only: BoolArray | None = None,
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Matching pods per eligible domain, now and at most: those that stay, and room for others.

    `only` leaves all other pods out of the counts.
    """
    cluster, state = subject.cluster, subject.state
    places = {i: _eligible(subject, node, constraint) for i, node in enumerate(cluster.nodes)}
    domains = {name for name in places.values() if name is not None}
    counts, most = dict.fromkeys(domains, 0), dict.fromkeys(domains, 0)
    staying = _held(subject, ~movable)
    for group in _matching(subject, constraint):
        chosen = (cluster.group_of == group.index) & (state.node_of >= 0)
        pods = np.flatnonzero(chosen if only is None else chosen & only).tolist()
        here = Counter(int(state.node_of[p]) for p in pods if movable[p])
        moving = sum(here.values()) + (with_pod and group.index == subject.group.index)
        reached = reach(cluster, group)
        room: Counter[str] = Counter()
        for node, domain in places.items() if moving else ():
            if domain is not None:
                slots = _slots(subject, node, group, bool(reached[node]), staying[node])
                room[domain] += min(max(slots, here[node]), moving)
        for domain in domains:
            most[domain] += min(room[domain], moving)
        for pod in pods:
            mine = places[int(state.node_of[pod])]
            if mine is not None and not state.terminating[pod]:
                counts[mine] += 1
                most[mine] += not movable[pod]
    return counts, most


def _matching(subject: Subject, constraint: TopologySpreadConstraint) -> Iterator[PodGroup]:
    """Groups of the pod's namespace that the selector counts; an empty one counts none."""
    selector = effective_selector(constraint, subject.group)
    if selector is None or selector.is_empty:
        return
    for group in subject.cluster.groups:
        if group.namespace == subject.group.namespace and selector.matches(group.labels):
            yield group


def _eligible(subject: Subject, node: Node, constraint: TopologySpreadConstraint) -> str | None:
    """The node's domain, if the node takes part."""
    spec = subject.group.spec
    keys = [c.topology_key for c in spec.topology_spread_constraints if c.hard]
    if any(key not in node.labels for key in keys):
        return None
    if constraint.node_affinity_policy == "Honor" and not _wished(node, spec):
        return None
    if constraint.node_taints_policy == "Honor" and not _untainted(node.spec.taints, spec):
        return None
    return node.labels[constraint.topology_key]


def _held(subject: Subject, pods: BoolArray) -> list[dict[str, int]]:
    """What these pods request on each node."""
    cluster, node_of = subject.cluster, subject.state.node_of
    table, chosen = cluster.resources, np.flatnonzero(pods & (node_of >= 0))
    held = np.zeros_like(table.allocatable)
    np.add.at(held, node_of[chosen], table.requests[cluster.group_of[chosen]])
    return [dict(zip(table.names, row, strict=True)) for row in held.tolist()]


def _slots(subject: Subject, node: int, group: PodGroup, reached: bool, held: Held) -> int:
    """How many pods of a group have room on a node beside those that stay; 0 if it refuses them."""
    place = subject.cluster.nodes[node]
    if not reached or not _admits(place, group.spec):
        return 0
    asked = {**{k: n for k, n in group.spec.requests.items() if n > 0}, PODS: 1}
    offered = place.allocatable
    return max(0, min((offered.get(k, 0) - held.get(k, 0)) // n for k, n in asked.items()))


def _pinned(subject: Subject, movable: BoolArray, counting: Counting) -> bool:
    """With every movable pod gone, and no rule that other pods could open, no node is left.

    Spread is judged by what stays: a domain is shut if its pods that stay are too many against the
    fullest that the least domain can get.
    """
    gone = frozenset(np.flatnonzero(movable & (subject.state.node_of >= 0)).tolist())
    edit = _without_counts if _has_mates(subject) else _without_spread
    alone = feasible(subject, Overlay(edits=(edit,), without=gone))
    for index, constraint in enumerate(subject.group.spec.topology_spread_constraints):
        if constraint.hard:
            alone &= ~_shut(subject, movable, index)
    return not alone.any()


def _has_mates(subject: Subject) -> bool:
    """Whether a running pod matches all terms of the pod's affinity; else none ever will."""
    terms = subject.group.spec.affinity.pod_affinity.required
    running = set(subject.cluster.group_of[subject.state.node_of >= 0].tolist())
    return not terms or bool(
        frozenset.intersection(*(matched(subject, t) for t in terms)) & running
    )


def _without_spread(spec: PodSpec) -> PodSpec:
    return spec.replace(topology_spread_constraints=())


def _without_counts(spec: PodSpec) -> PodSpec:
    affinity = spec.affinity.replace(pod_affinity=PodAffinity())
    return _without_spread(spec.replace(affinity=affinity))


def _shut(subject: Subject, movable: BoolArray, index: int) -> BoolArray:
    constraint = subject.group.spec.topology_spread_constraints[index]
    selector = effective_selector(constraint, subject.group)
    own = int(selector is not None and selector.matches(subject.group.labels))
    most = counts_and_most(subject, movable, constraint, with_pod=False)[1]
    nobody = np.zeros_like(movable)
    staying = counts_and_most(subject, nobody, constraint, with_pod=False, only=~movable)[0]
    lowest = _lowest(constraint, most)
    found = np.zeros(len(subject.cluster.nodes), np.bool_)
    for node, place in enumerate(subject.cluster.nodes):
        domain = place.labels.get(constraint.topology_key)
        skew = staying.get(domain or "", 0) + own - lowest
        found[node] = domain is None or skew > constraint.max_skew
    return found


_CHECKS: Mapping[str, Callable[[Subject, BoolArray, Counting], bool]] = {
    "static": _static,
    "capacity": _capacity,
    "pigeonhole": _pigeonhole,
    "domains": _domains,
    "pinned": _pinned,
}
"""A search is its own proof."""
