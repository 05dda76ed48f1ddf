"""Questions about a part of the pods say so below the answer."""

from __future__ import annotations

from collections.abc import Collection

from planner.cluster import Cluster
from planner.words import count_of
from planner_models.notice import Notice


def part_notice(cluster: Cluster, asked: Collection[int], *, preempt: bool = False) -> Notice:
    """How many pods were asked about, and that the others are left as they are."""
    unless = " unless they give way to a higher priority," if preempt else ""
    return Notice(
        code="partOfPods",
        text=f"asked about {len(asked)} of {count_of(len(cluster.pods), 'pod')}; the others stay "
        f"as they are{unless} and count all the same, and rules that they alone break are not told",
    )
