"""How many pods of a priority can be placed at the most, by sums over all nodes.

For any weights of the resources, the weighted requests of what is placed are at most the weighted
room of all nodes. So, with the lightest pods first, no more fit than these sums allow; the least
over several weights holds. Sizes are rounded down and room is rounded up where numbers are scaled.
Nor do more pods of a group fit than whole ones on each node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, zip_longest

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.question import Stock, pool_of
from planner.solver.problem.problem import Problem

_SCALE = 2**40


def ceilings(problem: Problem) -> dict[int, int]:
    """By priority, how many pods can be placed by room alone, given as many as can be above it.

    With --preempt running pods count, too. Rules only ever allow less. Nothing is said where nodes
    hold more than they offer, for what runs may stay.
    """
    pool = pool_of(problem)
    if pool is None:
        return {}
    most = list(sum_ceilings(pool))
    if sum(most) > int(pool.least.sum()):
        # MathOpt takes half a second to import: it is asked only where there is hope.
        from planner.solver.packing.room_prices import priced

        most = list(priced(pool).most)
    running = 0 if problem.options.preempt else 1
    now = pool.placed(pool.now)
    pairs = zip(pool.priorities, most, now, strict=True)
    return {priority: bound - running * base for priority, bound, base in pairs}


def ceilings_beside(problem: Problem, placed: Mapping[int, int]) -> dict[int, int]:
    """By priority, how many pods states can place that place at least so many above it.

    As `ceilings` otherwise. So this is what is left to find on a priority by whoever gives up
    nothing that is reached above, whether more would be possible there or not.
    """
    pool = pool_of(problem)
    if pool is None:
        return {}
    from planner.solver.packing.room_prices import priced

    running = (0,) * len(pool.priorities) if problem.options.preempt else pool.placed(pool.now)
    rows = zip(pool.priorities, running, strict=True)
    most = priced(pool, [base + placed.get(priority, 0) for priority, base in rows]).most
    rows = zip(most, running, strict=True)
    return {
        priority: bound - base
        for priority, (bound, base) in zip(pool.priorities, rows, strict=True)
    }


def sum_ceilings(stock: Stock) -> tuple[int, ...]:
    """By rank, what sums over all nodes allow at the most, given as many as can be above it."""
    most: tuple[int, ...] = ()
    for rank in range(len(stock.priorities)):
        most += (ceiling(stock, most, rank),)
    return most


def capped(problem: Problem, bounds: Mapping[str, int]) -> dict[str, int]:
    """Bounds of the levels `placed PRIORITY`, from the top, with what room in total says.

    That takes the priorities above for placed as far as room allows. Where less of one can be, more
    may remain for those below, and their bounds stay as they were.
    """
    most, found, met = ceilings(problem), dict(bounds), True
    for name, bound in bounds.items():
        room = most.get(int(name.removeprefix("placed ")), bound)
        found[name] = min(bound, room) if met else bound
        met = met and found[name] == room
    return found


def ceiling(stock: Stock, placed: tuple[int, ...], rank: int) -> int:
    """An upper bound for one priority, given how many pods of those above it are placed."""
    mine = np.flatnonzero(stock.rank == rank)
    best = int(np.minimum(stock.total, stock.alone)[mine].sum())
    size, room = _scaled(stock, rank)
    for weights in mixtures(size.shape[1]):
        weighed, left = size @ weights, int(room @ weights)
        for above in range(rank):
            left -= _lightest(stock, weighed, above, placed[above])
        below = np.flatnonzero(stock.rank > rank)
        left -= int((weighed[below] * stock.least[below]).sum())
        best = min(best, _most(stock, weighed, mine, left))
    return best


def room_to_waste(stock: Stock, goals: tuple[int, ...]) -> IntArray:
    """What all nodes together leave at the most, by resource, with so many pods of some ranks."""
    kept = stock.placed(stock.least[:, None])
    pods = [max(pair) for pair in zip_longest(goals, kept, fillvalue=0)]
    asked = [
        sum(_lightest(stock, sizes, rank, count) for rank, count in enumerate(pods))
        for sizes in stock.size.T
    ]
    together: IntArray = stock.room.sum(axis=0)
    return together - np.array(asked, np.int64)


def _scaled(stock: Stock, rank: int) -> tuple[IntArray, IntArray]:
    """Sizes and the room of all nodes together, each resource in shares of what there is.

    Resources of which there is enough for everybody down to this rank say nothing.
    """
    together = stock.room.sum(axis=0)
    pods = np.where(stock.rank <= rank, stock.total, stock.least)
    short = np.flatnonzero(stock.size.T @ pods > together)
    size, room = stock.size[:, short], together[short]
    for r, offered in enumerate(room.tolist()):
        unit = max(1, offered)
        size[:, r] = [min(s * _SCALE // unit, _SCALE) for s in size[:, r].tolist()]
        room[r] = -(-offered * _SCALE // unit)
    return size, room


def mixtures(resources: int) -> list[IntArray]:
    """Each resource alone, and mixtures of two."""
    found = list(np.eye(resources, dtype=np.int64))
    for one, other in combinations(range(resources), 2):
        for step in range(1, tuning.WEIGHT_STEPS):
            mixed = np.zeros(resources, np.int64)
            mixed[[one, other]] = step, tuning.WEIGHT_STEPS - step
            found.append(mixed)
    return found


def _spread_out(stock: Stock, weighed: IntArray, groups: IntArray) -> tuple[IntArray, int, int]:
    """What the pods that may be left out weigh, lightest first; how many must be in, and theirs."""
    free = np.repeat(weighed[groups], (stock.total - stock.least)[groups])
    forced = stock.least[groups]
    return np.sort(free), int(forced.sum()), int((weighed[groups] * forced).sum())


def _lightest(stock: Stock, weighed: IntArray, rank: int, placed: int) -> int:
    """The least that so many pods of a priority weigh."""
    free, count, weight = _spread_out(stock, weighed, np.flatnonzero(stock.rank == rank))
    return weight + int(free[: placed - count].sum())


def _most(stock: Stock, weighed: IntArray, groups: IntArray, left: int) -> int:
    free, count, weight = _spread_out(stock, weighed, groups)
    return count + int(np.searchsorted(np.cumsum(free), left - weight, side="right"))


@dataclass(frozen=True, eq=False)
class Packed:
    """A packing, the pods placed by rank, and what bounds each, given those before it."""

    counts: IntArray
    placed: tuple[int, ...]
    bounds: tuple[int, ...]
    spent: float = 0.0
    interrupted: bool = False

    @property
    def proven(self) -> bool:
        """Whether nothing better can be placed."""
        return self.placed == self.bounds

    @property
    def open_rank(self) -> int:
        """The first rank of which more might be placed."""
        return next(i for i, bound in enumerate(self.bounds) if self.placed[i] < bound)

    @property
    def unsettled(self) -> bool:
        """Whether there is more to look for, and time to do so."""
        return not self.proven and not self.interrupted


def bounded(stock: Stock, counts: IntArray, known: Mapping[int, int] | None = None) -> Packed:
    """A packing with the bounds that sums give; after one that is not met, all pods there are.

    `known` are bounds of ranks for which more is known.
    """
    placed = stock.placed(counts)
    bounds = list(stock.placed(stock.total[:, None]))
    for rank in range(len(placed)):
        bounds[rank] = ceiling(stock, placed, rank)
        bounds[rank] = min(bounds[rank], (known or {}).get(rank, bounds[rank]))
        if bounds[rank] > placed[rank]:
            break
    return Packed(counts, placed, tuple(bounds))


def still_known(packed: Packed, placed: tuple[int, ...]) -> dict[int, int]:
    """The bounds of a packing that hold for another one, with so many pods placed."""
    bounds = enumerate(packed.bounds)
    return {rank: bound for rank, bound in bounds if packed.placed[:rank] == placed[:rank]}
