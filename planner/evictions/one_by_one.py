"""One eviction after the other, where nothing else ends well whatever kube-scheduler chooses.

Every node that the plan does not land on at that moment is cordoned, which leaves the scheduler the
plan's own landing. Then whatever turns out not to be needed is taken back: the cordons of waves in
which no pod goes astray without them, and the wait between evictions that can happen together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from planner.cluster import PENDING
from planner.evictions.repeated_trials import EXAMPLES, FEW, RepeatedTrials, TriedWaves
from planner.replay.steps import Step
from planner.replay.trial import Manner, TrialRun, WavePlan
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState

CORDON_ROUNDS = 25
"""How often another wave gets its cordons back before all of them do."""
JOIN_ROUNDS = 9
"""How often waves are joined anew because a manner came up in which that ends badly."""
JOINED = 8
"""So many neighbouring waves are tried as one; if that ends badly, half as many. After every third
round only half as many are tried at all."""

Targets = Sequence[frozenset[int]]
"""By wave, the nodes on which the plan lands something then."""


def targets_of(plan: Iterable[Sequence[Step]]) -> list[frozenset[int]]:
    """Of the waves that evict something."""
    return [
        frozenset(step.node for step in wave if step.lands)
        for wave in plan
        if any(step.evicts for step in wave)
    ]


class OneByOne:
    """The search for one order of steps."""

    def __init__(self, trials: RepeatedTrials, order: Iterable[Step]) -> None:
        self._trials = trials
        self._singles = _singly(order)
        self.targets: Targets = targets_of(self._singles)

    def tried(self) -> TriedWaves:
        """Few waves and cordons with which it always ends well, or what comes closest to that."""
        steered = tuple(self._steered())
        tried = self._trials.tried(steered, self._trials.manners[:FEW], patience=1)
        if not tried.converges:
            return tried
        tried = self._with_fewer_cordons(steered)
        return self._in_fewer_waves(tried) if tried.converges else tried

    def _with_fewer_cordons(self, steered: Sequence[WavePlan]) -> TriedWaves:
        """The same without cordons, except in waves in which failures first leave the plan."""
        waves = [replace(wave, cordons=()) for wave in steered]
        for _ in range(CORDON_ROUNDS):
            tried = self._trials.tried(waves, self._trials.manners[:FEW], patience=1)
            if tried.converges:
                tried = self._trials.tried(waves, patience=1)
            if tried.converges:
                return tried
            failures = tried.ending(well=False)
            strayed = [_strayed(run, self.targets, waves, steered) for run in failures]
            if strayed.count(None) == len(strayed):
                break
            for number in strayed:
                if number is not None:
                    waves[number] = steered[number]
        return self._trials.tried(steered, patience=EXAMPLES)

    def _steered(self) -> Iterator[WavePlan]:
        """Cordons that leave the plan's own landing as the scheduler's only choice.

        Pods that the plan lets wait for a later wave are kept from every node until then.
        """
        state = SchedulingState(self._trials.aim.real)
        scheduler = Scheduler(state, self._trials.profile)
        waited = {step.pod for steps in self._singles for step in steps if step.action == "place"}
        away = {pod for pod in waited if state.node_of[pod] == PENDING}
        for steps in self._singles:
            wanted = {step.node for step in steps if step.lands}
            pods = tuple(step.pod for step in steps if step.evicts)
            for pod in pods:
                state.remove(pod)
            away.update(pods)
            open_ = _open_to(scheduler, away)
            for step in steps:
                if step.lands:
                    state.place(step.pod, step.node)
                    away.discard(step.pod)
            open_ |= _open_to(scheduler, away)
            cordons = tuple(sorted(self._trials.may_be_cordoned(open_ - wanted)))
            yield WavePlan(pods, cordons, holds=bool(away) and steps is not self._singles[-1])

    def _in_fewer_waves(self, single: TriedWaves) -> TriedWaves:
        """Neighbouring waves as one; the manner in which that failed judges the next attempt."""
        judges = self._trials.manners[:FEW]
        for number in range(JOIN_ROUNDS):
            waves = self._joined(single.waves, judges, max(2, JOINED >> number // 3))
            if len(waves) == len(single.waves):
                break
            found = self._trials.tried(waves, patience=1)
            if found.converges:
                return found
            judges = (found.manners[-1], *judges)
        return single

    def _joined(
        self, waves: Sequence[WavePlan], judges: Sequence[Manner], most: int
    ) -> list[WavePlan]:
        """As many as budgets allow at once and as end well before the judges."""
        rest = list(zip(waves, self.targets, strict=True))
        done: list[WavePlan] = []
        size = most
        while rest:
            size = min(size, len(rest))
            while size > 1 and not self._ends_well(done, rest, size, judges):
                size //= 2
            done.append(_together(rest[:size]))
            rest = rest[size:]
            size = min(2 * size, most)
        return done

    def _ends_well(
        self,
        done: Sequence[WavePlan],
        rest: Sequence[tuple[WavePlan, frozenset[int]]],
        size: int,
        judges: Sequence[Manner],
    ) -> bool:
        joint = _together(rest[:size])
        if not self._allowed(joint.evictions):
            return False
        waves = [*done, joint, *(wave for wave, _ in rest[size:])]
        return self._trials.tried(waves, judges, patience=1).converges

    def _allowed(self, pods: Sequence[int]) -> bool:
        """Whether so many may be down at once, of all together and of what has no budget, too."""
        allowances = self._trials.allowances
        counts = Counter(number for pod in pods for number in allowances.of_pod(pod))
        most = allowances.most
        return (most is None or len(pods) <= most) and all(
            count <= max(1, allowances.each[number].left) for number, count in counts.items()
        )


def _together(waves: Sequence[tuple[WavePlan, frozenset[int]]]) -> WavePlan:
    """All of these at once; nodes that any of them needs stay open."""
    needed = frozenset[int]().union(*(targets for _, targets in waves))
    cordons = {node for wave, _ in waves for node in wave.cordons} - needed
    pods = tuple(pod for wave, _ in waves for pod in wave.evictions)
    return WavePlan(pods, tuple(sorted(cordons)), holds=waves[-1][0].holds)


def _strayed(
    run: TrialRun,
    targets: Targets,
    waves: Sequence[WavePlan],
    steered: Sequence[WavePlan],
) -> int | None:
    """The first wave that has fewer cordons than it could, and a landing that was not planned."""
    for landing in run.landings:
        number = landing.wave
        if number < 0 or landing.node in targets[number]:
            continue
        if waves[number].cordons != steered[number].cordons:
            return number
    return None


def _open_to(scheduler: Scheduler, pods: Iterable[int]) -> set[int]:
    """The nodes that some of these pods could go to now."""
    return {node for pod in pods for node in scheduler.evaluate(pod).feasible.tolist()}


def _singly(order: Iterable[Step]) -> list[list[Step]]:
    """The steps cut before every eviction; what only lands stays with what came before."""
    found: list[list[Step]] = []
    begun = False
    for step in order:
        evicts = step.evicts
        if not found or (evicts and begun):
            found.append([])
        begun = begun or evicts
        found[-1].append(step)
    return found
