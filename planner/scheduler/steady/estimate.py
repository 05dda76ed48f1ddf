"""The points of all places in all lanes, in numbers that are short and quick, and never too low.

A score is cut to whole points several times on its way. Before each cut a little more is added than
short floats may be off: so what comes out is the score, or more where it was about to reach the
next whole number. The best places are among those with the highest estimate, as long as one of
these really has that score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.node_table import FloatArray
from planner.scheduler.framework.plugin import MAX_NODE_SCORE

ShortInts = NDArray[np.int16]
CLOSED = -20_000
"""Added where no pod may land. Estimates of what is open are above half of that."""
MOST_TIMES = 50
"""A pod that asks for more than so many nodes would bring estimates near there."""
_OVER = 2.0
"""What is used beyond this part of a node makes no difference: it takes nobody."""
_OFF = 1e-4
"""Short floats of percentages are off by less than half of this, where a pod fits."""


class Highest(NamedTuple):
    """Places with the highest estimate of their lane, one lane's after the other's.

    `sure` are those of which the estimate is the score, and which have room for the pod.
    """

    at: IntArray
    tied: IntArray
    """How many each lane has."""
    points: ShortInts
    """The estimate, by lane."""
    sure: BoolArray


class Estimate:
    """What is left without a pod, in percent, and how evenly it is used; by lane and place."""

    def __init__(self, offered: FloatArray, lanes: int) -> None:
        self._weights = np.zeros((2, 2, offered.shape[1]), np.float32)
        self._weights[0, 0], self._weights[1, 1] = -MAX_NODE_SCORE / offered
        self._left = np.zeros((2, lanes, offered.shape[1]), np.float32)
        self._even = np.zeros((lanes, offered.shape[1]), np.int16)
        self._begin()

    def _begin(self) -> None:
        lanes, width = self._even.shape
        self._parts = np.empty((3, lanes, width), np.float32)
        """Before the cuts: both resources, and evenness."""
        self._points = np.empty((3, lanes, width), np.int16)
        self._ends = np.arange(1, lanes + 1) * width

    def keep(self, lanes: IntArray) -> None:
        """Only these lanes go on."""
        self._left, self._even = self._left[:, lanes].copy(), self._even[lanes]
        self._begin()

    def note(self, at: IntArray, parts: FloatArray, even: FloatArray, takes: BoolArray) -> None:
        """What is used of these places now; and if they take pods at all, as many as there are."""
        left = np.minimum(parts, _OVER)
        left[:, ~takes] = _OVER
        left *= -MAX_NODE_SCORE
        left += MAX_NODE_SCORE + _OFF
        for known, now in zip(self._left, left, strict=True):
            known.reshape(-1)[at] = now
        self._even.reshape(-1)[at] = even

    def highest(self, requests: FloatArray, close: Callable[[ShortInts], None]) -> Highest:
        """Places with the highest estimate of their lane, if any is open there.

        `requests` are the lanes' pods'; `close` adds `CLOSED` to where these may not land.
        """
        points = self._estimated(requests.T.astype(np.float32))
        close(points)
        most = points.max(axis=1)
        most[most < CLOSED // 2] = MAX_NODE_SCORE * MAX_NODE_SCORE  # which no place has
        (at,) = (points == most[:, None]).reshape(-1).nonzero()
        tied = at.searchsorted(self._ends)
        tied[1:] -= tied[:-1].copy()
        return Highest(at, tied, most, self._sure(at))

    def _sure(self, at: IntArray) -> BoolArray:
        """Where no cut was so near to a whole number that it may have been another one."""
        parts = self._parts.reshape(3, -1).take(at, axis=1)
        parts -= np.trunc(parts)
        least = np.minimum(parts[0], parts[1], out=parts[0])
        sure: BoolArray = np.minimum(least, parts[2], out=least) > 2 * _OFF
        return sure

    def _estimated(self, requests: NDArray[np.float32]) -> ShortInts:
        """LeastAllocated of both resources, and half of what evenness gains."""
        cpu, memory, gap = self._parts
        one, other, even = self._points
        for part, weights, left in zip((cpu, memory), self._weights, self._left, strict=True):
            np.matmul(requests, weights, out=part)
            np.add(part, left, out=part)
        np.subtract(cpu, memory, out=gap)
        np.abs(gap, out=gap)
        gap *= -0.5
        gap += MAX_NODE_SCORE + _OFF
        for floats, points in zip(self._parts, self._points, strict=True):
            np.copyto(points, floats, casting="unsafe")  # which cuts
        one += other
        one >>= 1
        even -= self._even
        even >>= 1
        one += even
        return one
