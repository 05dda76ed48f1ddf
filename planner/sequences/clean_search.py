"""Plans that drive nobody off: how they are found, tried and compared.

Steps come from the solver, after steps that are kept or from a state that is improved. What is
clean of them (see `cleaning`) is kept, and a better one on paper is tried once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.replay import check_steps
from planner.replay.steps import Step
from planner.sequences.candidate import Candidate, greedy
from planner.sequences.clean_plans import Clean, Held, Series, worth_on_paper
from planner.sequences.cleaning import Cleaning, counts_after
from planner.sequences.decide import decide
from planner.sequences.decision import Decision, bound_from, objectives_from
from planner.sequences.draft import evicted_by
from planner.sequences.drive_offs import DriveOffs, Effort
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.most_beside import MostBeside
from planner.sequences.order import Order, find_order
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import problem_of
from planner.sequences.scheduler_replay import JUDGING_SECONDS, judging_seeds
from planner.sequences.value import coherent, trivial_bound
from planner.solver import route
from planner.solver.problem.solution import Level
from planner.solver.progress import Report
from planner_models.plan import Stop

CLEANING = 4
"""Times as long as it takes to find a plan: so long it may take until it drives nobody off."""
LAST_SHARE, LEAST_SECONDS = 0.5, 0.25
"""The part of what is left that a state is improved for at the end, and the least that it takes:
the rest is for trials."""
LESS = 0.25
"""The part of the time for a proof beside what is on paper only."""
SIMPLE_CELLS = 100_000
"""Waiting pods times nodes up to which few evictions for each of them are tried as well."""
SIMPLE_EXCHANGES = 6_000
"""So many are looked at for that, before all other plans wait too long: two seconds or so."""
NOTE = (
    "evictions whose replacements could drive off pods of lower priority were left out; planner "
    "evict looks for cordons that prevent it"
)


class CleanSearch:
    """What was found in one search, and the ways to find more."""

    def __init__(
        self,
        first: PlanOutcome,
        report: Report,
        effort: Effort,
        seconds: float,
        spared: frozenset[int],
    ) -> None:
        """`spared` are pods that no plan evicts; the first one may spare more, for budgets."""
        self.first = first
        self.seconds = seconds
        """What the first plan got, if that does not depend on the limit."""
        self._proof = first.decision
        """What is known about all plans."""
        self._proves = first.problem.options.spared == spared
        self.problem = first.problem
        self._report = report
        self.effort = effort
        self.seeds = judging_seeds(first.before, first.steps.evictions)
        self.trials = DriveOffs(first.problem, first.profile, first.allowances, self.seeds, effort)
        self.cleaning = Cleaning(first, self.trials)
        self.of_the_first = Series(frozenset())
        if not math.isinf(seconds):
            self.of_the_first.seconds = seconds
            self.of_the_first.trying = max(CLEANING * seconds, 2 * JUDGING_SECONDS)
        self._offered: dict[frozenset[Step], float] = {}
        """By steps that were tried, with how many seconds of trials."""
        self.on_paper = worth_on_paper(self.problem, first.decision.steps), first.decision.steps
        """The best steps of all, whether they are clean or not, after their worth."""
        self._attempts = 0
        self.most = MostBeside(first.problem, effort)
        self.found: list[Clean] = [self.clean((), None, Series(frozenset()))]
        """What kube-scheduler does alone is clean: whatever happens, there is a plan."""
        self.interrupted = first.decision.stopped == "interrupted"
        self.out_of_time = False
        self.nothing_left = False
        """Whether it ended since no plan places more."""

    @property
    def best(self) -> list[Clean]:
        """What was found, the best first; of equally good plans the earlier one."""
        return sorted(self.found, key=lambda each: each.candidate.key, reverse=True)

    @property
    def all_placed(self) -> bool:
        """Whether no plan places more than the best one."""
        return _all_placed(self.decision(self.best[0].candidate).objectives)

    def simple(self) -> Iterator[tuple[Step, ...]]:
        """Few evictions for each pod that waits: what any plan has to beat."""
        cluster, first = self.first.before, self.first
        if len(cluster.pending) * len(cluster.nodes) > SIMPLE_CELLS:
            return
        until = replace(self.problem.options, until=self.effort.until)
        yield from few_evictions_each(
            replace(self.problem, options=until),
            first.judged,
            first.allowances,
            smallest_first=(True, False),
            exchanges=SIMPLE_EXCHANGES,
        )

    def solved(self, series: Series, kept: Sequence[Step] = ()) -> tuple[Step, ...]:
        """Steps after those that are kept, without the evictions of the series."""
        options, first = self.problem.options, self.first
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
        if math.isinf(self.seconds):
            timed = again.within(min(series.seconds, self.effort.left))
        else:
            self.effort.check(series.seconds)
            timed = replace(again, time_limit=series.seconds, until=self.effort.until)
        found = decide(problem_of(start, timed, first.profile), first.judged, self._report)
        self.effort.spent += found.spent
        if self._proves and again.spared == options.spared and not kept:
            self._proof = found
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        return (*kept, *found.steps)

    def rearranged(self, series: Series, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Steps to a state that is found from the one after these: most pods go where they went."""
        seconds = self._granted(series.seconds)
        self._attempts += 1
        first, options = self.first, self.problem.options
        left_alone = (series.spared | series.reasons.keys()).difference(evicted_by(steps))
        again = replace(
            options,
            spared=options.spared | left_alone,
            seed=options.seed + self._attempts,
            until=self.effort.until,
        )
        problem = problem_of(first.before, again, first.profile)
        start = counts_after(problem, steps)
        counts, spent = route.rearranged(problem, start, seconds, self.most.known)
        self.effort.spent += spent
        order = find_order(problem, counts, first.judged)
        return order.steps if isinstance(order, Order) else steps

    def _granted(self, seconds: float) -> float:
        """So many, or near the end of the limit a part of what is left that is worth a trial."""
        left = LAST_SHARE * (self.effort.seconds - self.effort.spent)
        granted = min(seconds, max(left, LEAST_SECONDS))
        self.effort.check(granted)
        return granted

    def offer_if_new(self, steps: tuple[Step, ...], series: Series) -> bool:
        """Try what was not tried with so many trials, if it is better on paper than the best.

        And say if it is.
        """
        key, best = frozenset(steps), self.best[0].candidate.value
        worth = worth_on_paper(self.problem, steps)
        self.on_paper = max(self.on_paper, (worth, steps), key=lambda each: each[0])
        better = worth > (best.placed, -best.cost)
        if better and self._offered.get(key, 0.0) < series.trying:
            self._offered[key] = series.trying
            self.offer(steps, series)
        return better

    def offer(self, steps: Sequence[Step], series: Series) -> bool:
        """Keep what is clean of the steps; whether there is somebody new to be left alone."""
        known = len(series.reasons)
        seconds = min(series.trying, self.effort.seconds - self.effort.spent)
        if not math.isinf(self.seconds):
            seconds = series.trying
        cleaned, held = self.cleaning.run(steps, series, seconds)
        if check_steps(self.first.before, cleaned, self.first.judged).good:
            clean = self.clean(cleaned, held, series)
            self.add(replace(clean, tried=self.cleaning.tried))
        return len(series.reasons) > known

    def add(self, found: Clean) -> None:
        self.found.append(found)
        self.effort.needed = False

    def clean(self, steps: tuple[Step, ...], held: Held | None, series: Series) -> Clean:
        first = self.first
        candidate = greedy(self.problem, first.judged, first.profile, steps)
        return Clean(steps, held, candidate, series, dict(series.reasons))

    def prove(self, seconds: float) -> None:
        """How many pods of each priority any plan has beside those above of the best one.

        And of the best steps on paper, which also says where nodes are filled badly there.
        """
        if not self._proves:
            return
        best, most = self.best[0].candidate, trivial_bound(self.problem).placed
        told = [each.bound for each in self.decision(best).objectives]
        for steps in (best.steps, self.on_paper[1]):
            self.most.learn(counts_after(self.problem, steps))
        self.most.prove(best.value.placed, tuple(told[: len(most)]), seconds)
        self.most.prove(self.on_paper[0][0], most, LESS * seconds)

    def decision(self, found: Candidate) -> Decision:
        """What the first plan proves about all plans holds for this one, too."""
        first, trivial = self._proof, trivial_bound(self.problem)
        bound = coherent(found.value, bound_from(first.objectives), trivial)
        levels_found = objectives_from(self.problem, found.value, bound, found.broken)
        objectives = self.most.told(found.value.placed, levels_found)
        values = {level.name: level.value for level in first.objectives}
        same = all(level.value == values[level.name] for level in objectives)
        optimal = same and first.status == "optimal" and not self.interrupted
        return replace(
            first,
            status="optimal" if optimal else "feasible",
            steps=found.steps,
            objectives=objectives,
            stopped=None if optimal else self.why_ended(first.stopped, objectives),
            on_paper_only=False,
            notes=(*first.notes, NOTE),
        )

    def why_ended(self, first: Stop | None, objectives: Sequence[Level]) -> Stop:
        """Why not all of these are proven; the first plan may have its own reason."""
        if self.interrupted:
            return "interrupted"
        if self.nothing_left and _all_placed(objectives):
            return "placed"
        return "timeLimit" if self.out_of_time or self.effort.over else first or "rounds"


def _all_placed(objectives: Sequence[Level]) -> bool:
    """Whether no plan places more."""
    return all(level.proven for level in objectives if level.kind == "placed")
