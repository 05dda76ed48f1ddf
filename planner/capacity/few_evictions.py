"""More pods where thousands find a node by themselves: few evictions for each that does not.

Those that kube-scheduler places stay where it puts them, and the others get room one after the
other, as an administrator would make it. So each number of moves is one that does; that fewer would
not do is proven by counting alone, which holds however pods are arranged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.capacity.count import Placed
from planner.capacity.demand import Demand, with_more
from planner.capacity.moves import FIRST_POINTS, Point, Within, slots_of, usable_nodes
from planner.cluster import PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.evictions.room_bound import evictions_by_room
from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.sequences.simple_plan import simple_plan
from planner.sequences.within_budgets import plan_within_budgets
from planner.solver.problem.options import SolveOptions

CHOSEN_FREELY = 1000
"""So many new pods are arranged anew, all at once, for each number of moves."""
MOST_MOVES = 100
"""Where as many moves are allowed as it takes; the answer says that it ends there."""

BY_ROOM = 10_000_000
"""New pods times nodes, up to which evictions are counted by the room of each node as well."""


def one_by_one(now: Placed, demands: Sequence[Demand]) -> bool:
    """Whether there are too many new pods to choose all their nodes anew; not for mixes."""
    one_kind = len(demands) == 1 and demands[0].ratio == 1
    return one_kind and not demands[0].has_own_claims and len(now.pods) > CHOSEN_FREELY


def by_few_evictions(
    cluster: Cluster, demand: Demand, profile: Profile, now: Placed, most: int, moves: int | None
) -> tuple[Within, tuple[Point, ...]]:
    """The most that were found with so many moves, and the numbers on the way there."""
    allowed = MOST_MOVES if moves is None else moves
    limits = _Limits.of(cluster, demand, allowed, most)
    if limits.most <= now.sets:
        return Within(now.sets, now.sets, allowed), ()
    more = with_more(cluster, [demand], limits.most)
    homes = now.cluster.node_of[list(now.pods)].tolist()
    placed = more.cluster.with_placement(dict(zip(more.every, homes, strict=False)))
    options = SolveOptions(rebalance=True, max_moves=allowed)
    found = plan_within_budgets(placed, options, profile, plan=simple_plan)
    points = [*_thinned(_better(placed, more.every, found.decision.steps, limits, now.sets))]
    count = points[-1].count if points else now.sets
    return Within(count, limits.most, allowed), tuple(points)


@dataclass(frozen=True, eq=False)
class _Limits:
    """What counting says: `slots[k]` pods at most with k moves, `evictions[n]` at least for n."""

    most: int
    slots: IntArray
    evictions: IntArray

    @classmethod
    def of(cls, cluster: Cluster, demand: Demand, moves: int, most: int) -> _Limits:
        one = with_more(cluster, [demand], 1)
        group = one.cluster.groups[int(one.cluster.group_of[one.every[0]])]
        usable, request = usable_nodes(one.cluster, group.spec), one.cluster.resources.requests
        slots = [slots_of(one, [demand], number) or 0 for number in range(moves + 1)]
        most = min(most, max(slots))
        evictions = np.zeros(most + 1, np.int64)
        if most * len(one.cluster.nodes) <= BY_ROOM:
            evictions = evictions_by_room(one.cluster, usable, request[group.index], most)
        held = int(np.flatnonzero(evictions <= moves).max())
        return cls(min(most, held), np.array(slots), evictions)

    def at_least(self, count: int) -> int:
        """Moves without which there are no nodes for so many."""
        by_slots = int(np.argmax(self.slots >= count))
        return max(by_slots, int(self.evictions[count]))


def _better(
    cluster: Cluster, new: Sequence[int], steps: Sequence[Step], limits: _Limits, most: int
) -> Iterator[Point]:
    """Whenever there are more than the `most` before, if nobody else is without a node."""
    node_of, mine = cluster.node_of.copy(), np.array(new)
    moves, down = 0, set[int]()
    for step in steps:
        moves += step.evicts
        node_of[step.pod] = step.node if step.lands else PENDING
        down = down - {step.pod} if step.lands else down | {step.pod}
        there = node_of[mine][node_of[mine] >= 0]
        if not down and len(there) > most:
            most = len(there)
            yield Point(most, moves, limits.at_least(most), tuple(there.tolist()))


def _thinned(points: Iterable[Point]) -> Iterator[Point]:
    """The most for each number of moves: the first few, then at distances that grow, the last."""
    most = list({point.moves: point for point in points}.values())
    step, due = 1, 0
    for i, point in enumerate(most):
        if i == due or i == len(most) - 1:
            yield point
        if i == due:
            step = step if i < FIRST_POINTS - 1 else 2 * step
            due += step
