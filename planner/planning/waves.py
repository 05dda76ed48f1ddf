"""Groups the steps of a plan into waves: what may be under way at the same time.

A wave takes no more pods down than budgets allow, and its landings need no room that one of its own
evictions makes. Later steps are taken earlier where they fit. Whether the scheduler's filters let
them is asked step by step, or left to the check that every plan passes through, which is quicker.
If asking leads nowhere, the given order is only cut.

A step that can't be taken waits for the one thing that refused it (a budget, the room of a node,
the eviction of its pod) and is looked at again only when that has changed: the work grows with the
number of moves, not with moves times waves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from planner.cluster import PENDING, Cluster
from planner.planning.budgets import Allowances
from planner.scheduler.cycle import Scheduler
from planner.scheduler.profile import Profile
from planner.scheduler.state import SchedulingState
from planner.verify.judge import refusal
from planner.verify.steps import Step


@dataclass(frozen=True)
class Waves:
    """Steps by wave. `beyond` are budgets that some wave can't keep, whatever the order.

    `surging` are pods whose replacement starts while they still run: nobody is down.
    """

    waves: tuple[tuple[Step, ...], ...]
    beyond: tuple[str, ...] = ()
    surging: frozenset[int] = frozenset()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps in order."""
        return tuple(step for wave in self.waves for step in wave)


def plan_waves(
    cluster: Cluster,
    steps: Sequence[Step],
    allowances: Allowances,
    profile: Profile,
    *,
    surge: frozenset[int] = frozenset(),
) -> Waves:
    """The steps in as few waves as come easily; their order is legal if the given one is.

    The controllers of `surge` pods can start the new pod first, where filters and room allow both.
    """
    units = _joined(steps)
    found = None
    if all(unit.action in ("evict", "place", "move") for unit in units):
        found = _Reordering(_State(cluster, allowances, profile, surge), units).run()
    return found or _cut(_State(cluster, allowances, profile, surge), units)


def guess_waves(cluster: Cluster, steps: Sequence[Step], allowances: Allowances) -> Waves | None:
    """The same without asking the filters: legal only if a check of the result says so."""
    units = _joined(steps)
    if any(unit.action in ("cordon", "uncordon") for unit in units):
        return None
    return _Reordering(_State(cluster, allowances, None), units).run()


def _joined(steps: Sequence[Step]) -> list[Step]:
    """An eviction and the placement of the same pod right after it are a move."""
    units: list[Step] = []
    for step in steps:
        if step.action == "place" and units and units[-1] == Step.evict(step.pod, units[-1].node):
            units[-1] = Step.move(step.pod, step.node)
        else:
            units.append(step)
    return units


def _cut(state: _State, units: Sequence[Step]) -> Waves:
    """The given order, with a new wave where the current one can't take the next step."""
    waves: list[list[Step]] = []
    for unit in units:
        if waves and unit.action not in ("cordon", "uncordon") and state.obstacle(unit) is None:
            waves[-1].append(unit)
        else:
            state.begin()
            state.overdraw(unit)
            waves.append([unit])
        state.apply(unit)
    return Waves(tuple(map(tuple, waves)), tuple(sorted(state.beyond)), frozenset(state.surging))


Obstacle = tuple[str, int]
"""What refuses a step: ("budget", its number), ("room", a node), ("pod", itself), ("filter", 0)."""


class _State:
    """The cluster as it takes one step after the other, and what the current wave has under way."""

    def __init__(
        self,
        cluster: Cluster,
        allowances: Allowances,
        profile: Profile | None,
        surge: frozenset[int] = frozenset(),
    ) -> None:
        self._cluster = cluster
        self._may_surge = surge
        self.surging: set[int] = set()
        self._allowances = allowances
        self._state = SchedulingState(cluster)
        self._scheduler = None if profile is None else Scheduler(self._state, profile)
        self._limits = [each.limit for each in allowances.each]
        self._down = [each.down for each in allowances.each]
        self._altogether = len(self._limits)
        if allowances.most is not None:
            self._limits.append(max(1, allowances.most))
            self._down.append(0)
        self._evicted: set[int] = set()
        self.beyond: set[str] = set()
        self._peak = self._state.used.copy()
        self._held: Counter[int] = Counter()
        self.left: set[int] = set()
        """Nodes that a pod of the current wave leaves."""

    def begin(self) -> None:
        """A new wave: what was under way has ended, and all room that was left is free."""
        for node in self.left:
            self._peak[node] = self._state.used[node]
        self._held.clear()
        self.left = set()

    def spare(self, number: int) -> int:
        """How many more pods the allowance lets go down in this wave."""
        return self._limits[number] - self._down[number] - self._held[number]

    def obstacle(self, unit: Step) -> Obstacle | None:
        """What keeps the step from being part of this wave, filters aside."""
        if unit.action != "place" and not self._surges(unit):
            for number in self._numbers(unit.pod):
                if self.spare(number) <= 0:
                    return ("budget", number)
        if unit.action != "evict" and not self._has_room(unit):
            return ("room", unit.node)
        return None

    def illegal(self, unit: Step) -> Obstacle | None:
        """What makes the step impossible now: for a landing, a filter that refuses the pod."""
        source = int(self._state.node_of[unit.pod])
        if (source == PENDING) != (unit.action == "place"):
            return ("pod", unit.pod)
        if unit.action == "evict" or self._scheduler is None:
            return None
        if unit.action == "move":
            self._state.remove(unit.pod)
        legal = refusal(self._scheduler, unit.pod, unit.node) is None
        if unit.action == "move":
            self._state.place(unit.pod, source)
        return None if legal else ("filter", 0)

    def _surges(self, unit: Step) -> bool:
        """Whether the new pod may start beside the old one: the filters see both."""
        if unit.action != "move" or unit.pod not in self._may_surge or self._scheduler is None:
            return False
        return refusal(self._scheduler, unit.pod, unit.node) is None

    def _has_room(self, unit: Step) -> bool:
        """Whether the pod fits even if none of the wave's evicted pods is gone yet."""
        request = self._state.requests[self._cluster.group_of[unit.pod]]
        limit = self._cluster.resources.allocatable[unit.node]
        return not ((request > 0) & (self._peak[unit.node] + request > limit)).any()

    def overdraw(self, unit: Step) -> None:
        """The first step of a wave has to be taken some time, whatever its budget allows."""
        if unit.action in ("evict", "move") and not self._surges(unit):
            for number in self._allowances.of_pod(unit.pod):
                allowance = self._allowances.each[number]
                if allowance.budget and self._down[number] >= allowance.limit:
                    self.beyond.add(allowance.name)

    def apply(self, unit: Step) -> None:
        """Take the step. A landed pod holds its place in the budget until the wave ends."""
        if unit.action in ("cordon", "uncordon"):
            return
        numbers = self._numbers(unit.pod)
        if self._surges(unit):
            self.surging.add(unit.pod)
            numbers = ()
        if unit.action in ("evict", "move"):
            self.left.add(int(self._state.node_of[unit.pod]))
            self._state.remove(unit.pod)
            self._evicted.add(unit.pod)
            for number in numbers:
                if unit.action == "evict":
                    self._down[number] += 1
                else:
                    self._held[number] += 1
        if unit.action in ("place", "move"):
            self._state.place(unit.pod, unit.node)
            self._peak[unit.node] += self._state.requests[self._cluster.group_of[unit.pod]]
        if unit.action == "place":
            for number in numbers:
                self._down[number] -= 1
                self._held[number] += 1

    def _numbers(self, pod: int) -> tuple[int, ...]:
        """A pod that waited from the start is not one that the plan has taken down."""
        numbers = self._allowances.of_pod(pod)
        waited = self._cluster.node_of[pod] < 0
        if self._allowances.most is None or waited:
            return numbers
        return (*numbers, self._altogether)


class _Reordering:
    """Every wave takes what it can of the remaining steps."""

    def __init__(self, state: _State, units: Sequence[Step]) -> None:
        self._state = state
        self._units = units
        self._ready = list(range(len(units)))
        self._waiting: dict[Obstacle, list[int]] = defaultdict(list)
        self._taken = [False] * len(units)
        self._next = 0

    def run(self) -> Waves | None:
        """All steps in waves; None if one of them can never be taken."""
        waves: list[tuple[Step, ...]] = []
        left = len(self._units)
        while left:
            wave = self._wave() or self._forced()
            if not wave:
                return None
            waves.append(tuple(wave))
            left -= len(wave)
            self._wake()
        state = self._state
        return Waves(tuple(waves), tuple(sorted(state.beyond)), frozenset(state.surging))

    def _wave(self) -> list[Step]:
        wave: list[Step] = []
        while self._ready:
            self._take_ready(wave)
            self._refill()
        return wave

    def _take_ready(self, wave: list[Step]) -> None:
        while self._ready:
            index = heappop(self._ready)
            if self._taken[index]:
                continue
            unit = self._units[index]
            obstacle = self._state.obstacle(unit) or self._state.illegal(unit)
            if obstacle is not None:
                heappush(self._waiting[obstacle], index)
                continue
            self._take(index, wave)

    def _take(self, index: int, wave: list[Step]) -> None:
        unit = self._units[index]
        self._taken[index] = True
        self._state.apply(unit)
        wave.append(unit)
        if unit.action == "evict":
            for other in self._waiting.pop(("pod", unit.pod), ()):
                heappush(self._ready, other)

    def _refill(self) -> None:
        """Where a budget still allows more, the next that wait for it are looked at."""
        for obstacle in [o for o, waiting in self._waiting.items() if o[0] == "budget" and waiting]:
            waiting = self._waiting[obstacle]
            for _ in range(min(self._state.spare(obstacle[1]), len(waiting))):
                heappush(self._ready, heappop(waiting))
            if not waiting:
                del self._waiting[obstacle]

    def _forced(self) -> list[Step]:
        """The first step that is left, whatever its budget says; nothing if filters refuse it."""
        while self._next < len(self._units) and self._taken[self._next]:
            self._next += 1
        unit = self._units[self._next]
        if self._state.illegal(unit) is not None:
            return []
        self._state.overdraw(unit)
        wave: list[Step] = []
        self._take(self._next, wave)
        return wave

    def _wake(self) -> None:
        """After a wave: budgets are free again, rooms have opened, and filters may think anew."""
        opened = [("room", node) for node in self._state.left]
        self._state.begin()
        for obstacle in (*opened, ("filter", 0)):
            for index in self._waiting.pop(obstacle, ()):
                heappush(self._ready, index)
        self._refill()
