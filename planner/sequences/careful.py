"""The search for plans that drive nobody off, after a first one.

A plan that leads to a preemption loses the evictions that do, until it is clean (see `cleaning`).
Others are looked for beside it, and all are compared by what is left of them: no plan is given up
for one that places more on paper and less when it is carried out.

Where only room decides, that goes in rounds that do not depend on the time limit, which only ends
them: a longer limit finds whatever a shorter one does, and keeps the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from planner.interrupts import interruptible
from planner.replay import check_steps
from planner.replay.steps import Step
from planner.replay.trial import WavePlan
from planner.sequences.candidate import Candidate, greedy
from planner.sequences.clean_plans import ROUND_SECONDS, Clean, Held, Series, worth_on_paper
from planner.sequences.cleaning import Cleaning, counts_after
from planner.sequences.decide import decide
from planner.sequences.decision import Decision, bound_from, objectives_from, value_from
from planner.sequences.draft import evicted_by
from planner.sequences.drive_offs import DriveOffs, Effort, EffortOverError
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.most_beside import MostBeside
from planner.sequences.open_room import homeless
from planner.sequences.order import Order, find_order
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import outcome_of, problem_of
from planner.sequences.scheduler_replay import (
    JUDGING_SECONDS,
    ReplayedSeeds,
    departing,
    judging_seeds,
    replayed_before,
    scheduler_replay,
)
from planner.sequences.value import coherent, trivial_bound
from planner.sequences.waves import Waves
from planner.solver import route
from planner.solver.progress import Report

ROUNDS = 30
"""So many further plans are looked at."""
CLEANING = 4
"""Times as long as it takes to find a plan: so long it may take until it drives nobody off."""
ON_PAPER = 4
"""Times as long as for what is better than the best plan: so long a state is improved that nothing
was taken back from."""
PROVING = 6
"""The same for each proof that no more pods of a priority can be placed."""
MORE = 1.5
"""So many times as long everything may take in the next round."""
IN_A_ROW = 2
"""So many times in a row a plan is improved in the first round, and once more in each later one."""
SIMPLE_CELLS = 100_000
"""Waiting pods times nodes up to which few evictions for each of them are tried as well."""
SIMPLE_EXCHANGES = 6_000
"""So many are looked at for that, before all other plans wait too long: two seconds or so."""
NOTE = (
    "evictions whose replacements could drive off pods of lower priority were left out; planner "
    "evict looks for cordons that prevent it"
)


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
        """`spared` are pods that no plan evicts; the first one may spare more, for budgets."""
        self._first = first
        self._seconds = seconds
        """What the first plan got, if that does not depend on the limit."""
        self._proof = first.decision
        """What is known about all plans."""
        self._proves = first.problem.options.spared == spared
        self._problem = first.problem
        self._report = report
        self._effort = effort
        self._seeds = judging_seeds(first.before, first.steps.evictions)
        self._trials = DriveOffs(
            first.problem, first.profile, first.allowances, self._seeds, effort
        )
        self._cleaning = Cleaning(first, self._trials)
        self._of_the_first = Series(frozenset())
        if not math.isinf(seconds):
            self._of_the_first.seconds = seconds
            self._of_the_first.trying = max(CLEANING * seconds, 2 * JUDGING_SECONDS)
        self._offered: dict[frozenset[Step], float] = {}
        """By steps that were tried, with how many seconds of trials."""
        self._on_paper = worth_on_paper(self._problem, first.decision.steps), first.decision.steps
        """The best steps of all, whether they are clean or not, after their worth."""
        self._attempts = 0
        self._most = MostBeside(first.problem, effort)
        self._improved = set[tuple[int, float]]()
        self._extended = set[int]()
        """Plans beside which more was looked for: another time finds the same."""
        self._found: list[Clean] = [self._clean((), None, Series(frozenset()))]
        """What kube-scheduler does alone is clean: whatever happens, there is a plan."""
        self._interrupted = first.decision.stopped == "interrupted"
        self._clean_first = False
        self._out_of_time = False

    def run(self) -> tuple[PlanOutcome, ReplayedSeeds | None]:
        """The best plan that is clean in all its waves.

        That is the first one where it is clean, or so large that nobody can say, and nothing better
        is possible or found.
        """
        self._clean_first = not self._seeds or self._trials.in_waves(self._first.waves) is None
        if not self._clean_first:
            return self._searched()
        ends, known = self._trials.ends, self._first.decision
        replayed = replayed_before(self._first, ends) if ends else None
        if known.status == "optimal" or not self._seeds or self._interrupted or self._effort.over:
            return self._first, replayed
        found = self._searched()
        better = value_from(found[0].decision.objectives).key > value_from(known.objectives).key
        if better:
            return found
        placed = value_from(known.objectives).placed
        objectives = self._most.told(placed, known.objectives)
        return replace(self._first, decision=replace(known, objectives=objectives)), replayed

    def _searched(self) -> tuple[PlanOutcome, ReplayedSeeds | None]:
        """The best of several plans."""
        try:
            with interruptible():
                self._look()
                self._lift_cordons()
        except KeyboardInterrupt:
            self._interrupted = True
        for clean in self._best:
            for way in self._ways(clean):
                outcome = self._outcome(way)
                if outcome.waves.beyond:
                    continue
                replayed = self._replayed(outcome, way)
                if replayed is None or not replayed.driven:
                    return outcome, replayed
        raise AssertionError("a plan without evictions drives nobody off")

    def _ways(self, clean: Clean) -> Iterator[Clean]:
        """The plan in waves that are good to read, and as it was tried.

        When a user has waited long enough, the others are not replayed any more.
        """
        as_tried = clean if clean.tried is None else replace(clean, held=clean.tried)
        if as_tried is clean or not self._effort.late:
            yield clean
        if as_tried is not clean:
            yield as_tried

    def _replayed(self, outcome: PlanOutcome, way: Clean) -> ReplayedSeeds | None:
        """What the trials have said already, unless other waves came of what was added to them."""
        if way.held is not None:
            return replayed_before(outcome, way.held.ends)
        if way.tried is not None and _evictions(outcome.waves) == _evictions(way.tried.waves):
            return replayed_before(outcome, way.tried.ends)
        return scheduler_replay(outcome)

    def _look(self) -> None:
        """The first plan, few evictions for each pod, then others in turns and more on top.

        Few evictions for each pod are looked at however much the first plan took: no plan may be
        worse than these.
        """
        try:
            if self._clean_first:
                ends = tuple(self._trials.ends)
                planned = self._first.decision.steps
                clean = self._clean(planned, None, self._of_the_first)
                tried = Held(self._first.waves, ends) if ends else None
                self._add(replace(clean, tried=tried))
            else:
                self._offer(self._first.decision.steps, self._of_the_first)
                if self._cleaning.postponed:
                    again = replace(self._of_the_first, reasons={})
                    self._offer(self._first.decision.steps, again)
            if self._interrupted:
                return
            for steps in self._simple():
                self._offer_if_new(steps, replace(self._of_the_first, reasons={}))
            self._in_turns() if math.isinf(self._seconds) else self._in_rounds()
        except EffortOverError:
            self._out_of_time = True

    def _in_turns(self) -> None:
        """Series by turns: each goes on as long as there is somebody new to be left alone."""
        turns, done = [Series(homeless(self._problem)), Series(frozenset())], set[int]()
        for _ in range(ROUNDS):
            best = self._best[0]
            if self._effort.over or (id(best) in done and not turns):
                break
            if id(best) not in done:
                done.add(id(best))
                self._offer(self._solved(best.series, best.steps), best.series)
                continue
            series = turns.pop(0)
            if self._offer(self._solved(series), series):
                turns.append(series)
            series.seconds *= 2

    def _in_rounds(self) -> None:
        """Plans in which everything gets half as much time again from round to round.

        Nothing in a round depends on the limit, which only ends them: so more time finds whatever
        less would, and then maybe something better.
        """
        self._effort.counted = True
        whole, seconds = self._of_the_first, ROUND_SECONDS
        homes = replace(whole, spared=homeless(self._problem), reasons={})
        others = [homes, whole] if whole.reasons else [homes]
        best = self._best[0]
        self._extend(best, replace(best.series, seconds=seconds, trying=whole.trying))
        self._improve(seconds, whole.trying, IN_A_ROW)
        for row in count(IN_A_ROW):
            on_paper = Series(frozenset(), ON_PAPER * seconds, {}, whole.trying)
            self._offer_if_new(self._rearranged(on_paper, self._on_paper[1]), on_paper)
            self._improve(seconds, whole.trying, row)
            for series in list(others):
                if self._offer_if_new(self._solved(series), series):
                    self._improve(seconds, whole.trying, row)
                else:
                    others.remove(series)
            self._prove(PROVING * seconds)
            if self._all_placed:
                break
            seconds *= MORE
            for series in others:
                series.seconds *= MORE
                series.trying *= MORE
            whole = replace(whole, reasons={}, trying=MORE * whole.trying)

    def _improve(self, seconds: float, trying: float, row: int) -> None:
        """What was found last, which may lack but little to be the best, and then the best plan."""
        self._go_on(self._found[-1], seconds, trying, row)
        self._go_on(self._best[0], seconds, trying, 1)

    def _go_on(self, plan: Clean, seconds: float, trying: float, row: int) -> None:
        """From where the plan ends, or else more beside it, as long as that leads on."""
        for _ in range(row):
            if (id(plan), seconds) in self._improved:
                break
            self._improved.add((id(plan), seconds))
            known = len(self._found)
            series = replace(plan.series, seconds=seconds, trying=trying)
            self._offer_if_new(self._rearranged(series, plan.steps), series)
            if len(self._found) == known:
                self._extend(plan, series)
            plan = max((plan, *self._found[known:]), key=lambda each: each.candidate.key)

    def _extend(self, plan: Clean, series: Series) -> None:
        """More beside the plan: another time finds the same."""
        if id(plan) not in self._extended:
            self._extended.add(id(plan))
            self._offer_if_new(self._solved(series, plan.steps), series)

    def _offer_if_new(self, steps: tuple[Step, ...], series: Series) -> bool:
        """Try what was not tried with so many trials, if it is better on paper than the best.

        And say if it is.
        """
        key, best = frozenset(steps), self._best[0].candidate.value
        worth = worth_on_paper(self._problem, steps)
        self._on_paper = max(self._on_paper, (worth, steps), key=lambda each: each[0])
        better = worth > (best.placed, -best.cost)
        if better and self._offered.get(key, 0.0) < series.trying:
            self._offered[key] = series.trying
            self._offer(steps, series)
        return better

    def _prove(self, seconds: float) -> None:
        """How many pods of each priority any plan has beside those above of the best one."""
        best = self._best[0].candidate
        if self._proves:
            self._most.prove(best.value.placed, self._decision(best).objectives, seconds)

    @property
    def _all_placed(self) -> bool:
        """Whether no plan places more than the best one."""
        found = self._decision(self._best[0].candidate).objectives
        return all(level.proven for level in found if level.kind == "placed")

    def _simple(self) -> Iterator[tuple[Step, ...]]:
        """Few evictions for each pod that waits: what any plan has to beat."""
        cluster, first = self._first.before, self._first
        if len(cluster.pending) * len(cluster.nodes) > SIMPLE_CELLS:
            return
        until = replace(self._problem.options, until=self._effort.until)
        yield from few_evictions_each(
            replace(self._problem, options=until),
            first.judged,
            first.allowances,
            smallest_first=(True, False),
            exchanges=SIMPLE_EXCHANGES,
        )

    def _solved(self, series: Series, kept: Sequence[Step] = ()) -> tuple[Step, ...]:
        """Steps after those that are kept, without the evictions of the series."""
        options, first = self._problem.options, self._first
        start = check_steps(first.before, kept, first.judged).after if kept else first.before
        most = options.max_moves
        touched = frozenset(step.pod for step in kept)
        self._attempts += 1
        again = replace(
            options,
            seed=options.seed + self._attempts,
            spared=options.spared | series.spared | series.reasons.keys() | touched,
            max_moves=None if most is None else most - len(evicted_by(kept)),
        )
        if math.isinf(self._seconds):
            timed = again.within(min(series.seconds, self._effort.left))
        else:
            self._effort.check(series.seconds)
            timed = replace(again, time_limit=series.seconds, until=self._effort.until)
        found = decide(problem_of(start, timed, first.profile), first.judged, self._report)
        self._effort.spent += found.spent
        if self._proves and again.spared == options.spared and not kept:
            self._proof = found
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        return (*kept, *found.steps)

    def _rearranged(self, series: Series, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Steps to a state that is found from the one after these: most pods go where they went."""
        self._effort.check(series.seconds)
        self._attempts += 1
        first, options = self._first, self._problem.options
        left_alone = (series.spared | series.reasons.keys()).difference(evicted_by(steps))
        again = replace(
            options,
            spared=options.spared | left_alone,
            seed=options.seed + self._attempts,
            until=self._effort.until,
        )
        problem = problem_of(first.before, again, first.profile)
        counts, spent = route.rearranged(problem, counts_after(problem, steps), series.seconds)
        self._effort.spent += spent
        order = find_order(problem, counts, first.judged)
        return order.steps if isinstance(order, Order) else steps

    def _offer(self, steps: Sequence[Step], series: Series) -> bool:
        """Keep what is clean of the steps; whether there is somebody new to be left alone."""
        known = len(series.reasons)
        seconds = min(series.trying, self._effort.seconds - self._effort.spent)
        if not math.isinf(self._seconds):
            seconds = series.trying
        cleaned, held = self._cleaning.run(steps, series, seconds)
        if check_steps(self._first.before, cleaned, self._first.judged).good:
            clean = self._clean(cleaned, held, series)
            self._add(replace(clean, tried=self._cleaning.tried))
        return len(series.reasons) > known

    def _lift_cordons(self) -> None:
        """Carry the best plan out with fewer of them, as far as there is still time to try it.

        That takes from what is left for checking and writing down, and no plan from others.
        """
        best, limit = self._best[0], self._problem.options
        if best.held is None:
            return
        self._effort.counted = False
        self._effort.until = (self._effort.until + limit.until) / 2
        try:
            held = self._cleaning.with_fewer_cordons(best.steps)
        except EffortOverError:
            return
        if held is not None:
            self._found[self._found.index(best)] = replace(best, held=held)

    def _add(self, found: Clean) -> None:
        self._found.append(found)
        self._effort.needed = False

    def _clean(self, steps: tuple[Step, ...], held: Held | None, series: Series) -> Clean:
        first = self._first
        candidate = greedy(self._problem, first.judged, first.profile, steps)
        return Clean(steps, held, candidate, series, dict(series.reasons))

    @property
    def _best(self) -> list[Clean]:
        """What was found, the best first; of equally good plans the earlier one."""
        return sorted(self._found, key=lambda each: each.candidate.key, reverse=True)

    # The plan

    def _outcome(self, clean: Clean) -> PlanOutcome:
        """A clean plan in waves, without hops: these are not what was tried."""
        options = self._problem.options
        reasons = {**self._of_the_first.reasons, **clean.left_alone}
        evicted = evicted_by(clean.steps)
        left_alone = {pod: why for pod, why in reasons.items() if pod not in evicted}
        left_alone |= self._problem.left_alone
        problem = replace(self._problem, options=replace(options, hops=False))
        decision = self._decision(clean.candidate)
        outcome = outcome_of(problem, self._first.profile, decision, self._in_waves(clean))
        return replace(
            outcome, problem=replace(self._problem, left_alone=left_alone, options=options)
        )

    def _in_waves(self, clean: Clean) -> Waves | None:
        """The waves that were tried, and last what kube-scheduler then places by itself."""
        if clean.held is None:
            return None
        waves, added = clean.held.waves, clean.candidate.steps[len(clean.steps) :]
        return replace(waves, waves=(*waves.waves, *((added,) if added else ())))

    def _decision(self, found: Candidate) -> Decision:
        """What the first plan proves about all plans holds for this one, too."""
        first, trivial = self._proof, trivial_bound(self._problem)
        bound = coherent(found.value, bound_from(first.objectives), trivial)
        levels_found = objectives_from(self._problem, found.value, bound, found.broken)
        objectives = self._most.told(found.value.placed, levels_found)
        values = {level.name: level.value for level in first.objectives}
        same = all(level.value == values[level.name] for level in objectives)
        optimal = same and first.status == "optimal" and not self._interrupted
        stopped = (
            "timeLimit" if self._out_of_time or self._effort.over else first.stopped or "rounds"
        )
        return replace(
            first,
            status="optimal" if optimal else "feasible",
            steps=found.steps,
            objectives=objectives,
            stopped=None if optimal else "interrupted" if self._interrupted else stopped,
            on_paper_only=False,
            notes=(*first.notes, NOTE),
        )


def _evictions(waves: Waves) -> list[WavePlan]:
    """What a trial carries out, as far as anybody is evicted or cordoned."""
    return [wave for wave in departing(waves) if wave.evictions or wave.cordons]
