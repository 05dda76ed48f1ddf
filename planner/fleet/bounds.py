"""What one constraint alone allows, in closed form: bounds that the solver proves only slowly.

A constraint over domains with a_d clusters to pick and f clusters outside: with every count between
L and L + s, between sum(L) and sum(min(a_d, L + s)) + f clusters can be picked, if no a_d < L.
"""

from __future__ import annotations

from collections.abc import Collection

from planner.fleet.topology_spread import OUTSIDE, Topology


def room(topology: Topology, candidates: Collection[int]) -> tuple[list[int], int]:
    """Clusters to pick in each domain, and outside of all."""
    sizes = list(topology.counts(candidates))
    outside = sum(topology.domain_of[cluster] == OUTSIDE for cluster in candidates)
    return sizes, outside


def most_alone(topology: Topology, candidates: Collection[int]) -> int:
    """How many clusters a hard constraint lets in, if nothing else is asked."""
    sizes, outside = room(topology, candidates)
    if not topology.binds:
        return sum(sizes) + outside
    limit = min(sizes) + topology.constraint.max_skew
    return sum(min(size, limit) for size in sizes) + outside


def least_skew_alone(topology: Topology, candidates: Collection[int], number: int) -> int:
    """The smallest skew of so many clusters, if nothing else is asked."""
    sizes, outside = room(topology, candidates)
    if not topology.splits:
        return 0
    for skew in range(max(sizes) + 1):
        for low in range(min(sizes) + 1):
            highest = sum(min(size, low + skew) for size in sizes) + outside
            if low * len(sizes) <= number <= highest:
                return skew
    return max(sizes)
