"""Finds waves of evictions that end well whatever kube-scheduler chooses.

The evictions come from a plan that reaches the goal by some choice of nodes. They are tried under
many tie seeds and orders of arrival. Where some of them end worse than planned, nodes that led
there are cordoned for the length of a wave: first the evicted pods' own, then others that nobody
needs in that wave; at last the evictions go one by one, and the scheduler has no choice left but
the plan's. The first way that always ends well is taken, otherwise the one that most often does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.cluster import PENDING
from planner.cluster.topology import IntArray
from planner.evictions.goals import Aim
from planner.evictions.trial import Manner, Trial, TrialRun, WavePlan
from planner.planning.budgets import Allowances
from planner.scheduler.cycle import Scheduler
from planner.scheduler.profile import Profile
from planner.scheduler.state import SchedulingState
from planner.verify.steps import Step
from planner.verify.violations import total, violations

LESSONS = 4
"""How often nodes are added to the cordons before another way is tried."""
ONE_BY_ONE = 60
"""Up to this many evictions they may go one by one, each as a wave of its own."""
FEW = 3
"""So many trials say whether a cordon can be spared."""
SPARED = 25
"""How often another wave gets its cordons back before all of them do."""
EXAMPLES = 6
"""So many failures are enough to learn from."""


@dataclass(frozen=True)
class Target:
    """What a plan reaches: excess over the aim's rules, and pods that still wait."""

    excess: int
    waiting: int


@dataclass(frozen=True, eq=False)
class Tried:
    """Waves, and how they went in each manner; `reached` is parallel to `runs`."""

    waves: tuple[WavePlan, ...]
    manners: tuple[Manner, ...]
    runs: tuple[TrialRun, ...]
    reached: tuple[bool, ...]

    @cached_property
    def converges(self) -> bool:
        """Whether every manner ends as planned."""
        return all(self.reached)

    def seeds_reached(self, *, terminating: bool) -> int:
        """In how many seeds the plan ends well, with evicted pods gone or still terminating."""
        return sum(
            reached
            for manner, reached in zip(self.manners, self.reached, strict=True)
            if manner.terminating == terminating
        )

    @property
    def score(self) -> tuple[int, int]:
        """More is better; then fewer evictions."""
        return sum(self.reached), -sum(len(wave.evictions) for wave in self.waves)


def manners(seeds: int) -> tuple[Manner, ...]:
    """Every seed with the evicted pod gone and still there; odd seeds replace pods one by one."""
    return tuple(
        Manner(seed, terminating, one_by_one=seed % 2 == 1)
        for seed in range(seeds)
        for terminating in (False, True)
    )


def departures(waves: Iterable[Sequence[Step]]) -> tuple[WavePlan, ...]:
    """The evictions of a plan, wave by wave; waves that only place something are none."""
    found = (tuple(step.pod for step in wave if step.action in ("evict", "move")) for wave in waves)
    return tuple(WavePlan(pods) for pods in found if pods)


class Convergence:
    """The search for one plan."""

    def __init__(
        self, aim: Aim, profile: Profile, allowances: Allowances, target: Target, seeds: int
    ) -> None:
        self._aim = aim
        self._profile = profile
        self._allowances = allowances
        self._target = target
        self._manners = manners(seeds)

    def search(self, plan: Sequence[Sequence[Step]], order: Sequence[Step]) -> Tried:
        """The best way to carry the plan's evictions out; `order` has its steps one by one."""
        best = self.tried(departures(plan))
        ways = [self._taught(best, _targets(plan))]
        if sum(len(wave.evictions) for wave in best.waves) <= ONE_BY_ONE:
            ways.append(self._one_by_one(_singly(order)))
        for way in ways:
            for found in way if not best.converges else ():
                best = max(best, found, key=lambda tried: tried.score)
                if best.converges:
                    break
        return best

    def tried(self, waves: Sequence[WavePlan], *, of: Sequence[Manner] = ()) -> Tried:
        """Carry the waves out in every manner; of given ones, up to the first failure."""
        pods = [pod for wave in waves for pod in wave.evictions]
        trial = Trial(self._aim.real, self._profile, self._allowances, pods)
        runs: list[TrialRun] = []
        reached: list[bool] = []
        for manner in of or self._manners:
            runs.append(trial.run(waves, manner))
            reached.append(self.ends_well(runs[-1]))
            if of and not reached[-1]:
                break
        done = tuple(of or self._manners)[: len(runs)]
        return Tried(tuple(waves), done, tuple(runs), tuple(reached))

    def ends_well(self, run: TrialRun) -> bool:
        """Whether the target is reached and no budget stood in the way."""
        return run.refused is None and self.reached(run.node_of)

    def reached(self, node_of: IntArray) -> bool:
        """Whether no more pods wait and no more is broken than the plan leaves."""
        waiting = int(np.count_nonzero(node_of == PENDING))
        return waiting <= self._target.waiting and self.excess(node_of) <= self._target.excess

    def excess(self, node_of: IntArray) -> int:
        """What the aim's rules are broken by."""
        return total(violations(self._aim.at(node_of.tolist()), self._profile))

    # Cordons

    def _taught(self, first: Tried, targets: Sequence[frozenset[int]]) -> Iterator[Tried]:
        """The same waves with more and more cordons, as far as failures teach any."""
        tried = first
        for lesson in range(LESSONS):
            taught = self._lesson(tried, targets, own_nodes=lesson == 0)
            if taught is None:
                return
            tried = self.tried(taught)
            yield tried
            if tried.converges:
                return

    def _lesson(
        self, tried: Tried, targets: Sequence[frozenset[int]], *, own_nodes: bool
    ) -> tuple[WavePlan, ...] | None:
        """Cordons for nodes where pods landed in failures, rather not where successes did, too."""
        failures = [r for r, reached in zip(tried.runs, tried.reached, strict=True) if not reached]
        successes = [r for r, reached in zip(tried.runs, tried.reached, strict=True) if reached]
        bad, good = _landed(failures[:EXAMPLES]), _landed(successes)
        waves: list[WavePlan] = []
        for number, wave in enumerate(tried.waves):
            free = self._may_be_cordoned(bad.get(number, set()) - targets[number])
            if own_nodes:
                sources = {int(self._aim.real.node_of[pod]) for pod in wave.evictions}
                free &= sources
            only_bad = free - good.get(number, set())
            added = (only_bad or free) - set(wave.cordons)
            waves.append(replace(wave, cordons=tuple(sorted({*wave.cordons, *added}))))
        if tuple(waves) != tried.waves:
            return tuple(waves)
        return self._lesson(tried, targets, own_nodes=False) if own_nodes else None

    def _may_be_cordoned(self, nodes: Iterable[int]) -> set[int]:
        """Nodes that take pods now: lifting the cordon then leaves everything as it was."""
        return {node for node in nodes if not self._aim.real.nodes[node].spec.unschedulable}

    # One by one

    def _one_by_one(self, singles: Sequence[Sequence[Step]]) -> Iterator[Tried]:
        """One eviction after the other, with every node cordoned that the plan has no use for."""
        tried = self.tried(tuple(self._steered(singles)))
        if tried.converges:
            yield self._with_fewer_cordons(tried, _targets(singles))
            return
        yield tried
        yield from self._taught(tried, _targets(singles))

    def _with_fewer_cordons(self, steered: Tried, targets: Sequence[frozenset[int]]) -> Tried:
        """The same without cordons, but for waves in which failures first leave the plan."""
        waves = [replace(wave, cordons=()) for wave in steered.waves]
        for _ in range(SPARED):
            tried = self.tried(waves, of=self._manners[:FEW])
            if tried.converges:
                tried = self.tried(waves)
            if tried.converges:
                return tried
            failures = (
                r for r, reached in zip(tried.runs, tried.reached, strict=True) if not reached
            )
            strayed = {_strayed(run, targets, waves, steered.waves) for run in failures}
            if strayed == {None}:
                break
            for number in strayed:
                if number is not None:
                    waves[number] = steered.waves[number]
        return steered

    def _steered(self, singles: Sequence[Sequence[Step]]) -> Iterator[WavePlan]:
        """Cordons that leave the plan's own landing as the scheduler's only choice.

        Pods that the plan lets wait for a later wave are kept from every node until then.
        """
        state = SchedulingState(self._aim.real)
        scheduler = Scheduler(state, self._profile)
        waited = {step.pod for steps in singles for step in steps if step.action == "place"}
        away = {pod for pod in waited if state.node_of[pod] == PENDING}
        for steps in singles:
            wanted = {step.node for step in steps if step.action in ("move", "place")}
            pods = tuple(step.pod for step in steps if step.action in ("evict", "move"))
            for pod in pods:
                state.remove(pod)
            away.update(pods)
            open_ = _open_to(scheduler, away)
            for step in steps:
                if step.action in ("move", "place"):
                    state.place(step.pod, step.node)
                    away.discard(step.pod)
            open_ |= _open_to(scheduler, away)
            cordons = tuple(sorted(self._may_be_cordoned(open_ - wanted)))
            yield WavePlan(pods, cordons, holds=bool(away) and steps is not singles[-1])


def _strayed(
    run: TrialRun,
    targets: Sequence[frozenset[int]],
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


def _landed(runs: Iterable[TrialRun]) -> dict[int, set[int]]:
    """By wave, the nodes on which something landed."""
    found: dict[int, set[int]] = {}
    for run in runs:
        for landing in run.landings:
            found.setdefault(landing.wave, set()).add(landing.node)
    return found


def _targets(plan: Iterable[Sequence[Step]]) -> list[frozenset[int]]:
    """By wave with evictions, the nodes on which the plan lands something then."""
    return [
        frozenset(step.node for step in wave if step.action in ("move", "place"))
        for wave in plan
        if any(step.action in ("evict", "move") for step in wave)
    ]


def _singly(order: Iterable[Step]) -> list[list[Step]]:
    """The steps cut before every eviction; what only lands stays with what came before."""
    found: list[list[Step]] = []
    begun = False
    for step in order:
        evicts = step.action in ("evict", "move")
        if not found or (evicts and begun):
            found.append([])
        begun = begun or evicts
        found[-1].append(step)
    return found


def expected_nodes(tried: Tried, groups: IntArray) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """By wave and group: every node that was among the best for a replacement in some trial."""
    found: dict[tuple[int, int], set[int]] = {}
    for run in tried.runs:
        for landing in run.landings:
            key = (landing.wave, int(groups[landing.pod]))
            found.setdefault(key, set()).update(landing.tied)
    return {key: tuple(sorted(nodes)) for key, nodes in found.items()}
