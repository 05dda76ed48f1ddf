"""Nodes with moves, or a remark about them: which question is asked, and how long."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from planner.cluster import Cluster
from planner.pools.find import Found, ScaleUpOptions, scale_up
from planner.pools.moves.answer import WithMoves
from planner.pools.moves.room import could_run
from planner.pools.moves.search import Limits, MovesSearch
from planner.pools.moves.waves import movable_pods
from planner.pools.pool import Offer
from planner.scheduler.profile import Profile

ALONE = 0.6
"""Of the time: for the answer by nodes alone."""
REMARKED = 10
"""Moves that are looked for without being asked for."""
FEW = Limits(cells=4_000, tried=4)
FEW_SECONDS = 2.0
"""What may be spent on that."""


def scale_up_with_moves(
    cluster: Cluster,
    chosen: Collection[int],
    offers: Sequence[Offer],
    profile: Profile,
    options: ScaleUpOptions,
    most: int,
) -> WithMoves:
    """The cheapest nodes for the chosen pods that wait, with at most so many evictions.

    Pods that no new node takes may run, too, where others leave a node that is there: if that is
    possible for all of them it comes before any cost.
    """
    limit = options.time_limit
    alone = replace(options, time_limit=ALONE * limit)
    without = replace(scale_up(cluster, chosen, offers, profile, alone), options=options)
    movable = movable_pods(without.start)
    left = (1 - ALONE) * limit
    helped = could_run(without, movable, profile) if most else frozenset()
    if helped:
        left /= 2
        wider = MovesSearch(_of_more(without, helped), profile, movable, most, left).run()
        if wider.rearranged is not None:
            return replace(wider, without=without)
    return MovesSearch(without, profile, movable, most, left).run()


def instead(found: Found, profile: Profile) -> WithMoves | None:
    """Few evictions that would save something, if some are found with little work."""
    if found.best is None or not found.accepted or not any(found.best.added.counts):
        return None
    movable = movable_pods(found.start)
    seconds = min(FEW_SECONDS, found.options.time_limit)
    search = MovesSearch(found, profile, movable, REMARKED, seconds, FEW)
    better = None if search.model is None else search.run()
    return None if better is None or better.rearranged is None else better


def _of_more(found: Found, helped: frozenset[int]) -> Found:
    """The question about pods, too, that only moves could make room for; nothing is known of it."""
    return replace(
        found,
        goal=tuple(sorted({*found.goal, *helped})),
        never=tuple(each for each in found.never if each.pod not in helped),
        best=None,
        accepted=False,
        bound=0,
        proven=False,
        alternatives=(),
    )
