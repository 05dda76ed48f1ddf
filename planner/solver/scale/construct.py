"""Complete placements from the targets: several ways, the best one counts.

The plain way lets everything leave and land, big pods first. The careful way never has more in hand
than finds room, so it ends with a valid state whatever happens. The third way opens holes for big
pods before anything else lands.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.scale.holes import Table, place_one
from planner.solver.scale.landing import Fill, land_all, order_of
from planner.solver.scale.realise import active, depart, realise
from planner.solver.scale.relief import relieve
from planner.solver.scale.task import Task
from planner.solver.scale.work import Work

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


def score(work: Work) -> Score:
    """Unplaced pods by priority from the top, excess, moves; `stranded` makes a state invalid."""
    priorities = sorted({t.priority for t in work.tasks.values() if t.waiting}, reverse=True)
    missing = dict.fromkeys(priorities, 0)
    stranded = excess = moves = 0
    for task in work.tasks.values():
        if not (task.bound or task.waiting or task.group in work.touched):
            continue
        waiting = min(task.hand, task.waiting)
        stranded += task.hand - waiting + _refused(task)
        if waiting:
            missing[task.priority] += waiting
        excess += excess_of(task)
        moves += task.moved
    return Score(stranded, tuple(missing.values()), excess, moves)


def _refused(task: Task) -> int:
    """Nodes with landings in a domain that ends too high: later evictions can lower a minimum."""
    landed = [n for n, count in task.now.items() if count > task.start.get(n, 0)]
    if not landed:
        return 0
    return sum(
        int((counts[rule.domain_of[landed]] > counts.min() + rule.skew).sum())
        for rule, counts in zip(task.rules, task.counts, strict=True)
    )


def excess_of(task: Task) -> int:
    """What is left above the smallest count plus maxSkew, and pods that break a static rule."""
    spread = sum(
        int((counts - counts.min() - rule.skew).clip(0).sum())
        for rule, counts in zip(task.rules, task.counts, strict=True)
    )
    return spread + sum(min(pods, task.now.get(n, 0)) for n, pods in task.forced.items())


def with_holes(fresh: Work, failed: set[int], threshold: float, fill: Fill) -> Work:
    """Holes for the failed groups and everything as big, then the rest; what is evicted follows."""
    work = fresh.copy()
    table = Table.of(work)
    tasks = active(work)
    top = max((t.priority for t in tasks), default=0)
    first = [t for t in tasks if t.group in failed or t.size >= threshold]
    for task in sorted(first, key=lambda t: (-(t.priority == top), -t.size, t.group)):
        depart(work, task)
        task.hand += task.waiting
        while task.hand and place_one(work, table, task):
            pass
    begun = {t.group for t in first}
    for task in tasks:
        if task.group not in begun:
            depart(work, task)
            task.hand += task.waiting
    settle(work, table, fill)
    return work


def settle(work: Work, table: Table, fill: Fill) -> list[Task]:
    """Lands what is in hand, biggest first; what finds no room may evict smaller pods.

    Returns what found no room at first.
    """
    at_first: list[Task] | None = None
    for _ in range(8):
        for task in _in_hand(work):
            land_all(work, task, fill)
        stuck = _in_hand(work)
        at_first = stuck if at_first is None else at_first
        if not stuck:
            break
        before = sum(t.hand for t in stuck)
        for task in stuck:
            relieve(work, task)
            while task.hand and place_one(work, table, task, most=3):
                pass
        if sum(t.hand for t in _in_hand(work)) >= before and not any(
            t.hand for t in work.tasks.values() if t.group not in {s.group for s in stuck}
        ):
            break
    return at_first or []


def _in_hand(work: Work) -> list[Task]:
    found = [task for task in work.tasks.values() if task.hand]
    return sorted(found, key=lambda task: order_of(work, task))


def construct(fresh: Work) -> Work:
    """The plain way, emptiest nodes first, then fullest; the careful one where both get stuck."""
    found: list[tuple[Score, Work]] = []
    for fill in FILLS:
        work = fresh.copy()
        realise(work, fill)
        found.append((score(work), work))
        if not found[-1][0].open:
            return work
    settled = found[-1][1].copy()
    settle(settled, Table.of(settled), "pack")
    found = [(score(work), work) for work in (careful(fresh), settled)] + found
    return min(found, key=lambda each: each[0].key)[1]


def opened(fresh: Work) -> Work:
    """Holes for what finds no room, from the biggest."""
    trial = fresh.copy()
    realise(trial, "pack")
    failed = {task.group for task in trial.tasks.values() if task.hand}
    smallest = min((trial.tasks[g].size for g in failed), default=0.0)
    return with_holes(fresh, failed, smallest, "pack")


def careful(fresh: Work) -> Work:
    """Pending pods where they fit, then group by group what may move without getting stuck."""
    work = fresh.copy()
    for task in active(work):
        task.hand += task.waiting
        land_all(work, task, "pack")
        level_out(work, task)
    return work


def level_out(work: Work, task: Task) -> None:
    """Let leave what has to, if that ends with less excess and everybody on a node again."""
    waiting, task.hand = task.hand, 0
    before, excess = _Memory.of(task), excess_of(task)
    depart(work, task)
    land_all(work, task, "pack")
    if task.hand or _refused(task) or excess_of(task) > excess:
        before.restore(work, task)
    task.hand = waiting


@dataclass(frozen=True)
class _Memory:
    """Where the pods of a group were, to go back there."""

    now: dict[int, int]

    @classmethod
    def of(cls, task: Task) -> _Memory:
        return cls(dict(task.now))

    def restore(self, work: Work, task: Task) -> None:
        for node, count in list(task.now.items()):
            more = count - self.now.get(node, 0)
            if more > 0:
                work.unland(task, node, more)
        for node, count in self.now.items():
            back = count - task.now.get(node, 0)
            if back > 0:
                work.put_back(task, node, back)
