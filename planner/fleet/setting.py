"""One placement over one fleet, ready to be decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from planner.fleet.affinity import AffinityScores, affinity_scores
from planner.fleet.bindings import Bindings, classify
from planner.fleet.filters import Refusal, newest_heartbeat, refusals
from planner.fleet.topology_spread import Topology, topologies
from planner_models.fleet import Placement, PlacementPolicy
from planner_models.fleet_binding import Binding, PolicySnapshot
from planner_models.member_cluster import MemberCluster

Domains = tuple[int, ...]
"""One per constraint."""


@dataclass(frozen=True)
class Setting:
    """Everything a decision depends on. Clusters are known by their place in the order of names."""

    placement: Placement
    clusters: tuple[MemberCluster, ...]
    bindings: Bindings
    now: int

    @property
    def policy(self) -> PlacementPolicy:
        """The placement's policy."""
        return self.placement.policy

    @property
    def wanted(self) -> int:
        """`numberOfClusters`; PickN is never without it."""
        return self.policy.number_of_clusters or 0

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The place of every cluster."""
        return {cluster.name: index for index, cluster in enumerate(self.clusters)}

    @cached_property
    def refusals(self) -> tuple[tuple[Refusal, ...], ...]:
        """Per cluster, the filters that refuse it whatever is picked."""
        return tuple(refusals(cluster, self.placement, self.now) for cluster in self.clusters)

    @cached_property
    def affinity_scores(self) -> AffinityScores:
        """Of every cluster, whatever the filters say."""
        return affinity_scores(self.clusters, self.policy)

    @property
    def affinity(self) -> tuple[int, ...]:
        """Per cluster, its affinity score."""
        return self.affinity_scores.scores

    @cached_property
    def topologies(self) -> tuple[Topology, ...]:
        """The spread constraints over the fleet."""
        return topologies(self.clusters, self.policy.topology_spread_constraints)

    @cached_property
    def current(self) -> frozenset[int]:
        """Clusters that count as picked from the start."""
        return self._places(self.bindings.current)

    @cached_property
    def former(self) -> frozenset[int]:
        """Clusters that an earlier policy had picked."""
        return self._places(self.bindings.former)

    @property
    def existing(self) -> frozenset[int]:
        """Clusters that have the resources now."""
        return self.current | self.former

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Clusters that may be in the result: those that pass the filters, or are picked."""
        return tuple(
            index
            for index in range(len(self.clusters))
            if index in self.current or not self.refusals[index]
        )

    def domains(self, cluster: int) -> Domains:
        """The domain of a cluster under every constraint."""
        return tuple(topology.domain_of[cluster] for topology in self.topologies)

    @cached_property
    def cells(self) -> dict[Domains, tuple[int, ...]]:
        """Clusters that Fleet may pick, by their domains: spread judges all in a cell alike."""
        found: dict[Domains, list[int]] = defaultdict(list)
        for cluster in self.candidates:
            if cluster not in self.current:
                found[self.domains(cluster)].append(cluster)
        return {domains: tuple(members) for domains, members in sorted(found.items())}

    def names(self, places: Iterable[int]) -> tuple[str, ...]:
        """The names of clusters, in the order given."""
        return tuple(self.clusters[place].name for place in places)

    def _places(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self.index_of[name] for name in names)

    def with_policy(self, **changes: object) -> Setting:
        """The same under a changed policy; Fleet then starts anew, unless only the number changed.

        All bindings become obsolete, so that their clusters are merely preferred among equals.
        """
        policy = self.policy.replace(**changes)
        spec = self.placement.spec.replace(policy=policy)
        anew = set(changes) != {"number_of_clusters"}
        bindings = self.bindings.under_another_policy() if anew else self.bindings
        return replace(self, placement=self.placement.replace(spec=spec), bindings=bindings)

    def with_clusters(self, clusters: Iterable[MemberCluster]) -> Setting:
        """The same over other clusters, none of which is missing that has a binding."""
        return replace(self, clusters=_by_name(clusters))


def make_setting(
    placement: Placement,
    clusters: Iterable[MemberCluster],
    bindings: Iterable[Binding] = (),
    snapshots: Iterable[PolicySnapshot] = (),
    now: int | None = None,
) -> Setting:
    """The setting of a placement; `now`, if absent, is when the newest heartbeat came.

    SourceError where Fleet can't tell which policy is in force.
    """
    ordered = _by_name(clusters)
    return Setting(
        placement=placement,
        clusters=ordered,
        bindings=classify(placement, bindings, snapshots, ordered),
        now=newest_heartbeat(ordered) if now is None else now,
    )


def _by_name(clusters: Iterable[MemberCluster]) -> tuple[MemberCluster, ...]:
    return tuple(sorted(clusters, key=lambda cluster: cluster.name))
