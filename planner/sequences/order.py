"""An order of steps that leads to a wanted final state, or the proof that there is none.

First the moves are ordered one by one, which handles plans of any size. Where that gets stuck, all
orders of the groups in question are searched: that decides up to about 20 moves that depend on each
other, and more where few of them can be exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.sequences.filter_cache import HIGHEST_COUNT, FilterCache
from planner.sequences.group_dependencies import (
    GroupDependencies,
    independent_parts,
    pods_to_decide,
)
from planner.sequences.group_moves import GroupMoves, GroupStep, group_moves, pod_steps
from planner.sequences.move_by_move import order_move_by_move
from planner.sequences.room_and_skew import RoomAndSkew
from planner.solver.problem.problem import Cell, Problem

MOVE_LIMIT = 200
"""Departures and landings of one part, above which not all orders are searched."""
STATE_LIMIT = 50_000
"""So many states are visited before the search for an order gives up."""


@dataclass(frozen=True)
class Order:
    """Steps of which each passes every filter at its moment."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class NoOrder:
    """It is proven that the state can't be reached by evicting each leaving pod once."""


@dataclass(frozen=True)
class Undecided:
    """No order was found, and too many are possible to try them all."""


def find_order(
    problem: Problem,
    counts: Mapping[Cell, int],
    profile: Profile,
    *,
    state_limit: int = STATE_LIMIT,
) -> Order | NoOrder | Undecided:
    """Steps from now to the counts: `counts[g, n]` non-fixed pods of each group on each node.

    No pod is evicted but those that the counts move away from their node.
    """
    moves = group_moves(problem, counts)
    if not all(problem.allowed(each.group)[list(each.arrivals)].all() for each in moves):
        return NoOrder()
    ordering = _Ordering(problem, profile, GroupDependencies(problem.cluster, profile), state_limit)
    steps = ordering.move_by_move(moves)
    return ordering.part_by_part(moves) if steps is None else Order(pod_steps(problem, steps))


@dataclass(frozen=True)
class _Ordering:
    """The ways to look for an order of some groups' moves."""

    problem: Problem
    profile: Profile
    dependencies: GroupDependencies
    state_limit: int

    def move_by_move(self, moves: Sequence[GroupMoves]) -> list[GroupStep] | None:
        """With as few pods down as possible."""
        groups = [each.group for each in moves]
        limits = RoomAndSkew(self.problem, self.profile, self.dependencies, groups)
        return order_move_by_move(limits, moves)

    def part_by_part(self, moves: Sequence[GroupMoves]) -> Order | NoOrder | Undecided:
        """Groups that do not depend on each other are ordered one after the other."""
        undecided = False
        found: list[GroupStep] = []
        for part in independent_parts(self.problem, self.dependencies):
            steps, exhausted = self._one_part([each for each in moves if each.group in part])
            if steps is not None:
                found += steps
            elif exhausted:
                return NoOrder()
            else:
                undecided = True
        return Undecided() if undecided else Order(pod_steps(self.problem, found))

    def _one_part(self, moves: Sequence[GroupMoves]) -> tuple[list[GroupStep] | None, bool]:
        """An order, if one was found, and whether all were tried."""
        steps = self.move_by_move(moves)
        number = sum(len(each.departures) + len(each.arrivals) for each in moves)
        groups = sorted(each.group for each in moves)
        if steps is not None or number > MOVE_LIMIT or not self._countable(groups):
            return steps, False
        nodes = sorted({node for each in moves for node in (*each.departures, *each.arrivals)})
        filters = FilterCache(self.problem, self.profile, self.dependencies, groups, nodes)
        search = _AllOrders(filters, moves)
        return search.run(self.state_limit), search.exhausted

    def _countable(self, groups: Sequence[int]) -> bool:
        return max(pods_to_decide(self.problem, group) for group in groups) <= HIGHEST_COUNT


class _AllOrders:
    """A depth-first search; `exhausted` after a failure means that there is no order at all.

    It is given how many pods of a group leave and land where, so a state is a table of counts
    between now and the end, and two orders that lead to the same state are the same from there on.
    No more pods land than were evicted before, apart from those that the plan newly places: so
    every evicted pod comes back.
    """

    def __init__(self, filters: FilterCache, moves: Sequence[GroupMoves]) -> None:
        self._filters = filters
        self._size = filters.size
        column = {node: i for i, node in enumerate(filters.nodes)}
        by_group = {each.group: each for each in moves}
        self._moves = [by_group[group] for group in filters.groups]
        self._leaving = [sorted({column[n] for n in each.departures}) for each in self._moves]
        self._landing = [sorted({column[n] for n in each.arrivals}) for each in self._moves]
        target = bytearray(filters.start)
        for i, each in enumerate(self._moves):
            for node in each.departures:
                target[i * self._size + column[node]] -= 1
            for node in each.arrivals:
                target[i * self._size + column[node]] += 1
        self._target = bytes(target)
        self.exhausted = False

    def run(self, state_limit: int) -> list[GroupStep] | None:
        """The steps of an order, or None."""
        start = self._filters.start
        came_from: dict[bytes, tuple[bytes, GroupStep] | None] = {start: None}
        stack = [start]
        while stack:
            state = stack.pop()
            if state == self._target:
                return _steps_to(state, came_from)
            if len(came_from) > state_limit:
                return None
            for after, step in self._next(state):
                if after not in came_from:
                    came_from[after] = (state, step)
                    stack.append(after)
        self.exhausted = True
        return None

    def _next(self, state: bytes) -> Iterator[tuple[bytes, GroupStep]]:
        """Departures come first, so that the search goes on with a landing."""
        for i, columns in enumerate(self._leaving):
            for column in columns:
                at = i * self._size + column
                if state[at] > self._target[at]:
                    yield self._after(state, i, column, -1)
        for i, columns in enumerate(self._landing):
            first = i * self._size
            missing = [c for c in columns if state[first + c] < self._target[first + c]]
            if missing and self._has_pod_to_land(state, i):
                opened = self._filters.open_nodes(i, state)
                for column in missing:
                    if opened >> column & 1:
                        yield self._after(state, i, column, 1)

    def _has_pod_to_land(self, state: bytes, index: int) -> bool:
        """An evicted one, or one that the plan newly places."""
        row = slice(index * self._size, (index + 1) * self._size)
        return sum(state[row]) < sum(self._filters.start[row]) + self._moves[index].newly_placed

    def _after(self, state: bytes, index: int, column: int, delta: int) -> tuple[bytes, GroupStep]:
        after = bytearray(state)
        after[index * self._size + column] += delta
        step = GroupStep(delta < 0, self._filters.groups[index], self._filters.nodes[column])
        return bytes(after), step


def _steps_to(
    state: bytes, came_from: Mapping[bytes, tuple[bytes, GroupStep] | None]
) -> list[GroupStep]:
    steps: list[GroupStep] = []
    last = came_from[state]
    while last is not None:
        steps.append(last[1])
        last = came_from[last[0]]
    return steps[::-1]
