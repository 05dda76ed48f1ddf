"""The search for plans that drive nobody off, after a first one.

A plan that leads to a preemption loses the evictions that do, until it is clean (see `cleaning`).
Others are looked for beside it, and all are compared by what is left of them: no plan is given up
for one that places more on paper and less when it is carried out.

Where only room decides, that goes in rounds that do not depend on the time limit, which only ends
them: a longer limit finds whatever a shorter one does, and keeps the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from planner.interrupts import interruptible
from planner.replay.trial import WavePlan
from planner.sequences.clean_plans import Clean, Held, Series
from planner.sequences.clean_search import CleanSearch
from planner.sequences.decision import value_from
from planner.sequences.draft import evicted_by
from planner.sequences.drive_offs import Effort, EffortOverError
from planner.sequences.open_room import homeless
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import outcome_of
from planner.sequences.rounds import Rounds
from planner.sequences.scheduler_replay import (
    ReplayedSeeds,
    departing,
    replayed_before,
    scheduler_replay,
)
from planner.sequences.waves import Waves
from planner.solver.progress import Report

TURNS = 30
"""So many further plans are looked at where more than room decides."""


class Careful:
    """The search for a clean plan, after a first one that may not be or may not be the best."""

    def __init__(
        self,
        first: PlanOutcome,
        report: Report,
        effort: Effort,
        seconds: float,
        spared: frozenset[int],
    ) -> None:
        self._search = CleanSearch(first, report, effort, seconds, spared)
        self._clean_first = False

    def run(self) -> tuple[PlanOutcome, ReplayedSeeds | None]:
        """The best plan that is clean in all its waves.

        That is the first one where it is clean, or so large that nobody can say, and nothing better
        is possible or found.
        """
        search, first = self._search, self._search.first
        self._clean_first = not search.seeds or search.trials.in_waves(first.waves) is None
        if not self._clean_first:
            return self._searched()
        ends, known = search.trials.ends, first.decision
        replayed = replayed_before(first, ends) if ends else None
        over = search.interrupted or search.effort.over
        if known.status == "optimal" or not search.seeds or over:
            return first, replayed
        found = self._searched()
        better = value_from(found[0].decision.objectives).key > value_from(known.objectives).key
        if better:
            return found
        placed = value_from(known.objectives).placed
        objectives = search.most.told(placed, known.objectives)
        stopped = search.why_ended(known.stopped, objectives)
        decision = replace(known, objectives=objectives, stopped=stopped)
        return replace(first, decision=decision), replayed

    def _searched(self) -> tuple[PlanOutcome, ReplayedSeeds | None]:
        """The best of several plans."""
        try:
            with interruptible():
                self._look()
                self._lift_cordons()
        except KeyboardInterrupt:
            self._search.interrupted = True
        for clean in self._search.best:
            for way in self._ways(clean):
                outcome = self._outcome(way)
                if outcome.waves.beyond:
                    continue
                replayed = _replayed(outcome, way)
                if replayed is None or not replayed.driven:
                    return outcome, replayed
        raise AssertionError("a plan without evictions drives nobody off")

    def _ways(self, clean: Clean) -> Iterator[Clean]:
        """The plan in waves that are good to read, and as it was tried.

        When a user has waited long enough, the others are not replayed any more.
        """
        as_tried = clean if clean.tried is None else replace(clean, held=clean.tried)
        if as_tried is clean or not self._search.effort.late:
            yield clean
        if as_tried is not clean:
            yield as_tried

    def _look(self) -> None:
        """The first plan, few evictions for each pod, then others in turns and more on top.

        Few evictions for each pod are looked at however much the first plan took: no plan may be
        worse than these.
        """
        search, series = self._search, self._search.of_the_first
        planned = search.first.decision.steps
        try:
            if self._clean_first:
                ends = tuple(search.trials.ends)
                tried = Held(search.first.waves, ends) if ends else None
                search.add(replace(search.clean(planned, None, series), tried=tried))
            else:
                search.offer(planned, series)
                if search.cleaning.postponed:
                    search.offer(planned, replace(series, reasons={}))
            if search.interrupted:
                return
            for steps in search.simple():
                search.offer_if_new(steps, replace(series, reasons={}))
            if math.isinf(search.seconds):
                self._in_turns()
                return
            Rounds(search).run()
            search.nothing_left = True
        except EffortOverError:
            search.out_of_time = True

    def _in_turns(self) -> None:
        """Series by turns: each goes on as long as there is somebody new to be left alone."""
        search, done = self._search, set[int]()
        turns = [Series(homeless(search.problem)), Series(frozenset())]
        for _ in range(TURNS):
            best = search.best[0]
            if search.effort.over or (id(best) in done and not turns):
                break
            if id(best) not in done:
                done.add(id(best))
                search.offer(search.solved(best.series, best.steps), best.series)
                continue
            series = turns.pop(0)
            if search.offer(search.solved(series), series):
                turns.append(series)
            series.seconds *= 2

    def _lift_cordons(self) -> None:
        """Carry the best plan out with fewer of them, as far as there is still time to try it.

        That takes from what is left for checking and writing down, and no plan from others.
        """
        best, effort = self._search.best[0], self._search.effort
        if best.held is None:
            return
        effort.counted = False
        effort.until = (effort.until + self._search.problem.options.until) / 2
        try:
            held = self._search.cleaning.with_fewer_cordons(best.steps)
        except EffortOverError:
            return
        if held is not None:
            found = self._search.found
            found[found.index(best)] = replace(best, held=held)

    def _outcome(self, clean: Clean) -> PlanOutcome:
        """A clean plan in waves, without hops: these are not what was tried."""
        whole, profile = self._search.problem, self._search.first.profile
        options = whole.options
        reasons = {**self._search.of_the_first.reasons, **clean.left_alone}
        evicted = evicted_by(clean.steps)
        left_alone = {pod: why for pod, why in reasons.items() if pod not in evicted}
        left_alone |= whole.left_alone
        problem = replace(whole, options=replace(options, hops=False))
        decision = self._search.decision(clean.candidate)
        outcome = outcome_of(problem, profile, decision, self._in_waves(clean))
        return replace(outcome, problem=replace(whole, left_alone=left_alone))

    def _in_waves(self, clean: Clean) -> Waves | None:
        """The waves that were tried, and last what kube-scheduler then places by itself."""
        if clean.held is None:
            return None
        waves, added = clean.held.waves, clean.candidate.steps[len(clean.steps) :]
        return replace(waves, waves=(*waves.waves, *((added,) if added else ())))


def _replayed(outcome: PlanOutcome, way: Clean) -> ReplayedSeeds | None:
    """What the trials have said already, unless other waves came of what was added to them."""
    if way.held is not None:
        return replayed_before(outcome, way.held.ends)
    if way.tried is not None and _evictions(outcome.waves) == _evictions(way.tried.waves):
        return replayed_before(outcome, way.tried.ends)
    return scheduler_replay(outcome)


def _evictions(waves: Waves) -> list[WavePlan]:
    """What a trial carries out, as far as anybody is evicted or cordoned."""
    return [wave for wave in departing(waves) if wave.evictions or wave.cordons]
