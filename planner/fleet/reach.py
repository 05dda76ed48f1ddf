"""Whether Fleet's rule, taken in another order, would have come further.

Fleet picks by score and never looks back. Here every order of picks that its filter allows is
tried, as far as the effort goes: a dead-lock that is left then is the rule's, not the order's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Counts, one_more_in

EFFORT = 1_000_000
"""States times kinds of clusters that are looked at."""


class Reach(NamedTuple):
    """The picks of the best order found, and whether every order has been tried."""

    order: tuple[int, ...]
    complete: bool


class _State(NamedTuple):
    taken: tuple[int, ...]
    counts: tuple[Counts, ...]
    order: tuple[int, ...]


def best_order(setting: Setting, effort: int = EFFORT) -> Reach:
    """The longest sequence of picks that the filter allows, up to the wanted number."""
    start = tuple(topology.counts(setting.current) for topology in setting.topologies)
    root = _State((0,) * len(setting.cells), start, ())
    limit = effort // max(1, len(setting.cells))
    missing = setting.wanted - len(setting.current)
    best: tuple[int, ...] = ()
    seen = {root.taken}
    stack = [_next(setting, root)]
    while stack and len(best) < missing:
        state = next(stack[-1], None)
        if state is None:
            stack.pop()
        elif state.taken not in seen:
            if len(seen) >= limit:
                return Reach(best, complete=False)
            seen.add(state.taken)
            best = max(best, state.order, key=len)
            stack.append(_next(setting, state))
    return Reach(best, complete=True)


def _next(setting: Setting, state: _State) -> Iterator[_State]:
    """The states that one more pick leads to; of equal clusters the last by name is picked."""
    refused = _refused(setting, state.counts)
    for place, (cell, members) in enumerate(setting.cells.items()):
        taken = state.taken[place]
        if taken < len(members) and refused.isdisjoint(enumerate(cell)):
            numbers = (*state.taken[:place], taken + 1, *state.taken[place + 1 :])
            order = (*state.order, members[-1 - taken])
            counts = tuple(map(one_more_in, state.counts, cell))
            yield _State(numbers, counts, order)


def _refused(setting: Setting, counts: tuple[Counts, ...]) -> set[tuple[int, int]]:
    """Constraint and domain, wherever one more would violate a hard constraint."""
    return {
        (place, domain)
        for place, (topology, count) in enumerate(zip(setting.topologies, counts, strict=True))
        if topology.constraint.hard
        for domain, step in enumerate(topology.steps(count))
        if step.violates
    }
