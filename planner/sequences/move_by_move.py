"""Orders a plan of any size move by move, landing in the emptiest domain first.

A pod is evicted only when its replacement can land at once; a landing without room waits for the
departures that make it, and is tried again when one of them happens. Where nothing moves any more,
pods that are in another's way are evicted and wait. That finds an order for nearly every plan in
which one constraint at a time decides; if it finds none, that proves nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from planner.sequences.group_moves import GroupMoves, GroupStep
from planner.sequences.room_and_skew import Domains, RoomAndSkew

CIRCLE_LIMIT = 200
"""Circles are looked for among up to this many groups that are stuck."""


def order_move_by_move(limits: RoomAndSkew, moves: Sequence[GroupMoves]) -> list[GroupStep] | None:
    """All steps in an order that the limits admit, or None if it got stuck."""
    return _MoveByMove(limits, moves).run()


class _Nodes:
    """Nodes, one entry per pod, by the domains that the group's constraints see in them."""

    def __init__(self, limits: RoomAndSkew, group: int, nodes: Sequence[int]) -> None:
        self._limits = limits
        self._group = group
        self._at: dict[Domains, Counter[int]] = defaultdict(Counter)
        self._domains_of = {node: limits.domains(group, node) for node in nodes}
        for node in nodes:
            self._at[self._domains_of[node]][node] += 1

    def __bool__(self) -> bool:
        return bool(self._at)

    def remove(self, node: int) -> None:
        """One pod less to leave or to land there."""
        domains = self._domains_of[node]
        there = self._at[domains]
        there[node] -= 1
        if not there[node]:
            del there[node]
        if not there:
            del self._at[domains]

    def nodes(self) -> Iterator[int]:
        """The nodes, from the emptiest domains on."""
        for domains in sorted(self._at, key=self._fullness) if len(self._at) > 1 else [*self._at]:
            yield from self._at[domains]

    def fullest(self) -> int:
        """A node in the fullest domains."""
        return next(iter(self._at[max(self._at, key=self._fullness)]))

    def _fullness(self, domains: Domains) -> tuple[int, Domains]:
        return self._limits.fullness(self._group, domains), domains


class _ToDo:
    """What remains to be done for a group; `evicted` pods wait now, `new` ones from the start."""

    def __init__(self, limits: RoomAndSkew, moves: GroupMoves) -> None:
        self.group = moves.group
        self.departures = _Nodes(limits, moves.group, moves.departures)
        self.arrivals = _Nodes(limits, moves.group, moves.arrivals)
        self.new = moves.newly_placed
        self.lost = moves.lost
        self.evicted = 0

    @property
    def done(self) -> bool:
        """Whether all pods are where they should be."""
        return not self.departures and not self.arrivals


class _MoveByMove:
    """Groups that may go on now, and groups that wait for a node or a constraint to change."""

    def __init__(self, limits: RoomAndSkew, moves: Sequence[GroupMoves]) -> None:
        self._limits = limits
        self._groups = [_ToDo(limits, each) for each in moves]
        self._steps: list[GroupStep] = []
        self._ready = deque(range(len(moves)))
        self._queued = set(self._ready)
        self._at_last_look = -1
        self._by_node: dict[int, dict[int, None]] = defaultdict(dict)
        self._by_counter: dict[int, list[int]] = defaultdict(list)
        self._counted: dict[int, tuple[int, ...]] = {}
        """By group, the places in `_groups` that its pods count for."""
        self._leaving: dict[int, Counter[int]] = defaultdict(Counter)
        for i, each in enumerate(moves):
            for counter in limits.counters(each.group):
                self._by_counter[counter].append(i)
            for node in each.departures:
                self._leaving[node][i] += 1

    def run(self) -> list[GroupStep] | None:
        """Go on until all is done, or nothing helps any more."""
        while True:
            while self._ready:
                index = self._ready.popleft()
                self._queued.discard(index)
                self._advance(index)
            if not self._look_again() and not self._make_way():
                return self._steps if all(todo.done for todo in self._groups) else None

    def _advance(self, index: int) -> None:
        """Land as many pods as possible, each right after its eviction."""
        todo = self._groups[index]
        while todo.lost:
            self._leave(index, todo.departures.fullest())
        while todo.arrivals:
            landed = (todo.evicted or todo.new) and self._land(index)
            if not landed and not (todo.departures and self._move(index)):
                break
        for node in todo.arrivals.nodes():
            self._by_node[node][index] = None

    def _move(self, index: int) -> bool:
        """Evict from the fullest domain and land; if that can't be, nothing has happened."""
        limits, todo = self._limits, self._groups[index]
        source = todo.departures.fullest()
        limits.shift(todo.group, source, -1)
        target = self._target(todo)
        if target is None:
            limits.shift(todo.group, source, 1)
            return False
        self._has_left(index, source)
        self._arrive(index, target)
        return True

    def _land(self, index: int) -> bool:
        target = self._target(self._groups[index])
        if target is not None:
            self._arrive(index, target)
        return target is not None

    def _target(self, todo: _ToDo) -> int | None:
        """The node in the emptiest domain that takes the pod now."""
        admits, group = self._limits.admits, todo.group
        return next((node for node in todo.arrivals.nodes() if admits(group, node)), None)

    def _leave(self, index: int, node: int) -> None:
        self._limits.shift(self._groups[index].group, node, -1)
        self._has_left(index, node)

    def _has_left(self, index: int, node: int) -> None:
        """A pod is gone; the limits know it already."""
        todo = self._groups[index]
        todo.departures.remove(node)
        self._leaving[node][index] -= 1
        if todo.lost:
            todo.lost -= 1
        else:
            todo.evicted += 1
        self._steps.append(GroupStep(True, todo.group, node))
        self._wake(self._by_node.pop(node, {}))
        self._wake_counted(todo.group)

    def _arrive(self, index: int, node: int) -> None:
        todo = self._groups[index]
        todo.arrivals.remove(node)
        if todo.evicted:
            todo.evicted -= 1
        else:
            todo.new -= 1
        self._limits.shift(todo.group, node, 1)
        self._steps.append(GroupStep(False, todo.group, node))
        self._wake_counted(todo.group)

    def _wake_counted(self, group: int) -> None:
        counted = self._counted.get(group)
        if counted is None:
            names = self._limits.counted_by(group)
            found = dict.fromkeys(i for name in names for i in self._by_counter[name])
            counted = self._counted[group] = tuple(found)
        self._wake(counted)

    def _wake(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            if index not in self._queued and not self._groups[index].done:
                self._queued.add(index)
                self._ready.append(index)

    def _look_again(self) -> bool:
        """The real filters don't say what they wait for: ask them again after any change."""
        if self._at_last_look == len(self._steps):
            return False
        self._at_last_look = len(self._steps)
        need_filters = self._limits.need_filters
        self._wake(i for i, todo in enumerate(self._groups) if todo.group in need_filters)
        return bool(self._ready)

    def _make_way(self) -> bool:
        """Evict a pod that has to go anyway."""
        found = self._in_the_way()
        if found is not None:
            self._leave(*found)
            self._wake(found[:1])
        return found is not None

    def _in_the_way(self) -> tuple[int, int] | None:
        """A pod in a circle, on a node that others want, or of the first group that is stuck."""
        stuck = {
            i: list(todo.arrivals.nodes()) for i, todo in enumerate(self._groups) if todo.arrivals
        }
        circle = way_out(stuck, self._leaving) if 0 < len(stuck) <= CIRCLE_LIMIT else None
        if circle is not None:
            return circle
        for index, todo in enumerate(self._groups):
            for node in todo.arrivals.nodes():
                for other, count in self._leaving[node].items():
                    if count:
                        return other, node
            if todo.departures:
                return index, todo.departures.fullest()
        return None


def way_out(
    wanted: Mapping[int, Iterable[int]], leaving: Mapping[int, Mapping[int, int]]
) -> tuple[int, int] | None:
    """Whose pod leaves which node first, as (group, node); None if nobody waits in a circle.

    Group i waits for group j if pods of i want to land on a node that a pod of j is to leave:
    `wanted[i]` are nodes to land on, `leaving[n][j]` pods of j that still have to leave node n.
    Where these waits form a circle (a strongly connected part of the graph), no move can be first:
    one pod is evicted and stays without a node until its own place is free. A good choice frees a
    node that many in the circle want, so that few pods wait; among equals the less important pod
    does. Groups stand in the order of their importance.
    """
    import networkx as nx

    edges = [
        (group, other, node)
        for group, nodes in wanted.items()
        for node in nodes
        for other, count in leaving.get(node, {}).items()
        if count
    ]
    waits: nx.DiGraph[int] = nx.DiGraph((group, other) for group, other, _ in edges)
    part_of = {
        group: number
        for number, part in enumerate(nx.strongly_connected_components(waits))
        for group in part
    }
    waiting = Counter(
        (other, node)
        for group, other, node in edges
        if group != other and part_of[group] == part_of[other]
    )
    return max(waiting, key=lambda key: (waiting[key], key[0], -key[1]), default=None)
