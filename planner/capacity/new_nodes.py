"""New nodes instead of moves: what it costs to have the same number of pods without moving any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.capacity.demand import with_more
from planner.capacity.find import Found
from planner.cluster import Cluster
from planner.pools import Found as FoundNodes
from planner.pools import Offer, ScaleUpOptions, scale_up
from planner.scheduler.profile import Profile


@dataclass(frozen=True, eq=False)
class NewNodes:
    """Nodes for so many more pods, or sets of a mix, which so many moves would make room for.

    Without a way to make room by moves these are 0.
    """

    count: int
    moves: int
    found: FoundNodes


def new_nodes(
    cluster: Cluster,
    found: Found,
    offers: Sequence[Offer],
    profile: Profile,
    options: ScaleUpOptions,
) -> NewNodes:
    """For the most pods whose moves are proven the fewest; else for one more than fit now."""
    proven = [point for point in found.curve if point.proven]
    point = max(proven or found.curve, key=lambda each: each.count, default=None)
    count = found.now.sets + 1 if point is None else point.count
    more = with_more(cluster, found.demands, count)
    nodes = scale_up(more.cluster, more.every, offers, profile, options)
    return NewNodes(count, 0 if point is None else point.moves, nodes)
