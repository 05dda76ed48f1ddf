"""The same nodes, a few at a time: each is back before the next ones are emptied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.drain.find import Drain
from planner.drain.helps.carried_out import after, carried_out
from planner.words import count_of
from planner_models.diagnosis import Repair
from planner_models.node import ZONE

COST = 5
FEW = 8
"""Up to so many nodes every number at once is tried, beyond that only halves of halves."""


def propose(drain: Drain) -> Iterator[Repair]:
    """The most nodes at once with which all of them can be emptied, round after round."""
    nodes = _zone_by_zone(drain)
    if drain.leaving.kept or len(nodes) < 2:
        return
    for size in _sizes(len(nodes)):
        rounds = [nodes[begin : begin + size] for begin in range(0, len(nodes), size)]
        evictions = _evictions(drain, rounds)
        if evictions is not None:
            yield _repair(drain, size, len(rounds), evictions)
            return


def _zone_by_zone(drain: Drain) -> list[int]:
    """One node of each zone after the other, so that a round takes about as many of each."""
    zone_of = drain.start.topology(ZONE).domain_of
    seen: Counter[int] = Counter()
    ranks: dict[int, tuple[int, int]] = {}
    for node in drain.options.nodes:
        zone = int(zone_of[node])
        ranks[node] = (seen[zone], zone)
        seen[zone] += 1
    return sorted(ranks, key=ranks.__getitem__)


def _sizes(number: int) -> list[int]:
    if number <= FEW:
        return list(range(number - 1, 0, -1))
    return [number >> shift for shift in range(1, number.bit_length())]


def _evictions(drain: Drain, rounds: Sequence[Sequence[int]]) -> int | None:
    """What all rounds take together; None if one of them is not possible."""
    cluster, total = drain.given, 0
    for nodes in rounds:
        found = carried_out(drain, cluster, replace(drain.options, nodes=tuple(nodes)))
        if found is None:
            return None
        total += len(found.evicted) + len(found.leaving.lost)
        cluster = after(found)
    return total


def _repair(drain: Drain, size: int, rounds: int, evictions: int) -> Repair:
    names = tuple(drain.start.nodes[node].name for node in drain.options.nodes)
    return Repair(
        kind="fewerNodes",
        object=", ".join(names),
        cost=COST,
        text=f"{count_of(size, 'node')} at a time, each back before the next: --rolling",
        then=f"{rounds} rounds, {count_of(evictions, 'eviction')}",
        command=f"planner drain {' '.join(names)} --rolling --nodes-at-once {size}",
    )
