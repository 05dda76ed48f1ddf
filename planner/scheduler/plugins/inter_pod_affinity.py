"""InterPodAffinity: pods that want to be near or away from other pods, and the others' wishes.

Required terms refuse nodes: the pod's affinity, its anti-affinity, and the anti-affinity of the
pods that run already (symmetry). Preferred terms of both sides give and take points. Terminating
pods count like all others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.scheduler.framework.carried_terms import CarriedTerm
from planner.scheduler.framework.changes import Changes, GroupSet
from planner.scheduler.framework.plugin import (
    MAX_NODE_SCORE,
    PASS,
    SKIP,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Score,
    Status,
)
from planner.scheduler.framework.spread_counts import kinds_of
from planner.scheduler.framework.state import SchedulingState
from planner_models.affinity import PodAffinityTerm
from planner_models.scheduler_args import InterPodAffinityArgs

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"

_AFFINITY, _ANTI_AFFINITY, _EXISTING = 1, 2, 3


class InterPodAffinity:
    """`podAffinity` and `podAntiAffinity`."""

    name: ClassVar[str] = "InterPodAffinity"
    reasons: ClassVar[tuple[str, ...]] = (REASON_AFFINITY, REASON_ANTI_AFFINITY, REASON_EXISTING)

    def __init__(self, args: InterPodAffinityArgs) -> None:
        self._hard_weight = args.hard_pod_affinity_weight
        self._ignore_others = args.ignore_preferred_terms_of_existing_pods

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse by the pod's affinity, then its anti-affinity, then that of running pods."""
        required = group.spec.affinity.pod_affinity.required
        apart = group.spec.affinity.pod_anti_affinity.required
        others = [t for t in _terms_about(state, group) if t.apart and t.weight is None]
        if not required and not apart and not others:
            return SKIP
        return PreFilterResult(AffinityFilter(state, group, required, apart, others))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> AffinityScore | None:
        """Weights of matching terms: the pod's preferred ones, and those of running pods."""
        affinity = group.spec.affinity
        own = affinity.pod_affinity.preferred or affinity.pod_anti_affinity.preferred
        if self._ignore_others and not own:
            return None
        related: list[tuple[int, str, int]] = []
        for sign, terms in ((1, affinity.pod_affinity), (-1, affinity.pod_anti_affinity)):
            for weighted in terms.preferred:
                term = weighted.pod_affinity_term
                matched = _matched_groups(state, term, group.namespace)
                related += [(g, term.topology_key, sign * weighted.weight) for g in matched]
        for wish in _terms_about(state, group):
            weight = self._weight(wish)
            if weight:
                related.append((wish.owner, wish.term.topology_key, weight))
        return AffinityScore(state, related) if related else None

    def _weight(self, wish: CarriedTerm) -> int:
        """What a running pod's term adds; required affinity counts, required distance does not."""
        if wish.weight is not None:
            return wish.weight
        return 0 if wish.apart else self._hard_weight


def _matched_groups(
    state: SchedulingState, term: PodAffinityTerm, namespace: str
) -> frozenset[int]:
    """The groups that a term carried by a pod of `namespace` is about."""
    return frozenset(state.cluster.groups_about(term, namespace).tolist())


def _terms_about(state: SchedulingState, group: PodGroup) -> Iterator[CarriedTerm]:
    """The terms of all pods, running or not, that are about the incoming one."""
    labels = state.cluster.namespaces.get(group.namespace, {})
    return state.carried_terms.about(group, labels)


class DomainCounts:
    """Pods of chosen groups per domain of one topology."""

    def __init__(self, state: SchedulingState, topology: Topology, times: dict[int, int]) -> None:
        self.topology = topology
        self.times = times
        self._groups = GroupSet(times)
        self._factors = np.array([times[group] for group in self._groups.ids.tolist()], np.int64)
        self._room = np.zeros(len(topology.domains) + 1, np.int64)
        self.counts = self._room[:-1]
        per_node = np.zeros(len(state.cluster.nodes), np.int64)
        for factor in sorted(set(times.values())):
            chosen = np.array([group for group in times if times[group] == factor], np.int64)
            per_node += factor * state.counts_by_node(chosen, terminating=True)
        labelled = topology.domain_of >= 0
        np.add.at(self.counts, topology.domain_of[labelled], per_node[labelled])

    def add_all(self, changes: Changes) -> None:
        """Count pods that came or went."""
        found = self._groups.among(changes.groups)
        if len(found):
            factors = self._factors[np.searchsorted(self._groups.ids, changes.groups[found])]
            domains = self.topology.domain_of[changes.nodes[found]]
            # Nodes without the label have domain -1, the last place, which nobody reads.
            np.add.at(self._room, domains, factors * changes.deltas[found])

    def add(self, change: Change) -> None:
        """Count one pod along, in a what-if."""
        factor = self.times.get(change.group, 0)
        domain = self.topology.domain_of[change.node]
        if factor and domain >= 0:
            self.counts[domain] += factor * change.delta

    def at(self, node: int) -> int:
        """The count in the node's domain; -1 if it lacks the label."""
        domain = self.topology.domain_of[node]
        return int(self.counts[domain]) if domain >= 0 else -1

    def kinds(self, nodes: IntArray) -> IntArray:
        """What tells these nodes apart."""
        return kinds_of(self.topology, self.topology.domain_of[nodes], self._room)

    def per_node(self) -> IntArray:
        """The count in each node's domain; -1 for nodes without the label."""
        return np.append(self.counts, -1)[self.topology.domain_of]


def _counters(
    state: SchedulingState, chosen: Iterable[tuple[int, str, int]]
) -> dict[str, DomainCounts]:
    """One counter per topology key over (group, key, factor)."""
    by_key: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for group, key, factor in chosen:
        by_key[key][group] += factor
    return {
        key: DomainCounts(state, state.cluster.topology(key), dict(times))
        for key, times in by_key.items()
    }


class AffinityFilter(Filter):
    """Mates in reach, and no rivals on either side."""

    def __init__(
        self,
        state: SchedulingState,
        group: PodGroup,
        required: Sequence[PodAffinityTerm],
        apart: Sequence[PodAffinityTerm],
        others: Sequence[CarriedTerm],
    ) -> None:
        self._size = len(state.cluster.nodes)
        matched = [_matched_groups(state, term, group.namespace) for term in required]
        mates = frozenset.intersection(*matched) if matched else frozenset()
        keys = sorted({term.topology_key for term in required})
        near = _counters(state, ((mate, key, 1) for mate in mates for key in keys))
        self.near = [
            near.get(key) or DomainCounts(state, state.cluster.topology(key), {}) for key in keys
        ]
        self.may_start = group.index in mates
        self.apart = _counters(
            state,
            (
                (rival, term.topology_key, 1)
                for term in apart
                for rival in _matched_groups(state, term, group.namespace)
            ),
        )
        self.existing = _counters(state, ((t.owner, t.term.topology_key, 1) for t in others))

    def verdicts(self) -> IntArray:
        """Affinity first, then anti-affinity, then the anti-affinity of running pods."""
        verdicts = np.zeros(self._size, np.int64)
        for counters, verdict in ((self.existing, _EXISTING), (self.apart, _ANTI_AFFINITY)):
            for counter in counters.values():
                verdicts[counter.per_node() > 0] = verdict
        if self.near:
            verdicts[~self._near_mates()] = _AFFINITY
        return verdicts

    def verdict_at(self, node: int) -> int:
        """The same for one node."""
        if self.near and min(counter.at(node) for counter in self.near) < self._enough():
            return _AFFINITY
        for counters, verdict in ((self.apart, _ANTI_AFFINITY), (self.existing, _EXISTING)):
            if any(counter.at(node) > 0 for counter in counters.values()):
                return verdict
        return PASS

    def kinds(self, nodes: IntArray) -> list[IntArray]:
        """By every count."""
        counters = (*self.near, *self.apart.values(), *self.existing.values())
        return [counter.kinds(nodes) for counter in counters]

    def _near_mates(self) -> BoolArray:
        """Every term's domain has a pod that matches all terms; the first of a group may start it.

        That exception holds only while no pod anywhere matches, and the node has all the labels.
        """
        fewest = np.min([counter.per_node() for counter in self.near], axis=0)
        near: BoolArray = fewest >= self._enough()
        return near

    def _enough(self) -> int:
        """How many mates each domain needs: 1, or 0 for the first pod of its own group."""
        starts = self.may_start and not any(counter.counts.any() for counter in self.near)
        return 0 if starts else 1

    def status(self, verdict: int) -> Status:
        """Missing mates can't be helped by preemption, rivals can."""
        name = InterPodAffinity.name
        if verdict == _AFFINITY:
            return Status(name, UNRESOLVABLE, (REASON_AFFINITY,))
        reason = REASON_ANTI_AFFINITY if verdict == _ANTI_AFFINITY else REASON_EXISTING
        return Status(name, UNSCHEDULABLE, (reason,))

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for counter in (*self.near, *self.apart.values(), *self.existing.values()):
            counter.add_all(changes)

    def dry_run(self, change: Change) -> None:
        """Count along."""
        for counter in (*self.near, *self.apart.values(), *self.existing.values()):
            counter.add(change)


class AffinityScore(Score):
    """Weights of terms between the pod and those that run."""

    def __init__(self, state: SchedulingState, related: Sequence[tuple[int, str, int]]) -> None:
        """`related`: (group, topology key, weight) for each term between it and the pod."""
        self.counters = list(_counters(state, related).values())
        there = ((group, key, 1) for group, key, _ in related)
        self._presence = list(_counters(state, there).values())

    def active(self) -> bool:
        """Whether any running pod is related to this one; otherwise the plugin skips scoring."""
        return any(counter.counts.any() for counter in self._presence)

    def scores(self, feasible: IntArray) -> IntArray:
        """The sum of weights over the node's domains."""
        total = np.zeros(len(feasible), np.int64)
        for counter in self.counters:
            domain = counter.topology.domain_of[feasible]
            total += np.append(counter.counts, 0)[domain]
        return total

    def kinds(self, nodes: IntArray) -> list[IntArray]:
        """By every count."""
        return [counter.kinds(nodes) for counter in self.counters]

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """int(100 x (score - min) / (max - min)); all 0 if they are equal."""
        lowest, highest = int(raw.min()), int(raw.max())
        if highest == lowest:
            return np.zeros_like(raw)
        scaled = MAX_NODE_SCORE * ((raw - lowest) / float(highest - lowest))
        return scaled.astype(np.int64)

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for counter in (*self.counters, *self._presence):
            counter.add_all(changes)
