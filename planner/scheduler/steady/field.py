"""The nodes that pods of steady groups may land on, in many lanes at once.

Each lane is a copy of the same nodes on which other pods have landed, by other draws of ties. In
every step one pod comes to each lane, whatever its group. Which places have to be judged is found
for all lanes together (`estimate`); these are judged in the same floats as for one pod alone
(`NodeTable`), so that the same nodes are tied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import STANDARD
from planner.cluster.topology import IntArray
from planner.scheduler.framework.node_table import EXACT, WHOLE, FloatArray
from planner.scheduler.framework.plugin import MAX_NODE_SCORE
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.steady.estimate import MOST_TIMES, Estimate
from planner.scheduler.steady.groups import SteadyGroup
from planner.scheduler.steady.open_places import OpenPlaces
from planner_models.resources import PODS

NOWHERE = -1
_HALF = MAX_NODE_SCORE // 2
_PODS = STANDARD.index(PODS)
_BOTH = slice(0, 2)


class Landed(NamedTuple):
    """The place of each lane's pod, if it found one; and all that were tied for the best.

    The latter are one lane's after the other's, `tied` says how many each has.
    """

    places: IntArray
    best: IntArray
    tied: IntArray


class Field:
    """What is used of each node in each lane; arrays are by lane and place, one after the other."""

    def __init__(
        self, state: SchedulingState, groups: Mapping[int, SteadyGroup], lanes: int
    ) -> None:
        open_: BoolArray = np.logical_or.reduce([each.open for each in groups.values()])
        self.nodes: IntArray = np.flatnonzero(open_)
        self.place_of: IntArray = np.full(len(open_), NOWHERE)
        self._width = len(self.nodes)
        self.place_of[self.nodes] = np.arange(self._width)
        offered = state.cluster.resources.by_resource[:, self.nodes]
        used = state.used[self.nodes].T
        self._offered: FloatArray = offered[_BOTH].astype(np.float64)
        self._used: FloatArray = np.tile(used[_BOTH].astype(np.float64), lanes)
        self._free: IntArray = np.tile(offered[_PODS] - used[_PODS], lanes)
        """How many more pods a node may have."""
        self._requests = np.zeros((2, len(state.cluster.groups)))
        for group, each in groups.items():
            self._requests[:, group] = each.cpu, each.memory
        self.exact = bool(
            ((self._offered > 0) & (self._offered <= EXACT)).all()
            and (self._requests.max(axis=1) <= MOST_TIMES * self._offered.min(axis=1)).all()
            and (used[_BOTH] == state.non_zero_used[self.nodes].T).all()
        )
        """Whether floats say what kube-scheduler's numbers do, and no pod was silent there."""
        self._even: FloatArray = np.zeros(lanes * self._width)
        self._estimate = Estimate(self._offered, lanes)
        self._open = OpenPlaces(groups.values(), self.nodes, len(state.cluster.groups), lanes)
        if self.exact:
            everywhere = np.arange(lanes * self._width)
            self._look_again(everywhere, everywhere % self._width)

    def keep(self, lanes: IntArray) -> None:
        """Only these lanes go on."""
        kept = (lanes[:, None] * self._width + np.arange(self._width)).reshape(-1)
        self._used, self._free, self._even = self._used[:, kept], self._free[kept], self._even[kept]
        self._estimate.keep(lanes)
        self._open.keep(lanes.tolist())

    def leave(self, lanes: IntArray, places: IntArray, groups: IntArray) -> None:
        """Pods of these groups leave these places, each in its lane."""
        at = lanes * self._width + places
        for used, request in zip(self._used, self._requests, strict=True):
            np.subtract.at(used, at, request[groups])
        np.add.at(self._free, at, 1)
        self._look_again(at, places)

    def land(self, groups: IntArray, randoms: Sequence[Random | None]) -> Landed:
        """A pod comes to each lane and lands on one of its best places, the first or drawn."""
        best, tied = self._best(groups)
        chosen = np.cumsum(tied) - tied
        chosen += drawn(randoms, tied.tolist())
        (found,) = tied.nonzero()
        at, takers = best[chosen[found]], groups[found]
        places = at - found * self._width
        landed = np.full(len(groups), NOWHERE)
        landed[found] = places
        for used, request in zip(self._used, self._requests, strict=True):
            used[at] += request[takers]
        self._free[at] -= 1
        self._look_again(at, places)
        self._open.count(found, places, takers)
        return Landed(landed, best, tied)

    def _best(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Places with the most points of their lane, in order, and how many each lane has.

        They are among those with the highest estimate, if some of these have that score and all
        that have it have room. Lanes in which that is not so are judged place by place. A lane in
        which no place takes the pod has none.
        """
        requests = self._requests.take(groups, axis=1)
        at, tied, highest, right = self._estimate.highest(
            requests, lambda points: self._open.close(points, groups)
        )
        (doubtful,) = (~right).nonzero()
        judged = at[doubtful]
        lanes = judged // self._width
        points, fits = self._judged(judged, lanes, requests)
        right[doubtful] = points == highest[lanes]
        if (right[doubtful] & fits).all():
            return at, tied
        lanes_of = np.repeat(np.arange(len(groups)), tied)
        unsure = tied > 0
        unsure[lanes_of[right]] = False
        unsure[lanes[right[doubtful] & ~fits]] = True
        found = [self._best_in(lane, groups) for lane in np.flatnonzero(unsure).tolist()]
        best = np.sort(np.concatenate((at[right & ~unsure[lanes_of]], *found)))
        return best, np.bincount(best // self._width, minlength=len(groups))

    def _best_in(self, lane: int, groups: IntArray) -> IntArray:
        """The same of one lane, by a look at all places that are open there."""
        at = lane * self._width + self._open.open_to(lane, int(groups[lane]))
        lanes = np.full(len(at), lane)
        points, fits = self._judged(at, lanes, self._requests.take(groups, axis=1))
        best: IntArray = at[fits & (points == points[fits].max(initial=-np.inf))]
        return best

    def _judged(
        self, at: IntArray, lanes: IntArray, requests: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """With the lane's pod there: fit and evenness, but for 50 points; and if there is room."""
        parts = self._used.take(at, axis=1)
        parts += requests.take(lanes, axis=1)
        parts /= self._offered.take(at - lanes * self._width, axis=1)
        fits: BoolArray = np.maximum(parts[0], parts[1]) <= 1
        fits &= self._free[at] > 0
        even = _evenness(parts)
        even -= self._even[at]
        even *= 0.5
        np.floor(even, out=even)
        np.subtract(1, parts, out=parts)
        parts *= MAX_NODE_SCORE
        parts += WHOLE
        np.floor(parts, out=parts)
        mean = np.add(parts[0], parts[1], out=parts[0])
        mean *= 0.5
        np.floor(mean, out=mean)
        mean += even
        return mean, fits

    def _look_again(self, at: IntArray, places: IntArray) -> None:
        """How evenly places are used without the pod; less half of the most, which scores add."""
        parts = self._used.take(at, axis=1)
        parts /= self._offered.take(places, axis=1)
        even = _evenness(np.minimum(parts, 1))
        even -= _HALF
        self._even[at] = even
        self._estimate.note(at, parts, even, self._free[at] > 0)


def drawn(randoms: Sequence[Random | None], among: Sequence[int]) -> list[int]:
    """One of so many for each, the first without a Random: `randrange`, without its checks."""
    found: list[int] = []
    for random, number in zip(randoms, among, strict=True):
        draw = 0
        if random is not None and number:
            bits = number.bit_length()
            draw = random.getrandbits(bits)
            while draw >= number:
                draw = random.getrandbits(bits)
        found.append(draw)
    return found


def _evenness(parts: FloatArray) -> FloatArray:
    """int((1 - std) x 100) of two used parts, step by step as kube-scheduler computes it."""
    even: FloatArray = np.subtract(parts[0], parts[1])
    even *= 0.5
    np.abs(even, out=even)
    np.subtract(1, even, out=even)
    even *= MAX_NODE_SCORE
    return np.floor(even, out=even)
