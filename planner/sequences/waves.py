"""Groups the steps of a plan into waves: what may be under way at the same time.

A wave takes no more pods down than budgets allow, and its landings need no room that one of its own
evictions makes. Later steps are taken earlier where they fit. Whether the scheduler's filters allow
that is asked step by step, or left to the check that every plan passes through, which is quicker.
If asking leads nowhere, the given order is kept and only cut into waves.

A step that can't be taken waits for the one thing that refused it (a budget, the room of a node,
the eviction of its pod) and is looked at again only when that has changed: the work grows with the
number of moves, not with moves times waves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from planner.cluster import Cluster
from planner.disruption.budgets import Allowances
from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.sequences.wave_state import Obstacle, WaveState


@dataclass(frozen=True)
class Waves:
    """Steps by wave. `beyond` are budgets that some wave can't keep, whatever the order.

    `surging` are moves whose new pod starts while the old one still runs: nobody is down.
    """

    waves: tuple[tuple[Step, ...], ...]
    beyond: tuple[str, ...] = ()
    surging: frozenset[Step] = frozenset()

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
    """The steps in few waves; their order is legal if the given one is.

    The controllers of `surge` pods can start the new pod first, where filters and room allow both.
    """
    steps = _joined(steps)
    found = None
    if not _cordons(steps):
        found = _Reordering(WaveState(cluster, allowances, profile, surge), steps).run()
    return found or _cut(WaveState(cluster, allowances, profile, surge), _at_cordons(steps))


def guess_waves(cluster: Cluster, steps: Sequence[Step], allowances: Allowances) -> Waves | None:
    """The same without asking the filters: legal only if a check of the result says so."""
    if _cordons(steps):
        return None
    return _Reordering(WaveState(cluster, allowances, None), _joined(steps)).run()


def _cordons(steps: Sequence[Step]) -> bool:
    return any(step.action in ("cordon", "uncordon") for step in steps)


def _at_cordons(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps cut before every cordon and where it is lifted."""
    found: list[Step] = []
    for step in steps:
        if step.action in ("cordon", "uncordon") and found:
            yield found
            found = []
        found.append(step)
    yield found


def _joined(steps: Sequence[Step]) -> list[Step]:
    """An eviction and the placement of the same pod right after it are a move."""
    found: list[Step] = []
    for step in steps:
        if step.action == "place" and found and found[-1] == Step.evict(step.pod, found[-1].node):
            found[-1] = Step.move(step.pod, step.node)
        else:
            found.append(step)
    return found


def cut_waves(cluster: Cluster, waves: Iterable[Sequence[Step]], allowances: Allowances) -> Waves:
    """Given waves, cut further where budgets or room ask for it."""
    return _cut(WaveState(cluster, allowances, None), waves)


def _cut(state: WaveState, given: Iterable[Sequence[Step]]) -> Waves:
    """The given order, with a new wave where the current one can't take the next step."""
    waves: list[list[Step]] = []
    for steps in given:
        begun = False
        for step in steps:
            cordons = step.action in ("cordon", "uncordon")
            if begun and (cordons or state.obstacle(step) is None):
                waves[-1].append(step)
            else:
                state.begin()
                state.overdraw(step)
                waves.append([step])
            begun = True
            state.apply(step)
    return Waves(tuple(map(tuple, waves)), tuple(sorted(state.beyond)), frozenset(state.surging))


def _hop_before(steps: Sequence[Step]) -> dict[int, int]:
    """Of steps that take a pod on from its temporary place, the hop that has to come first."""
    hops = {step.pod: index for index, step in enumerate(steps) if step.temporary}
    return {
        index: hops[step.pod]
        for index, step in enumerate(steps)
        if step.pod in hops and not step.temporary
    }


class _Reordering:
    """Every wave takes what it can of the remaining steps."""

    def __init__(self, state: WaveState, steps: Sequence[Step]) -> None:
        self._state = state
        self._steps = steps
        self._ready = list(range(len(steps)))
        self._waiting: dict[Obstacle, list[int]] = defaultdict(list)
        self._taken = [False] * len(steps)
        self._next = 0
        self._after = _hop_before(steps)

    def run(self) -> Waves | None:
        """All steps in waves; None if one of them can never be taken."""
        waves: list[tuple[Step, ...]] = []
        left = len(self._steps)
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
            obstacle = self._obstacle(index)
            if obstacle is not None:
                heappush(self._waiting[obstacle], index)
                continue
            self._take(index, wave)

    def _obstacle(self, index: int) -> Obstacle | None:
        step = self._steps[index]
        if index in self._after and not self._taken[self._after[index]]:
            return ("pod", step.pod)
        return self._state.obstacle(step) or self._state.illegal(step)

    def _take(self, index: int, wave: list[Step]) -> None:
        step = self._steps[index]
        self._taken[index] = True
        self._state.apply(step)
        wave.append(step)
        if step.action == "evict" or step.temporary:
            for other in self._waiting.pop(("pod", step.pod), ()):
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
        while self._next < len(self._steps) and self._taken[self._next]:
            self._next += 1
        step = self._steps[self._next]
        waits = self._next in self._after and not self._taken[self._after[self._next]]
        if waits or self._state.illegal(step) is not None:
            return []
        self._state.overdraw(step)
        wave: list[Step] = []
        self._take(self._next, wave)
        return wave

    def _wake(self) -> None:
        """After a wave: budgets are free again, room has opened, and filters may say yes now."""
        opened = [("room", node) for node in self._state.left]
        self._state.begin()
        for obstacle in (*opened, ("filter", 0)):
            for index in self._waiting.pop(obstacle, ()):
                heappush(self._ready, index)
        self._refill()
