"""Orders a large plan in one sweep: move by move, lowest domain first.

A pod is evicted only when its replacement can land at once; a landing without room waits for the
departures that make it, and is tried again when one of them happens. Where nothing moves any more,
pods that are in somebody's way are evicted and wait. One sweep finds an order for nearly every plan
in which one constraint at a time decides; that it finds none proves nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.sequences.assignment import Act
from planner.sequences.cycles import way_out
from planner.sequences.ledger import Ledger, Place
from planner.solver.problem import Cell, Problem

CIRCLE = 200
"""Up to this many groups that are stuck, it is looked at who waits for whom."""


@dataclass(frozen=True)
class Task:
    """What a plan does with one group: nodes to leave and to land on, one entry per pod.

    `quota` is how many landings are of pods that waited from the start, `lost` how many pods leave
    for good: all that do, if nobody brings them back.
    """

    group: int
    departures: tuple[int, ...]
    arrivals: tuple[int, ...]
    returning: bool = True

    @property
    def quota(self) -> int:
        back = len(self.departures) if self.returning else 0
        return max(0, len(self.arrivals) - back)

    @property
    def lost(self) -> int:
        back = len(self.arrivals) if self.returning else 0
        return max(0, len(self.departures) - back)


def tasks(problem: Problem, counts: Mapping[Cell, int]) -> tuple[Task, ...]:
    """The difference between now and the counts, by group; important and waiting ones first."""
    leaving: dict[int, list[int]] = defaultdict(list)
    landing: dict[int, list[int]] = defaultdict(list)
    movable = problem.movable
    for cell, pods in movable.items():
        change = counts.get(cell, 0) - len(pods)
        if change:
            (landing if change > 0 else leaving)[cell[0]].extend([cell[1]] * abs(change))
    for cell, count in counts.items():
        if cell not in movable and count:
            landing[cell[0]].extend([cell[1]] * count)
    groups = problem.cluster.groups
    found = (
        Task(
            group,
            tuple(sorted(leaving[group])),
            tuple(sorted(landing[group])),
            returning=group not in problem.no_return,
        )
        for group in leaving.keys() | landing.keys()
    )
    return tuple(sorted(found, key=lambda t: (-groups[t.group].priority, not t.quota, t.group)))


def sweep(ledger: Ledger, todo: Sequence[Task], *, evict_first: bool = False) -> list[Act] | None:
    """All acts in an order that the ledger admits, or None if it got stuck."""
    found = _Sweep(ledger, todo)
    if evict_first:
        found.evict_all()
    return found.run()


class _Spots:
    """Nodes, one entry per pod, by the domains that the group's constraints see in them."""

    def __init__(self, ledger: Ledger, group: int, nodes: Sequence[int]) -> None:
        self._ledger = ledger
        self._group = group
        self._at: dict[Place, Counter[int]] = defaultdict(Counter)
        self._place_of = {node: ledger.place(group, node) for node in nodes}
        for node in nodes:
            self._at[self._place_of[node]][node] += 1

    def __bool__(self) -> bool:
        return bool(self._at)

    def remove(self, node: int) -> None:
        """One pod less to leave or to land there."""
        place = self._place_of[node]
        there = self._at[place]
        there[node] -= 1
        if not there[node]:
            del there[node]
        if not there:
            del self._at[place]

    def nodes(self) -> Iterator[int]:
        """The nodes, from the emptiest domains on."""
        for place in self._by_fullness():
            yield from self._at[place]

    def fullest(self) -> int:
        """A node in the fullest domains."""
        return next(iter(self._at[max(self._at, key=self._fullness)]))

    def _by_fullness(self) -> list[Place]:
        return sorted(self._at, key=self._fullness) if len(self._at) > 1 else list(self._at)

    def _fullness(self, place: Place) -> tuple[int, Place]:
        return self._ledger.fullness(self._group, place), place


class _Work:
    """What is left of a task; `debt` is how many evicted pods wait now."""

    def __init__(self, ledger: Ledger, task: Task) -> None:
        self.group = task.group
        self.departures = _Spots(ledger, task.group, task.departures)
        self.arrivals = _Spots(ledger, task.group, task.arrivals)
        self.quota = task.quota
        self.lost = task.lost
        self.debt = 0

    @property
    def done(self) -> bool:
        """Whether all pods are where they should be."""
        return not self.departures and not self.arrivals


class _Sweep:
    """Work that may go on now, and work that waits for a node or a constraint to change."""

    def __init__(self, ledger: Ledger, todo: Sequence[Task]) -> None:
        self._ledger = ledger
        self._work = [_Work(ledger, task) for task in todo]
        self._acts: list[Act] = []
        self._ready = deque(range(len(todo)))
        self._queued = set(self._ready)
        self._at_last_look = -1
        self._by_node: dict[int, dict[int, None]] = defaultdict(dict)
        self._by_counter: dict[int, list[int]] = defaultdict(list)
        self._counted: dict[int, tuple[int, ...]] = {}
        """By group, the work that its pods count for."""
        self._leaving: dict[int, Counter[int]] = defaultdict(Counter)
        for i, task in enumerate(todo):
            for counter in ledger.counters(task.group):
                self._by_counter[counter].append(i)
            for node in task.departures:
                self._leaving[node][i] += 1

    def run(self) -> list[Act] | None:
        """Go on until all is done, or nothing helps any more."""
        while True:
            while self._ready:
                index = self._ready.popleft()
                self._queued.discard(index)
                self._advance(index)
            if not self._look_again() and not self._make_way():
                return self._acts if all(work.done for work in self._work) else None

    def evict_all(self) -> None:
        """Everything that moves leaves first, then all land."""
        for index, work in enumerate(self._work):
            while work.departures:
                self._leave(index, work.departures.fullest())

    def _advance(self, index: int) -> None:
        """Land as many pods as possible, each right after its eviction."""
        work = self._work[index]
        while work.lost:
            self._leave(index, work.departures.fullest())
        while work.arrivals:
            landed = (work.debt or work.quota) and self._land(index)
            if not landed and not (work.departures and self._move(index)):
                break
        for node in work.arrivals.nodes():
            self._by_node[node][index] = None

    def _move(self, index: int) -> bool:
        """Evict from the fullest domain and land; if that can't be, nothing has happened."""
        ledger, work = self._ledger, self._work[index]
        source = work.departures.fullest()
        ledger.shift(work.group, source, -1)
        target = self._target(work)
        if target is None:
            ledger.shift(work.group, source, 1)
            return False
        self._left(index, source)
        self._arrive(index, target)
        return True

    def _land(self, index: int) -> bool:
        target = self._target(self._work[index])
        if target is not None:
            self._arrive(index, target)
        return target is not None

    def _target(self, work: _Work) -> int | None:
        """The node in the emptiest domain that takes the pod now."""
        admits, group = self._ledger.admits, work.group
        return next((node for node in work.arrivals.nodes() if admits(group, node)), None)

    def _leave(self, index: int, node: int) -> None:
        self._ledger.shift(self._work[index].group, node, -1)
        self._left(index, node)

    def _left(self, index: int, node: int) -> None:
        """A pod is gone, as the ledger knows already."""
        work = self._work[index]
        work.departures.remove(node)
        self._leaving[node][index] -= 1
        if work.lost:
            work.lost -= 1
        else:
            work.debt += 1
        self._acts.append(Act(True, work.group, node))
        self._wake(self._by_node.pop(node, {}))
        self._wake_counted(work.group)

    def _arrive(self, index: int, node: int) -> None:
        work = self._work[index]
        work.arrivals.remove(node)
        if work.debt:
            work.debt -= 1
        else:
            work.quota -= 1
        self._ledger.shift(work.group, node, 1)
        self._acts.append(Act(False, work.group, node))
        self._wake_counted(work.group)

    def _wake_counted(self, group: int) -> None:
        counted = self._counted.get(group)
        if counted is None:
            names = self._ledger.counted_by(group)
            found = dict.fromkeys(i for name in names for i in self._by_counter[name])
            counted = self._counted[group] = tuple(found)
        self._wake(counted)

    def _wake(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            if index not in self._queued and not self._work[index].done:
                self._queued.add(index)
                self._ready.append(index)

    def _look_again(self) -> bool:
        """Rules beyond sums don't say what they wait for: try them again after any change."""
        if self._at_last_look == len(self._acts):
            return False
        self._at_last_look = len(self._acts)
        entangled = self._ledger.entangled
        self._wake(i for i, work in enumerate(self._work) if work.group in entangled)
        return bool(self._ready)

    def _make_way(self) -> bool:
        """Evict a pod that has to go anyway: one in a circle, in the way, or of the same group."""
        stuck = {i: list(w.arrivals.nodes()) for i, w in enumerate(self._work) if w.arrivals}
        circle = way_out(stuck, self._leaving) if 0 < len(stuck) <= CIRCLE else None
        if circle is not None:
            index, node = circle
            self._leave(index, node)
            self._wake((index,))
            return True
        for index, work in enumerate(self._work):
            for node in work.arrivals.nodes():
                rivals = (i for i, count in self._leaving[node].items() if count)
                rival = next(rivals, None)
                if rival is not None:
                    self._leave(rival, node)
                    self._wake((rival,))
                    return True
            if work.departures:
                self._leave(index, work.departures.fullest())
                self._wake((index,))
                return True
        return False
