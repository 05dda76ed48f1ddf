"""The places where groups may land, and how long a rule over hosts lets them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.steady.estimate import CLOSED, ShortInts
from planner.scheduler.steady.groups import SteadyGroup


class OpenPlaces:
    """Of all lanes; in each it is counted who has landed, where that matters."""

    def __init__(
        self, groups: Collection[SteadyGroup], nodes: IntArray, numbers: int, lanes: int
    ) -> None:
        """`nodes` are those of the places, `numbers` is how many groups there are at all."""
        kinds: dict[bytes, int] = {bytes(len(nodes)): 0}
        rows = [np.zeros(len(nodes), np.bool_)]
        self._kind = np.zeros(numbers, np.int64)
        self._limited = np.zeros(numbers, np.bool_)
        self._most: dict[int, list[int]] = {}
        for each in groups:
            row = ~each.open[nodes]
            self._kind[each.group] = kinds.setdefault(row.tobytes(), len(rows))
            if len(kinds) > len(rows):
                rows.append(row)
            if each.most is not None:
                self._limited[each.group] = True
                self._most[each.group] = each.most[nodes].tolist()
        self._closed: BoolArray = np.array(rows)
        self._less = np.where(self._closed, CLOSED, 0).astype(np.int16)
        self._landed = [defaultdict[tuple[int, int], int](int) for _ in range(lanes)]
        self._full = [defaultdict[int, list[int]](list) for _ in range(lanes)]

    def keep(self, lanes: Sequence[int]) -> None:
        """Only these lanes go on."""
        self._landed = [self._landed[lane] for lane in lanes]
        self._full = [self._full[lane] for lane in lanes]

    def close(self, points: ShortInts, groups: IntArray) -> None:
        """No points are enough where the lane's group may not land."""
        kinds = self._kind[groups]
        if kinds.any():
            points += self._less.take(kinds, axis=0)
        (limited,) = self._limited[groups].nonzero()
        for lane in limited.tolist():
            points[lane, self._full[lane][int(groups[lane])]] = CLOSED

    def open_to(self, lane: int, group: int) -> IntArray:
        """The places where a pod of the group may land."""
        closed = self._closed[self._kind[group]].copy()
        closed[self._full[lane][group]] = True
        return np.flatnonzero(~closed)

    def count(self, lanes: IntArray, places: IntArray, groups: IntArray) -> None:
        """Pods have landed."""
        (limited,) = self._limited[groups].nonzero()
        for i in limited.tolist():
            lane, place, group = int(lanes[i]), int(places[i]), int(groups[i])
            self._landed[lane][group, place] += 1
            if self._landed[lane][group, place] == self._most[group][place]:
                self._full[lane][group].append(place)
