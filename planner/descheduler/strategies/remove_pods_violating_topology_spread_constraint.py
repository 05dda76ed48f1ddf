"""RemovePodsViolatingTopologySpreadConstraint: pods of domains that have too many.

Constraints are taken one by one, namespace by namespace. Domains are sorted by size; pods go from
the largest to the smallest, as many as

    min(ceil(size - average), ceil(average - other size), ceil((skew - maxSkew) / 2))

Protected pods are not counted at all, minDomains is not looked at, an empty selector means every
pod of the namespace. Within a domain the highest priorities go first, pods with a nodeSelector or
node affinity last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.framework import Evictor, View, selecting
from planner.descheduler.strategies.go_sort import go_sorted
from planner.descheduler.strategies.limits import EvictionResult
from planner.descheduler.strategies.node_fit import NodeFit
from planner_models.descheduler_args import TopologySpreadConstraintArgs
from planner_models.pod import Pod
from planner_models.selectors import LabelSelector, with_match_label_keys
from planner_models.topology_spread import TopologySpreadConstraint


@dataclass(frozen=True, eq=False)
class _Constraint:
    """A constraint as some pod means it."""

    namespace: str
    spec: TopologySpreadConstraint
    selector: LabelSelector | None
    eligible: BoolArray


@dataclass
class _Domain:
    """The pods of a domain; those at the end are evicted first."""

    name: str
    pods: list[Pod]


def balance(view: View, args: TopologySpreadConstraintArgs, evictor: Evictor) -> None:
    """Choose for all constraints of all namespaces, then evict within the limits."""
    chosen = _Balancing(view, args, evictor).chosen()
    full: set[int] = set()
    for pod in view.in_any_order(chosen):
        if view.node_of(pod) in full or not evictor.pre_eviction_filter(pod):
            continue
        outcome = evictor.evict(pod, chosen[pod])
        if outcome is EvictionResult.NODE_LIMIT:
            full.add(view.node_of(pod))
        elif outcome is EvictionResult.TOTAL_LIMIT:
            return


class _Balancing:
    """The choice of pods, with what all constraints share."""

    def __init__(self, view: View, args: TopologySpreadConstraintArgs, evictor: Evictor) -> None:
        self._view = view
        self._args = args
        self._fit = NodeFit(view)
        self._eligible_by: dict[tuple[int, ...], BoolArray] = {}
        self._present_by: dict[tuple[str, int], tuple[str, ...]] = {}
        self._equals: dict[tuple[int, bool], list[int]] = {}
        selected = selecting(args.namespaces, args.label_selector)
        self._namespaces: dict[str, list[Pod]] = {}
        for node in view.nodes:
            for pod in view.pods_on(node):
                if selected(pod) and evictor.filter(pod):
                    self._namespaces.setdefault(pod.namespace, []).append(pod)

    def chosen(self) -> dict[Pod, str]:
        """The pods to evict and why."""
        chosen: dict[Pod, str] = {}
        for namespace, pods in self._namespaces.items():
            counted = _Counted(self._view, pods)
            for constraint in self._constraints(namespace, pods):
                matching = self._by_domain(constraint, counted)
                if self._skew(constraint, matching) > constraint.spec.max_skew:
                    domains = dict.fromkeys(self._present(constraint), ()) | matching
                    self._choose(constraint, self._by_size(domains), chosen)
        return chosen

    def _constraints(self, namespace: str, pods: Sequence[Pod]) -> Iterator[_Constraint]:
        """Every distinct constraint of the pods that the arguments enforce."""
        examples: dict[int, Pod] = {}
        for pod in pods:
            examples.setdefault(self._view.group_of[pod], pod)
        seen: set[tuple[object, ...]] = set()
        for pod in examples.values():
            for spec in pod.spec.topology_spread_constraints:
                if spec.when_unsatisfiable not in self._args.constraints:
                    continue
                selector = _selector(spec, pod)
                key = (*_meaning(spec, pod), None if selector is None else selector.canonical())
                if key not in seen:
                    seen.add(key)
                    yield _Constraint(namespace, spec, selector, self._eligible(spec, pod))

    def _eligible(self, spec: TopologySpreadConstraint, pod: Pod) -> BoolArray:
        """The nodes that the inclusion policies admit for the pod with the constraint."""
        rules: list[BoolArray] = []
        if spec.node_affinity_policy == "Honor":
            rules.append(self._fit.matches_affinity(pod))
        if spec.node_taints_policy == "Honor":
            rules.append(self._fit.tolerated(pod))
        key = tuple(map(id, rules))
        if key not in self._eligible_by:
            among = np.zeros(len(self._view.cluster.nodes), np.bool_)
            among[self._view.node_array] = True
            self._eligible_by[key] = np.logical_and.reduce([among, *rules])
        return self._eligible_by[key]

    def _present(self, constraint: _Constraint) -> tuple[str, ...]:
        """An eligible node makes a domain even without pods."""
        key = (constraint.spec.topology_key, id(constraint.eligible))
        if key not in self._present_by:
            topology = self._view.cluster.topology(constraint.spec.topology_key)
            there = np.unique(topology.domain_of[constraint.eligible]).tolist()
            self._present_by[key] = tuple(topology.domains[d] for d in there if d >= 0)
        return self._present_by[key]

    def _by_domain(self, constraint: _Constraint, counted: _Counted) -> dict[str, list[Pod]]:
        """The pods of each domain that has any; a pod makes one even on a node that has no part."""
        topology = self._view.cluster.topology(constraint.spec.topology_key)
        found: dict[str, list[Pod]] = {}
        for pod in counted.matching(constraint):
            domain = int(topology.domain_of[self._view.node_of(pod)])
            if domain >= 0:
                found.setdefault(topology.domains[domain], []).append(pod)
        return found

    def _skew(self, constraint: _Constraint, matching: Mapping[str, Sequence[Pod]]) -> int:
        """Between the largest and the smallest domain."""
        sizes = [len(pods) for pods in matching.values()]
        if not all(domain in matching for domain in self._present(constraint)):
            sizes.append(0)
        return max(sizes, default=0) - min(sizes, default=0)

    def _by_size(self, domains: Mapping[str, Sequence[Pod]]) -> list[_Domain]:
        names = self._view.in_any_order(domains)
        found = [_Domain(name, self._in_order(domains[name])) for name in names]
        return sorted(found, key=lambda domain: len(domain.pods))

    def _in_order(self, pods: Sequence[Pod]) -> list[Pod]:
        """As Go sorts them; what comes of pods that are all equal depends on their number alone."""
        if len({id(pod.spec) for pod in pods}) > 1:
            return go_sorted(pods, _stays_before)
        if len(pods) < 2:
            return list(pods)
        key = (len(pods), _stays_before(pods[0], pods[1]))
        if key not in self._equals:
            self._equals[key] = go_sorted(range(len(pods)), lambda _one, _other: key[1])
        return [pods[place] for place in self._equals[key]]

    def _choose(
        self, constraint: _Constraint, domains: list[_Domain], chosen: dict[Pod, str]
    ) -> None:
        average = sum(len(domain.pods) for domain in domains) / len(domains)
        fits = self._fit.landing_on(self._below_average(constraint, domains, average))
        low, high = 0, len(domains) - 1
        while low < high:
            if len(domains[high].pods) <= average:
                high -= 1
            moved = _how_many(domains[low], domains[high], average, constraint.spec.max_skew)
            if moved <= 0:
                low += 1
                continue
            source, target = domains[high], domains[low]
            reason = _reason(constraint.spec, source, target)
            source.pods.sort(key=fits)
            leaving = source.pods[-moved:]
            for pod in leaving:
                if fits(pod) or not self._args.topology_balance_node_fit:
                    chosen.setdefault(pod, reason)
            del source.pods[-moved:]
            target.pods += leaving

    def _below_average(
        self, constraint: _Constraint, domains: Sequence[_Domain], average: float
    ) -> IntArray:
        """The eligible nodes of domains that need more pods."""
        names = {domain.name for domain in domains if len(domain.pods) < average}
        topology = self._view.cluster.topology(constraint.spec.topology_key)
        lacking = np.array([*(name in names for name in topology.domains), False], np.bool_)
        return np.flatnonzero(constraint.eligible & lacking[topology.domain_of])


class _Counted:
    """The pods of a namespace that count, by group, so that a selector is asked once per group."""

    def __init__(self, view: View, pods: Sequence[Pod]) -> None:
        self._index = view.cluster.group_index
        self._by_group: dict[int, list[tuple[int, Pod]]] = {}
        for place, pod in enumerate(pods):
            if not view.is_terminating(pod):
                self._by_group.setdefault(view.group_of[pod], []).append((place, pod))

    def matching(self, constraint: _Constraint) -> list[Pod]:
        """The pods that the constraint counts, in their order."""
        groups = self._index.matching(constraint.selector, (constraint.namespace,)).tolist()
        found = [each for group in groups for each in self._by_group.get(group, ())]
        return [pod for _, pod in sorted(found, key=lambda each: each[0])]


def _how_many(low: _Domain, high: _Domain, average: float, max_skew: int) -> int:
    """How many pods go from the higher to the lower domain."""
    skew = len(high.pods) - len(low.pods)
    if skew <= max_skew:
        return 0
    surplus = ceil(len(high.pods) - average)
    lack = ceil(average - len(low.pods))
    return min(surplus, lack, ceil((skew - max_skew) / 2))


def _reason(spec: TopologySpreadConstraint, high: _Domain, low: _Domain) -> str:
    return (
        f"{spec.topology_key} {high.name} has {len(high.pods)} pods, {low.name} {len(low.pods)}; "
        f"maxSkew is {spec.max_skew}"
    )


def _selector(spec: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    if spec.label_selector is None or not spec.match_label_keys:
        return spec.label_selector
    return with_match_label_keys(spec.label_selector, spec.match_label_keys, pod.labels)


def _meaning(spec: TopologySpreadConstraint, pod: Pod) -> tuple[object, ...]:
    """What tells constraints apart beside the selector; policies ask who carries them."""
    affinity = spec.node_affinity_policy == "Honor"
    taints = spec.node_taints_policy == "Honor"
    return (
        spec.max_skew,
        spec.topology_key,
        (tuple(sorted(pod.spec.node_selector.items())), pod.spec.affinity.node_affinity.required)
        if affinity
        else None,
        pod.spec.tolerations if taints else None,
    )


def _stays_before(one: Pod, other: Pod) -> bool:
    """The order within a domain: pods bound to certain nodes first, then low priorities.

    An absent priority is the lowest. Two of the same priority are each before the other, which
    Go's sort makes something of.
    """
    bound, other_bound = _bound(one), _bound(other)
    if bound != other_bound:
        return bound
    first, second = one.spec.priority, other.spec.priority
    if first is None or second is None:
        return first is None and second is not None
    return first <= second


def _bound(pod: Pod) -> bool:
    """Whether it has a nodeSelector or node affinity, even one that says nothing."""
    return bool(pod.spec.node_selector) or "node_affinity" in pod.spec.affinity.model_fields_set
