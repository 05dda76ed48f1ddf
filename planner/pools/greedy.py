"""Some answer soon, and then cheaper ones nearby: what remains where a proof takes too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

from planner.pools.fill import Counts, Fill
from planner.pools.search import Search
from planner.pools.shortfall import Shortfall


def grow(search: Search, until: float) -> Fill:
    """Add nodes that let most pods run for their cost, until all run or no node helps.

    More pods of a higher priority count before any of a lower one. Then nodes are taken away or
    replaced by cheaper ones; the search keeps the cheapest answer. What is returned is the first
    set that runs everybody, or the one that runs most.
    """
    least = tuple(offer.pool.least for offer in search.filling.offers)
    best = search.worst(search.with_opened(least))
    while best.waiting and search.spent < until:
        better = _best_step(search, best, until) or _first_pair(search, best, until)
        if better is None:
            break
        best = better
    if search.try_set(best.added.counts):
        improve(search, until)
    return best


def _best_step(search: Search, best: Fill, until: float) -> Fill | None:
    """The best single node, and as many more of its kind as gain no less than others would."""
    steps: list[tuple[tuple[float, ...], int, Fill]] = []
    for i in range(len(search.filling.offers)):
        grown = _changed(search, best.added.counts, i, 1)
        if grown is not None and search.spent < until:
            fill = search.worst(grown)
            steps.append((_gain(search, best, fill), -i, fill))
    steps.sort(key=lambda each: each[:2], reverse=True)
    if not steps or steps[0][0] == ():
        return None
    _, index, fill = steps[0]
    second = steps[1][0] if len(steps) > 1 else ()
    while fill.waiting and search.spent < until:
        grown = _changed(search, fill.added.counts, -index, 1)
        more = None if grown is None else search.worst(grown)
        if more is None or _gain(search, fill, more) <= second:
            break
        fill = more
    return fill


def _first_pair(search: Search, best: Fill, until: float) -> Fill | None:
    """Two nodes where no single one helps: zone spread may ask for one in each of two zones."""
    every = range(len(search.filling.offers))
    pairs = sorted(
        combinations_with_replacement(every, 2),
        key=lambda pair: sum(search.filling.offers[i].cost for i in pair),
    )
    for i, j in pairs:
        first = _changed(search, best.added.counts, i, 1)
        both = None if first is None else _changed(search, first, j, 1)
        if search.spent > until:
            return None
        if both is not None and _gain(search, best, fill := search.worst(both)) > ():
            return fill
    return None


def _gain(search: Search, before: Fill, after: Fill) -> tuple[float, ...]:
    """More running pods for the cost, by priority; empty if it is no gain.

    Of two sets that leave as many waiting, the one is better that fails under a later seed.
    """
    then = *search.filling.by_priority(before), before.settled.seed
    now = *search.filling.by_priority(after), after.settled.seed
    if now <= then and after.waiting:
        return ()
    cost = search.least.cost(after.added.counts) - search.least.cost(before.added.counts)
    return tuple((b - a) / cost for a, b in zip(then, now, strict=True))


def improve(search: Search, until: float) -> None:
    """Cheaper answers that differ in few nodes, over and over until there is none."""
    shortfall = Shortfall(search)
    better = search.found is not None
    while better and search.found is not None and search.open:
        near = sorted(set(_cheaper(search, search.found.added.counts)), key=search.value)
        chosen = [each for each in near if search.least.has_room(each)]
        better = any(search.try_set(each) for each in _filled(search, shortfall, chosen, until))


def _filled(
    search: Search, shortfall: Shortfall, sets: Sequence[Counts], until: float
) -> Iterator[Counts]:
    """Those in which nobody waits."""
    for first in range(0, len(sets), search.lanes):
        if search.spent > until:
            return
        chosen = sets[first : first + search.lanes]
        missing = shortfall.missing_of(chosen, [float(search.least.cost(each)) for each in chosen])
        yield from (each for each, more in zip(chosen, missing, strict=True) if not more.cost)


def _cheaper(search: Search, counts: Counts) -> Iterator[Counts]:
    """One node less, or a cheaper one in its place."""
    offers = search.filling.offers
    for i, offer in enumerate(offers):
        fewer = _changed(search, counts, i, -1)
        if fewer is None:
            continue
        yield fewer
        for j, other in enumerate(offers):
            replaced = _changed(search, fewer, j, 1) if other.cost < offer.cost else None
            if replaced is not None:
                yield replaced


def _changed(search: Search, counts: Counts, i: int, by: int) -> Counts | None:
    """So many nodes more of one offer; None beyond its limits."""
    changed = (*counts[:i], counts[i] + by, *counts[i + 1 :])
    least = search.filling.offers[i].pool.least
    return changed if changed[i] >= least and search.filling.allowed(changed) else None
