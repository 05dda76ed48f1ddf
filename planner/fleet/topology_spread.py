"""TopologySpreadConstraints: how even the picked clusters are spread, and what one more would do.

A constraint groups all member clusters by a label, eligible or not; clusters without the label take
no part. The skew is the largest count of picked clusters in a group minus the smallest. One more in
a group changes it by

    +1  if all groups are equal, or the group is one of the largest
    -1  if the group is the only smallest one
     0  otherwise

A cluster is refused if the resulting skew is above maxSkew (DoNotSchedule) or scores -1000
(ScheduleAnyway); otherwise it scores minus the change. This judges the whole spread, whereas
kube-scheduler judges the domain that receives the pod: count + 1 - smallest <= maxSkew.

A single group has no skew. Fleet still counts one more there as +1 (score -1), which no maxSkew
refuses, because it has to be at least 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner_models.fleet import ClusterSpreadConstraint
from planner_models.member_cluster import MemberCluster

NAME = "TopologySpreadConstraints"
VIOLATED = 'violated doNotSchedule topology spread constraint "{key}" (max skew {skew})'

VIOLATION_PENALTY = 1000
OUTSIDE = -1
"""The domain of a cluster that lacks the label."""

Counts = tuple[int, ...]


class Step(NamedTuple):
    """What one more cluster in a domain does to a constraint."""

    before: int
    after: int
    violates: bool

    @property
    def change(self) -> int:
        """How much the skew grows."""
        return self.after - self.before


@dataclass(frozen=True)
class Topology:
    """One constraint over a fleet: its domains, and the domain of every cluster."""

    index: int
    constraint: ClusterSpreadConstraint
    domains: tuple[str, ...]
    domain_of: tuple[int, ...]

    @property
    def field(self) -> str:
        """Where the constraint stands."""
        return f"spec.policy.topologySpreadConstraints[{self.index}]"

    @property
    def key(self) -> str:
        """The label by which clusters are grouped."""
        return self.constraint.topology_key

    @property
    def violation(self) -> str:
        """Why a cluster is refused, in Fleet's own words."""
        return VIOLATED.format(key=self.key, skew=self.constraint.max_skew)

    @property
    def splits(self) -> bool:
        """Whether there are groups to be uneven; with fewer than two nothing is."""
        return len(self.domains) > 1

    @property
    def binds(self) -> bool:
        """Whether the constraint can refuse anything."""
        return self.splits and self.constraint.hard

    def counts(self, picked: Iterable[int]) -> Counts:
        """How many of the clusters are in each domain."""
        counts = [0] * len(self.domains)
        for cluster in picked:
            if self.domain_of[cluster] != OUTSIDE:
                counts[self.domain_of[cluster]] += 1
        return tuple(counts)

    def excess(self, picked: Iterable[int]) -> int:
        """How far the skew is above maxSkew."""
        return max(0, skew(self.counts(picked)) - self.constraint.max_skew)

    def steps(self, counts: Counts) -> tuple[Step, ...]:
        """What one more cluster does, for each domain."""
        return tuple(
            one_more(counts, domain, self.constraint.max_skew) for domain in range(len(counts))
        )


def topologies(
    clusters: Sequence[MemberCluster], constraints: Iterable[ClusterSpreadConstraint]
) -> tuple[Topology, ...]:
    """The constraints over the clusters, in the order of the policy; domains by name."""
    found = []
    for index, constraint in enumerate(constraints):
        values = [cluster.labels.get(constraint.topology_key) for cluster in clusters]
        domains = tuple(sorted({value for value in values if value is not None}))
        position = {value: place for place, value in enumerate(domains)}
        domain_of = tuple(OUTSIDE if value is None else position[value] for value in values)
        found.append(Topology(index, constraint, domains, domain_of))
    return tuple(found)


def skew(counts: Counts) -> int:
    """The largest count minus the smallest; 0 without domains."""
    return max(counts) - min(counts) if counts else 0


def one_more_in(counts: Counts, domain: int) -> Counts:
    """The counts after one more pick in the domain, or outside of all."""
    if domain == OUTSIDE:
        return counts
    return (*counts[:domain], counts[domain] + 1, *counts[domain + 1 :])


def one_more(counts: Counts, domain: int, max_skew: int) -> Step:
    """What one more cluster in the domain does, by Fleet's rule."""
    smallest, largest, count = min(counts), max(counts), counts[domain]
    before = largest - smallest
    if smallest == largest:
        change = 1
    elif count == smallest and counts.count(smallest) == 1:
        change = -1
    elif count == largest:
        change = 1
    else:
        change = 0
    after = before + change
    return Step(before, after, after > max_skew)


def spread_score(
    topologies: Sequence[Topology], steps: Sequence[Step | None]
) -> tuple[int, Topology | None]:
    """The scores of all constraints added up, and the first hard one that is violated, if any.

    `steps` has None where the cluster takes no part. Hard constraints are asked first.
    """
    pairs = list(zip(topologies, steps, strict=True))
    for topology, step in pairs:
        if step is not None and step.violates and topology.constraint.hard:
            return 0, topology
    total = 0
    for _, step in pairs:
        if step is not None:
            total -= VIOLATION_PENALTY if step.violates else step.change
    return total, None


def kube_scheduler_accepts(counts: Counts, domain: int, max_skew: int) -> bool:
    """Whether kube-scheduler's rule would let a matching pod into the domain."""
    return counts[domain] + 1 - min(counts) <= max_skew


def room(topology: Topology, candidates: Collection[int]) -> tuple[list[int], int]:
    """Clusters to pick in each domain, and outside of all."""
    sizes = list(topology.counts(candidates))
    outside = sum(topology.domain_of[cluster] == OUTSIDE for cluster in candidates)
    return sizes, outside


def most_alone(topology: Topology, candidates: Collection[int]) -> int:
    """How many clusters a hard constraint lets in, if nothing else is asked.

    With every count between L and L + maxSkew, and no domain smaller than L, these are
    sum(min(size, L + maxSkew)) and the clusters outside: most for the largest L there is.
    """
    sizes, outside = room(topology, candidates)
    if not topology.binds:
        return sum(sizes) + outside
    limit = min(sizes) + topology.constraint.max_skew
    return sum(min(size, limit) for size in sizes) + outside


def least_skew_alone(topology: Topology, candidates: Collection[int], number: int) -> int:
    """The smallest skew of so many clusters, if nothing else is asked: all counts in a window."""
    sizes, outside = room(topology, candidates)
    if not topology.splits:
        return 0
    for skew in range(max(sizes) + 1):
        for low in range(min(sizes) + 1):
            highest = sum(min(size, low + skew) for size in sizes) + outside
            if low * len(sizes) <= number <= highest:
                return skew
    return max(sizes)
