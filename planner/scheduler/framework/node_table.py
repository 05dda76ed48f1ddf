"""What some nodes have and how much of it is used, side by side, to ask about all of them at once.

All groups that the same nodes are open to share a table: it follows what was placed and removed
node by node, whoever's pod that was, where scores that are kept for each group have to be judged
again on every node that changed since the group's last pod.

Amounts are floats, which are divided several times as fast as integers, and nothing is lost by
that. Up to `EXACT`, a part of what a node has is above 1 exactly if the amount is too large; and a
hundred times a part is rounded by less than 4e-14, while it is at least 1 / EXACT away from a whole
percent that it doesn't reach. `WHOLE` is between the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.cluster.resources import STANDARD
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import LocalScore
from planner.scheduler.framework.state import SchedulingState
from planner_models.resources import PODS

FloatArray: TypeAlias = NDArray[np.float64]
EXACT = 2**42
"""4 TiB. 1 / EXACT is 2.2e-13."""
WHOLE = 1.2e-13
"""Added to a percentage before it is cut to a whole number."""
_ROWS = slice(0, 2)
"""Cpu and memory come first."""
_PODS = STANDARD.index(PODS)


class NodeTable:
    """A column for each of `nodes`; cpu and memory are the rows."""

    def __init__(self, state: SchedulingState, nodes: IntArray) -> None:
        self.nodes = nodes
        self._state = state
        self._seen = len(state.log)
        offered = state.cluster.resources.by_resource[:, nodes]
        self._pods: IntArray = offered[_PODS]
        self._offered = offered[_ROWS].astype(np.float64)
        self.exact = bool(((self._offered > 0) & (self._offered <= EXACT)).all())
        """Whether all nodes have some of both, and parts of it can be told apart."""
        self._used = np.empty_like(self._offered)
        self._defaulted = np.empty_like(self._offered)
        self.takes_more = np.empty(len(nodes), np.bool_)
        """Whether a node may have one more pod."""
        self._spoken = True
        """Whether no container of any of their pods was ever silent about cpu or memory."""
        self._places = np.full(len(state.cluster.nodes), -1)
        self._places[nodes] = np.arange(len(nodes))
        self._columns: dict[LocalScore, FloatArray] = {}
        self._read(nodes, self._places[nodes])
        self._parts: tuple[tuple[int, int], FloatArray] | None = None

    def catch_up(self) -> None:
        """Follow what happened to these nodes."""
        log = self._state.log
        if self._seen == len(log):
            return
        self._parts = None
        changes = log.since(self._seen)
        self._seen = len(log)
        if changes.few is None:
            places = self._places[changes.touched]
            here = places >= 0
            self._read(changes.touched[here], places[here])
            return
        for change in changes.few:
            place = int(self._places[change.node])
            if place >= 0:
                self._read_one(change.node, place)

    def _read(self, nodes: IntArray, places: IntArray) -> None:
        """What the state says of these nodes now."""
        used, defaulted = self._state.used[nodes].T, self._state.non_zero_used[nodes].T
        self._used[:, places], self._defaulted[:, places] = used[_ROWS], defaulted
        self._spoken = self._spoken and bool((used[_ROWS] == defaulted).all())
        self.takes_more[places] = used[_PODS] < self._pods[places]
        for score, column in self._columns.items():
            score.catch_up()
            column[places] = score.scores(nodes)

    def _read_one(self, node: int, place: int) -> None:
        """The same in plain numbers."""
        used: list[int] = self._state.used[node].tolist()
        defaulted: list[int] = self._state.non_zero_used[node].tolist()
        self._used[0, place], self._used[1, place] = used[_ROWS]
        self._defaulted[0, place], self._defaulted[1, place] = defaulted
        self._spoken = self._spoken and used[_ROWS] == defaulted
        self.takes_more[place] = used[_PODS] < self._pods[place]
        for score, column in self._columns.items():
            score.catch_up()
            column[place] = score.score_at(node)

    def column(self, score: LocalScore) -> FloatArray:
        """What a score that is about nodes alone says of these; not to be changed."""
        found = self._columns.get(score)
        if found is None:
            score.catch_up()
            found = self._columns[score] = score.scores(self.nodes).astype(np.float64)
        return found

    def has(self, node: int) -> bool:
        """Whether the node is one of these."""
        return bool(self._places[node] >= 0)

    def places_of(self, nodes: Iterable[int]) -> list[int]:
        """The columns of those of these nodes that are here."""
        found: list[int] = self._places[list(nodes)].tolist()
        return [place for place in found if place >= 0]

    def parts(self, cpu: int, memory: int) -> FloatArray:
        """How much of what a node has is used with a pod that asks for so much.

        Filters and scores ask for the same, one after the other; it is not to be changed.
        """
        if self._parts is None or self._parts[0] != (cpu, memory):
            self._parts = (cpu, memory), self._with(self._used, cpu, memory)
        return self._parts[1]

    def defaulted_parts(self, cpu: int, memory: int) -> FloatArray:
        """The same if silent containers count with their defaults."""
        if self._spoken:
            return self.parts(cpu, memory)
        return self._with(self._defaulted, cpu, memory)

    def _with(self, used: FloatArray, cpu: int, memory: int) -> FloatArray:
        parts = np.empty_like(used)
        np.add(used[0], cpu, out=parts[0])
        np.add(used[1], memory, out=parts[1])
        parts /= self._offered
        return parts
