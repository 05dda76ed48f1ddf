"""Looks through every order of a plan's departures and landings, until one works or none is left.

How many pods of a group leave and land where is given, so a state is a table of counts between now
and the end. Two orders that lead to the same state are the same from there on. Not more pods land
than were evicted before, apart from those that the plan places: so every evicted pod comes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.sequences.arena import Arena
from planner.sequences.assignment import Act
from planner.sequences.move_by_move import Task


class OrderSearch:
    """A depth-first search; `exhausted` after a failure means that there is no order at all."""

    def __init__(self, arena: Arena, todo: Sequence[Task]) -> None:
        self._arena = arena
        self._size = arena.size
        column = {node: i for i, node in enumerate(arena.nodes)}
        by_group = {task.group: task for task in todo}
        self._tasks = [by_group[group] for group in arena.groups]
        self._leaving = [sorted({column[n] for n in task.departures}) for task in self._tasks]
        self._landing = [sorted({column[n] for n in task.arrivals}) for task in self._tasks]
        target = bytearray(arena.start)
        for i, task in enumerate(self._tasks):
            for node in task.departures:
                target[i * self._size + column[node]] -= 1
            for node in task.arrivals:
                target[i * self._size + column[node]] += 1
        self._target = bytes(target)
        self.exhausted = False

    def run(self, state_limit: int) -> list[Act] | None:
        """The acts of an order, or None."""
        start = self._arena.start
        came: dict[bytes, tuple[bytes, Act] | None] = {start: None}
        stack = [start]
        while stack:
            state = stack.pop()
            if state == self._target:
                return _way(came, state)
            if len(came) > state_limit:
                return None
            for after, act in self._next(state):
                if after not in came:
                    came[after] = (state, act)
                    stack.append(after)
        self.exhausted = True
        return None

    def _next(self, state: bytes) -> Iterator[tuple[bytes, Act]]:
        """Departures first: the search goes on with what comes last, the landings."""
        for i in range(len(self._tasks)):
            for column in self._leaving[i]:
                at = i * self._size + column
                if state[at] > self._target[at]:
                    yield self._act(state, i, column, -1)
        for i in range(len(self._tasks)):
            first = i * self._size
            missing = [c for c in self._landing[i] if state[first + c] < self._target[first + c]]
            if missing and self._afloat(state, i):
                opened = self._arena.open_nodes(i, state)
                for column in missing:
                    if opened >> column & 1:
                        yield self._act(state, i, column, 1)

    def _afloat(self, state: bytes, index: int) -> bool:
        """Whether a pod is there to land: an evicted one, or one that the plan places."""
        row = slice(index * self._size, (index + 1) * self._size)
        return sum(state[row]) < sum(self._arena.start[row]) + self._tasks[index].quota

    def _act(self, state: bytes, index: int, column: int, delta: int) -> tuple[bytes, Act]:
        after = bytearray(state)
        after[index * self._size + column] += delta
        return bytes(after), Act(delta < 0, self._arena.groups[index], self._arena.nodes[column])


def _way(came: dict[bytes, tuple[bytes, Act] | None], state: bytes) -> list[Act]:
    acts: list[Act] = []
    step = came[state]
    while step is not None:
        acts.append(step[1])
        step = came[step[0]]
    return acts[::-1]
