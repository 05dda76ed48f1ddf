"""What the landings of a relaxed plan break, counted on the final state by the rules themselves.

    spread         excess of each domain where a pod with the constraint lands
    anti-affinity  landed pods beside one that they may not be beside, or that may not be beside
                   them: one per pod and term
    affinity       landed pods beside nobody that they have to be near. Where such pods are near to
                   each other, the first in a domain is the one; one place needs nobody, if nobody
                   was there before
    labels         landed pods on nodes without the label of a spread constraint, or of a term

A relaxed plan makes the sum small. It is computed here from the snapshot, not from the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
)
from planner.cluster.topology import NO_DOMAIN, IntArray, Topology
from planner.replay.violations import BrokenRule
from planner.rules import RelaxableRule
from planner_models.affinity import PodAffinityTerm


@dataclass(frozen=True)
class BrokenLanding(BrokenRule):
    """A rule that landings break in one domain; None: on nodes that lack its label.

    `pods` are those that landed.
    """

    rule: RelaxableRule
    domain: str | None


def broken_landings(before: Cluster, after: Cluster) -> tuple[BrokenLanding, ...]:
    """Everything that the difference between two placements breaks."""
    landed = np.flatnonzero((after.node_of != before.node_of) & (after.node_of >= 0))
    if not len(landed):
        return ()
    landings = _Landings(after, landed)
    found = [*_spread(landings), *_apart(landings), *_near(landings)]
    return tuple(sorted(found, key=lambda each: (each.group, each.rule, each.index)))


class _Landings:
    """The pods that landed and all that run; terminating ones do until they are gone."""

    def __init__(self, cluster: Cluster, landed: IntArray) -> None:
        self.cluster = cluster
        self.landed = landed
        self.running = np.flatnonzero(cluster.node_of >= 0)
        self.stayed = np.setdiff1d(self.running, landed)

    def of(self, pods: IntArray, groups: Iterable[int]) -> IntArray:
        """Those of these pods that are of these groups."""
        return pods[np.isin(self.cluster.group_of[pods], np.fromiter(groups, np.int64))]

    def domains(self, pods: IntArray, topology: Topology) -> IntArray:
        """The domain of each pod's node."""
        return topology.domain_of[self.cluster.node_of[pods]]

    def counts(self, pods: IntArray, topology: Topology) -> IntArray:
        """Pods per domain."""
        domains = self.domains(pods, topology)
        return np.bincount(domains[domains >= 0], minlength=len(topology.domains))

    def about(self, group: PodGroup, term: PodAffinityTerm) -> frozenset[int]:
        """The groups that a term is about."""
        return frozenset(self.cluster.groups_about(term, group.namespace).tolist())

    @property
    def groups(self) -> list[PodGroup]:
        """The groups of pods that landed."""
        found = np.unique(self.cluster.group_of[self.landed]).tolist()
        return [self.cluster.groups[group] for group in found]


def _spread(landings: _Landings) -> Iterator[BrokenLanding]:
    counted = counted_pods(landings.cluster)
    for spread in hard_constraints(landings.cluster):
        pods = landings.of(landings.landed, {carrier.group for carrier in spread.carriers})
        if not len(pods):
            continue
        domains = landings.domains(pods, spread.scope.topology)
        counts = domain_counts(counted, spread)
        allowed = minimum(counts, spread) + spread.constraint.max_skew
        over = excess(counts, spread)
        for domain in np.unique(domains).tolist():
            there = pods[domains == domain]
            if domain == NO_DOMAIN:
                yield _of_spread(spread, domain, len(there), 0, there)
            elif over[domain]:
                yield _of_spread(spread, domain, int(counts[domain]), allowed, there)


def _of_spread(
    spread: SpreadConstraint, domain: int, count: int, allowed: int, pods: IntArray
) -> BrokenLanding:
    carrier, topology = spread.carriers[0], spread.scope.topology
    return BrokenLanding(
        rule="topologySpread",
        group=carrier.group,
        index=carrier.index,
        topology_key=topology.key,
        domain=_name(topology, domain),
        count=count,
        allowed=allowed,
        pods=tuple(pods.tolist()),
    )


def _name(topology: Topology, domain: int) -> str | None:
    return None if domain == NO_DOMAIN else topology.domains[domain]


def _apart(landings: _Landings) -> Iterator[BrokenLanding]:
    cluster = landings.cluster
    for number in np.unique(cluster.group_of[landings.running]).tolist():
        group = cluster.groups[number]
        for index, term in enumerate(group.spec.affinity.pod_anti_affinity.required):
            yield from _beside(landings, group, index, term)


def _beside(
    landings: _Landings, group: PodGroup, index: int, term: PodAffinityTerm
) -> Iterator[BrokenLanding]:
    """`count` are the pods of the group that has the rule, or those that landed against it."""
    about, topology = landings.about(group, term), landings.cluster.topology(term.topology_key)
    owners = landings.of(landings.running, (group.index,))
    owned = landings.counts(owners, topology)
    rivals = landings.counts(landings.of(landings.running, about), topology)
    own = landings.of(landings.landed, (group.index,))
    other = landings.of(landings.landed, about - {group.index})
    at, at_other = landings.domains(own, topology), landings.domains(other, topology)
    for domain in np.unique(np.concatenate((at, at_other))).tolist():
        if domain == NO_DOMAIN:
            continue
        pods = own[(at == domain) & (rivals[domain] > (group.index in about))]
        pods = np.concatenate((pods, other[(at_other == domain) & (owned[domain] > 0)]))
        if len(pods):
            count = max(int(owned[domain]), len(pods))
            yield BrokenLanding(
                rule="podAntiAffinity",
                group=group.index,
                index=index,
                topology_key=term.topology_key,
                domain=topology.domains[domain],
                count=count,
                allowed=count - len(pods),
                pods=tuple(pods.tolist()),
            )


@dataclass(frozen=True, eq=False)
class _Wish:
    """Groups whose pods have to be near the same ones; a group that is no mate of itself, alone."""

    members: list[int]
    keys: tuple[str, ...]
    mates: frozenset[int]

    @property
    def together(self) -> bool:
        """Whether they are near each other."""
        return self.mates.issuperset(self.members)


def _near(landings: _Landings) -> Iterator[BrokenLanding]:
    for wish in _wishes(landings):
        pods = landings.of(landings.landed, wish.members)
        yield from _unlabelled(landings, wish, pods)
        tried = (_lonely(landings, wish, pods, start) for start in _starts(landings, wish, pods))
        yield from min((list(found) for found in tried), key=_weight)


def _weight(found: list[BrokenLanding]) -> int:
    return sum(each.excess for each in found)


def _wishes(landings: _Landings) -> list[_Wish]:
    found: dict[tuple[object, ...], _Wish] = {}
    for group in landings.groups:
        terms = group.spec.affinity.pod_affinity.required
        if terms:
            keys = tuple(sorted({term.topology_key for term in terms}))
            mates = frozenset.intersection(*(landings.about(group, term) for term in terms))
            alone = None if group.index in mates else group.index
            wish = found.setdefault((alone, keys, mates), _Wish([], keys, mates))
            wish.members.append(group.index)
    return list(found.values())


def _unlabelled(landings: _Landings, wish: _Wish, pods: IntArray) -> Iterator[BrokenLanding]:
    for key in wish.keys:
        there = pods[landings.domains(pods, landings.cluster.topology(key)) == NO_DOMAIN]
        if len(there):
            yield _of_wish(wish, key, None, len(there), there)


def _starts(landings: _Landings, wish: _Wish, pods: IntArray) -> list[int | None]:
    """Pods that may have been the first: any, if nobody was there before; or none."""
    before = landings.of(landings.stayed, wish.mates)
    topologies = [landings.cluster.topology(key) for key in wish.keys]
    seen = any((landings.domains(before, each) != NO_DOMAIN).any() for each in topologies)
    return [None] if seen or not wish.together else [None, *pods.tolist()]


def _lonely(
    landings: _Landings, wish: _Wish, pods: IntArray, start: int | None
) -> Iterator[BrokenLanding]:
    """Landings in domains without a mate, but for the first pod's."""
    mates = landings.of(landings.running, wish.mates)
    anchors = np.setdiff1d(mates, pods)
    if start is not None:
        anchors = np.append(anchors, start)
    for key in wish.keys:
        topology = landings.cluster.topology(key)
        near, domains = landings.counts(anchors, topology), landings.domains(pods, topology)
        for domain in np.unique(domains).tolist():
            if domain != NO_DOMAIN and not near[domain]:
                there = pods[domains == domain]
                weight = 1 if wish.together else len(there)
                yield _of_wish(wish, key, topology.domains[domain], weight, there[:weight])


def _of_wish(
    wish: _Wish, key: str, domain: str | None, weight: int, pods: IntArray
) -> BrokenLanding:
    return BrokenLanding(
        rule="podAffinity",
        group=wish.members[0],
        topology_key=key,
        domain=domain,
        count=weight,
        pods=tuple(pods.tolist()),
    )
