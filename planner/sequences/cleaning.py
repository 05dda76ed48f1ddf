"""Steps without the evictions after which somebody would be driven off.

A plan is tried with kube-scheduler's own choices. Where only room decides, room is held for whom it
is meant before anything is given up. Otherwise an eviction that leads to a preemption is taken
back, with whoever would need its room, and what is left is tried again, until nobody is driven off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planner.replay.steps import NOBODY, Step
from planner.sequences.clean_plans import Held, Series
from planner.sequences.draft import Draft
from planner.sequences.drive_offs import DriveOff, DriveOffs
from planner.sequences.held_room import Way, waves_with_held_room
from planner.sequences.order import Order, find_order
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import waved
from planner.sequences.waves import Waves, cut_waves, guess_waves
from planner.solver import route
from planner.solver.problem.problem import Cell, Problem
from planner.words import NAMED, conjoined, count_of

TRIALS_EACH = 2
"""About so many trials it takes until a preemption and those that come to light then are gone."""
HOLDING_SECONDS, HOLDING_NODE_SECONDS = 1e-6, 1.2e-9
"""About what it takes to find such an order, for each wave and each pod of the steps, and for each
node beside that where all other room is closed."""
HOLDING: tuple[tuple[Way, int], ...] = (
    ("held", 0),
    *(("lasting", draw) for draw in range(1, 5)),
    ("lasting", 0),
)
"""How room is held if not at all, and in which order, one after the other: with the last one
evictions are taken back."""
FEWER_CORDONS: tuple[Way, ...] = ("held", "closed")
"""How it is tried to do with less in the end."""


@dataclass(eq=False)
class Cleaning:
    """Trials of plans for the cluster of a first plan."""

    first: PlanOutcome
    trials: DriveOffs
    postponed: bool = False
    """Whether it would have been tried to hold room, if there had been something to show."""
    tried: Held | None = None
    """The waves of the last steps that were found clean without cordons."""

    def run(
        self, steps: Sequence[Step], series: Series, seconds: float
    ) -> tuple[tuple[Step, ...], Held | None]:
        """The steps without the evictions that lead to a preemption; at last that is all of them.

        With about so many seconds of trials: the fewer, the more is taken back between two of them.

        Where only room decides, room is held for whom it is meant before anything is given up, and
        all other room is closed if that is not enough. Where it is not seen which eviction did it,
        the last one goes.
        """
        draft, hold, taken_back = Draft(self.first.before, steps), 0, False
        self.tried = None
        self.trials.enough = self.trials.effort.spent + series.holding * seconds
        while draft.evicted:
            hold = 0 if self.trials.hurried else hold
            more = hold < len(HOLDING) and self._may_hold(draft)
            hold = hold if more or not hold else len(HOLDING)
            way = HOLDING[hold - 1] if hold else None
            waves = self._held(draft.steps, *way) if way else self._waves_of(draft.steps)
            driven = () if waves is None else self.trials.in_waves(waves, at_all=more)
            if driven is None and waves is not None and hold:
                moves = tuple(step for step in waves.steps if step.pod != NOBODY)
                return moves, Held(waves, tuple(self.trials.ends))
            if driven is None:
                if waves is not None and waves.steps:
                    self.tried = Held(waves, tuple(self.trials.ends))
                break
            if more:
                hold += 1
                continue
            self.trials.effort.check()
            if not taken_back:
                self.trials.enough = self.trials.effort.spent + seconds
                taken_back = True
            for pod in self._guilty(draft, driven[: self._at_once(draft, driven, hold=hold > 0)]):
                series.reasons |= self._reasons(pod, driven)
                draft = draft.without(pod)
            draft = self._ordered(draft)
        return draft.steps, None

    def _at_once(self, draft: Draft, driven: Sequence[DriveOff], *, hold: bool) -> int:
        """How many preemptions are looked at before the next trial.

        One, since the others may follow from it, unless there is no time for so many trials.
        """
        if self.trials.overdue or (self.trials.slow and not hold):
            return len(driven)
        if not hold:
            return 1
        trials = max(1, self.trials.affordable(len(draft.evicted)))
        return math.ceil(TRIALS_EACH * len(driven) / trials)

    def _may_hold(self, draft: Draft) -> bool:
        """Whether nothing but room decides, and there is time to try what cordons lead to."""
        evictions = len(draft.evicted)
        each = self._holding_seconds(HOLDING[-1][0], evictions, draft.steps)
        affordable = self.trials.affords(evictions, each)
        if not affordable or not route.any_order_works(self.first.problem):
            return False
        self.postponed = not self.trials.in_time(evictions, each)
        return not self.postponed

    def _holding_seconds(self, way: Way, waves: int, steps: Sequence[Step]) -> float:
        nodes = 0 if way == "held" else len(self.first.before.nodes)
        pods = len({step.pod for step in steps})
        return waves * pods * (HOLDING_SECONDS + HOLDING_NODE_SECONDS * nodes)

    def _ordered(self, draft: Draft) -> Draft:
        """The same in an order in which every landing has room, where there is one."""
        if draft.fits_in_order:
            return draft
        cluster = self.first.before
        counts = counts_after(self.first.problem, draft.steps)
        order = find_order(self.first.problem, counts, self.first.judged)
        return Draft(cluster, order.steps) if isinstance(order, Order) else draft

    def _guilty(self, draft: Draft, driven: Sequence[DriveOff]) -> list[int]:
        """For each preemption one eviction without which it may not happen.

        Who was evicted and preempts; otherwise who made room where others were driven off, the
        one that costs least; otherwise who is driven off.
        """
        node_of, found = self.first.before.node_of, list[int]()
        for each in driven:
            evicted = draft.evicted
            pods = [pod for pod in evicted if pod == each.preemptor]
            pods = pods or [pod for pod in evicted if int(node_of[pod]) == each.node]
            pods = pods or [pod for pod in evicted if pod == each.victim] or evicted[-1:]
            found += [max(pods, key=lambda pod: self._left_by(draft.without(pod)))]
        return list(dict.fromkeys(found)) or draft.evicted[-1:]

    def _left_by(self, draft: Draft) -> tuple[int, ...]:
        placed = draft.placed
        return tuple(placed[priority] for priority in self.first.problem.priorities)

    def _reasons(self, pod: int, driven: Sequence[DriveOff]) -> dict[int, str]:
        """Who is left alone from now on: the pod, with those like it on its node."""
        cluster = self.first.before
        names = sorted({cluster.pods[each.victim].key for each in driven})
        whom = conjoined(names) if len(names) <= NAMED else count_of(len(names), "pod")
        text = f"its eviction could make a waiting pod drive off {whom or 'others'}"
        cell = (int(cluster.group_of[pod]), int(cluster.node_of[pod]))
        return dict.fromkeys(self.first.problem.movable.get(cell, ()), text)

    def with_fewer_cordons(self, steps: Sequence[Step]) -> Held | None:
        """The same moves under fewer cordons than it took to find them, if that is clean, too."""
        for way in FEWER_CORDONS:
            self.trials.effort.check()
            waves = self._held(steps, way)
            if waves is not None and self.trials.in_waves(waves) is None:
                return Held(waves, tuple(self.trials.ends))
        return None

    def _held(self, steps: Sequence[Step], way: Way, draw: int = 0) -> Waves | None:
        """In waves in which cordons hold room for whom it is meant; None as below."""
        first = self.first
        waves = waves_with_held_room(self.first.problem, steps, way, draw)
        self.trials.effort.spent += self._holding_seconds(way, len(waves or ()), steps)
        return None if waves is None else cut_waves(first.before, waves, first.allowances)

    def _waves_of(self, steps: Sequence[Step]) -> Waves | None:
        """None if the steps are not legal."""
        first = self.first
        if route.any_order_works(self.first.problem):
            return guess_waves(first.before, steps, first.allowances)
        waves, checked = waved(self.first.problem, first.judged, steps, first.allowances)
        return waves if checked.good else None


def counts_after(problem: Problem, steps: Sequence[Step]) -> Counter[Cell]:
    """Pods by group and node after the steps, without those that never move."""
    cluster, counts = problem.cluster, Counter(problem.current)
    for step in steps:
        group = int(cluster.group_of[step.pod])
        if step.evicts:
            counts[group, int(cluster.node_of[step.pod])] -= 1
        if step.lands:
            counts[group, step.node] += 1
    return +counts
