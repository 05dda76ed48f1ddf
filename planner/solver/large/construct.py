"""Complete placements from the targets: several ways, the best one counts.

The plain way lets everything leave and land, big pods first. The careful way never has more in hand
than finds room, so it ends with a valid state whatever happens. The third way is the plain one and
evicts a few small pods for what is left in hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.large.greedy import Fill, active, depart, land_all, order_of, realise
from planner.solver.large.make_room import Table, place_one
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.state import State

FILLS: tuple[Fill, ...] = ("spread", "pack")


@dataclass(frozen=True)
class Score:
    """What a state amounts to, smaller is better: stranded pods first, then the levels."""

    stranded: int
    unplaced: tuple[int, ...]
    excess: int
    moves: int

    @property
    def open(self) -> bool:
        """Whether something is missing that every bound on moves takes for granted."""
        return bool(self.stranded or any(self.unplaced) or self.excess)

    @property
    def key(self) -> tuple[int, tuple[int, ...], int, int]:
        """For comparison."""
        return self.stranded, self.unplaced, self.excess, self.moves


def score(state: State) -> Score:
    """Unplaced pods by priority from the top, excess, moves; `stranded` makes a state invalid."""
    priorities = sorted({t.priority for t in state.tasks.values() if t.waiting}, reverse=True)
    missing = dict.fromkeys(priorities, 0)
    stranded = excess = moves = 0
    for task in state.tasks.values():
        if not (task.bound or task.waiting or task.group in state.touched):
            continue
        waiting = min(task.hand, task.waiting)
        stranded += task.hand - waiting + _refused(task)
        if waiting:
            missing[task.priority] += waiting
        excess += excess_of(task)
        moves += task.moved
    return Score(stranded, tuple(missing.values()), excess, moves)


def _refused(task: PlainGroup) -> int:
    """Nodes with landings in a domain that ends too high: later evictions can lower a minimum."""
    landed = [n for n, count in task.now.items() if count > task.start.get(n, 0)]
    if not landed:
        return 0
    return sum(
        int((counts[rule.domain_of[landed]] > counts.min() + rule.skew).sum())
        for rule, counts in zip(task.rules, task.counts, strict=True)
    )


def excess_of(task: PlainGroup) -> int:
    """What is left above the smallest count plus maxSkew, and pods that break a static rule."""
    spread = sum(
        int((counts - counts.min() - rule.skew).clip(0).sum())
        for rule, counts in zip(task.rules, task.counts, strict=True)
    )
    return spread + sum(
        task.broken[n] * min(pods, task.now.get(n, 0)) for n, pods in task.forced.items()
    )


def settle(state: State) -> list[PlainGroup]:
    """Lands what is in hand, biggest first; what finds no room may evict smaller pods.

    Returns what found no room at first.
    """
    table = Table.of(state)
    at_first: list[PlainGroup] | None = None
    for _ in range(8):
        for task in in_hand(state):
            land_all(state, task, "pack")
        stuck = in_hand(state)
        at_first = stuck if at_first is None else at_first
        if not stuck:
            break
        before = sum(t.hand for t in stuck)
        for task in stuck:
            while task.hand and place_one(state, table, task):
                pass
        if sum(t.hand for t in in_hand(state)) >= before and not any(
            t.hand for t in state.tasks.values() if t.group not in {s.group for s in stuck}
        ):
            break
    return at_first or []


def in_hand(state: State) -> list[PlainGroup]:
    """Who has pods to land, big ones first."""
    found = [task for task in state.tasks.values() if task.hand]
    return sorted(found, key=lambda task: order_of(state, task))


def construct(fresh: State, *, patient: bool = True) -> State:
    """The plain way, emptiest nodes first, then fullest; the careful one where both get stuck.

    Who is not patient does without evictions of smaller pods, which take their time.
    """
    found: list[tuple[Score, State]] = []
    for fill in FILLS:
        state = fresh.copy()
        realise(state, fill)
        found.append((score(state), state))
        if not found[-1][0].open:
            return state
    others = [careful(fresh)]
    if patient:
        others.append(found[-1][1].copy())
        settle(others[-1])
    found = [(score(state), state) for state in others] + found
    return min(found, key=lambda each: each[0].key)[1]


def careful(fresh: State) -> State:
    """Pending pods where they fit, then group by group what may move without getting stuck."""
    state = fresh.copy()
    for task in active(state):
        task.hand += task.waiting
        land_all(state, task, "pack")
        level_out(state, task)
    return state


def level_out(state: State, task: PlainGroup) -> None:
    """Let leave what has to, if that ends with less excess and everybody on a node again."""
    waiting, task.hand = task.hand, 0
    before, excess = dict(task.now), excess_of(task)
    depart(state, task)
    land_all(state, task, "pack")
    if task.hand or _refused(task) or excess_of(task) > excess:
        state.put(task, before)
    task.hand = waiting
