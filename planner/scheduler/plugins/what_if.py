"""What a node would say if some of its pods were not there: preemption asks for every one of them.

In general the state is changed for it and all filters follow. Where nothing but room depends on
other pods, that is a sum in plain numbers, and the state is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import (
    PASS,
    Change,
    Filter,
    StaticFilter,
    Status,
    first_refusal,
)
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import FitFilter


class WhatIf(Protocol):
    """One node at a time, from `begin` to `end`."""

    def begin(self, node: int) -> None:
        """All pods are there."""

    def shift(self, pods: list[int], delta: int) -> None:
        """Take pods of the node away (-1) or give them back (1)."""

    def refusal(self) -> Status | None:
        """The first refusal of the node as it would be."""

    def give_back(self, pods: Sequence[int]) -> list[int]:
        """One by one; those with which there is a refusal stay away, and are said."""

    def end(self, away: list[int]) -> None:
        """All pods are there again, also those that are still away."""


def what_if_of(
    state: SchedulingState, filters: Sequence[Filter], nominated: Mapping[int, Sequence[int]]
) -> WhatIf:
    """The quickest that says the same; `nominated` are, by node, pods that wait for it."""
    counting = [each for each in filters if not isinstance(each, StaticFilter)]
    if len(counting) == 1 and isinstance(counting[0], FitFilter) and not nominated:
        return RoomWhatIf(state, filters, counting[0])
    return StateWhatIf(state, filters, counting, nominated)


class StateWhatIf:
    """The state itself is changed, and has to be changed back."""

    def __init__(
        self,
        state: SchedulingState,
        filters: Sequence[Filter],
        counting: Sequence[Filter],
        nominated: Mapping[int, Sequence[int]],
    ) -> None:
        self._state = state
        self._filters = filters
        self._counting = counting
        self._nominated = nominated
        self._node = -1

    def begin(self, node: int) -> None:
        """The state says what is there."""
        self._node = node

    def shift(self, pods: list[int], delta: int) -> None:
        """Sums and filters follow."""
        for change in self._state.try_shift(pods, delta):
            _count(self._counting, change)

    def refusal(self) -> Status | None:
        """The pod has to pass with and without the pods that are nominated for the node."""
        nominated = self._nominated.get(self._node, ())
        found = None
        if nominated:
            found = refusal_beside(self._state, self._filters, nominated, self._node)
        return found or first_refusal(self._filters, self._node)

    def give_back(self, pods: Sequence[int]) -> list[int]:
        """All filters are asked after each of them."""
        away: list[int] = []
        for pod in pods:
            self.shift([pod], 1)
            if self.refusal() is not None:
                self.shift([pod], -1)
                away.append(pod)
        return away

    def end(self, away: list[int]) -> None:
        """The state is as it was."""
        self.shift(away, 1)


class RoomWhatIf:
    """What is used of the node, in plain numbers; all other filters say the same throughout."""

    def __init__(self, state: SchedulingState, filters: Sequence[Filter], room: FitFilter) -> None:
        self._state = state
        self._room = room
        at = filters.index(room)
        self._before, self._after = filters[:at], filters[at + 1 :]
        self._node = -1
        self._used: list[int] = []
        self._first: Status | None = None
        self._last: Status | None = None

    def begin(self, node: int) -> None:
        """The other filters are asked once."""
        self._node, self._used = node, self._state.used[node].tolist()
        self._first = first_refusal(self._before, node)
        self._last = first_refusal(self._after, node)

    def shift(self, pods: list[int], delta: int) -> None:
        """Their requests are subtracted or added."""
        amounts = self._requests(pods).sum(axis=0).tolist()
        self._used = _plus(self._used, [delta * amount for amount in amounts])

    def _requests(self, pods: Sequence[int]) -> IntArray:
        return self._state.requests[self._state.cluster.group_of[pods]]

    def refusal(self) -> Status | None:
        """In the order of the filters."""
        if self._first is not None:
            return self._first
        verdict = self._room.verdict_if(self._node, self._used)
        return self._room.status(verdict) if verdict != PASS else self._last

    def give_back(self, pods: Sequence[int]) -> list[int]:
        """By the verdict alone: with no pod there nobody refused."""
        away: list[int] = []
        for pod, request in zip(pods, self._requests(pods).tolist(), strict=True):
            used = _plus(self._used, request)
            if self._room.verdict_if(self._node, used) == PASS:
                self._used = used
            else:
                away.append(pod)
        return away

    def end(self, away: list[int]) -> None:
        """Nothing was changed."""


def _plus(some: Sequence[int], more: Sequence[int]) -> list[int]:
    return [one + other for one, other in zip(some, more, strict=True)]


def refusal_beside(
    state: SchedulingState, filters: Sequence[Filter], nominated: Sequence[int], node: int
) -> Status | None:
    """The first refusal of the node if the pods that are nominated for it ran there already."""
    for pod in nominated:
        _count(filters, state.try_on(pod, node, 1))
    refusal = first_refusal(filters, node)
    for pod in nominated:
        _count(filters, state.try_on(pod, node, -1))
    return refusal


def _count(filters: Iterable[Filter], change: Change) -> None:
    for each in filters:
        each.dry_run(change)
