"""Plans whose replacements drive nobody off.

A replacement that no node takes at its moment may preempt pods of lower priority, and then the plan
ends otherwise than it says. So plans are tried with kube-scheduler's own choices, and one that
leads to a preemption loses the evictions that do, until it is clean. Others are looked for beside
it, and all are compared by what is left of them: no plan is given up for one that places more on
paper and less when it is carried out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.cluster import Cluster
from planner.interrupts import interruptible
from planner.replay import check_steps
from planner.replay.steps import NOBODY, Step
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.candidate import Candidate, greedy
from planner.sequences.clean_plans import Clean, Held, Series
from planner.sequences.decide import decide
from planner.sequences.decision import Decision, bound_from, objectives_from, value_from
from planner.sequences.draft import Draft, evicted_by
from planner.sequences.drive_offs import DriveOff, DriveOffs, Effort
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.held_room import waves_with_held_room
from planner.sequences.open_room import OpenRoom
from planner.sequences.order import Order, find_order
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import outcome_of, plan_for, problem_of, waved
from planner.sequences.scheduler_replay import (
    ReplayedSeeds,
    judging_seeds,
    may_drive_off,
    replayed_before,
    scheduler_replay,
)
from planner.sequences.value import coherent, trivial_bound
from planner.sequences.waves import Waves, cut_waves, guess_waves
from planner.sequences.within_budgets import plan_within_budgets
from planner.solver import route
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem
from planner.solver.progress import Report
from planner.words import NAMED, conjoined, count_of

FIRST_SHARE = 0.2
"""The part of the time limit for the first plan, where replacements could drive others off."""
FIRST_CLOCK = 0.5
"""What has passed of a user's limit when the first plan is cut short: all others come from it, so
it is not given up because the machine is busy."""
ALL_SHARE = 0.9
"""The part for all plans with their trials: the rest is for checking and writing down."""
ROUNDS = 30
"""So many further plans are looked at."""
TRIALS_EACH = 2
"""About so many trials it takes until a preemption and those that come to light then are gone."""
HINT_LIMIT = 2_000
"""Pods times nodes up to which it is tried what --rebalance would reach, for a hint."""
SIMPLE_CELLS = 100_000
"""Waiting pods times nodes up to which few evictions for each of them are tried as well."""
HOLDING_SECONDS = 3e-6
"""About what it takes to find such an order, for each wave and each pod of the steps."""
CLOSED = 2
"""How room is held: not at all, where it is needed later, or by closing all other room."""
NOTE = (
    "evictions whose replacements could drive off pods of lower priority were left out; planner "
    "evict looks for cordons that prevent it"
)


def plan_without_preemption(
    cluster: Cluster, options: SolveOptions, profile: Profile, report: Report
) -> tuple[PlanOutcome, ReplayedSeeds | None]:
    """The best plan that leads to no preemption, as far as it can be tried, and its trials.

    With `--preempt`, `--relax` and `--surge` the steps are not those that kube-scheduler takes.
    """
    problem = problem_of(cluster, options, profile)
    outcome, replayed = _planned(problem, profile, report)
    levels = route.placed_beside(problem, outcome.decision.objectives)
    return replace(outcome, decision=replace(outcome.decision, objectives=levels)), replayed


def _planned(
    problem: Problem, profile: Profile, report: Report
) -> tuple[PlanOutcome, ReplayedSeeds | None]:
    cluster, options = problem.cluster, problem.options
    careful = options.rebalance and not (options.relax or options.surge or options.preempt)
    if not careful or not may_drive_off(problem):
        first = plan_for(problem, profile, report)
        outcome = plan_within_budgets(cluster, options, profile, report, first=first)
        tried = not (options.relax or options.surge)
        return outcome, scheduler_replay(outcome) if tried else None
    first = plan_within_budgets(cluster, _for_the_first(options), profile, report)
    in_full = replace(first.problem.options, time_limit=options.time_limit, until=options.until)
    first = replace(first, problem=replace(first.problem, options=in_full))
    limit = options.time_limit * ALL_SHARE
    until = options.until - (options.time_limit - limit)
    effort = Effort(max(limit - first.decision.spent, 0.0), until)
    search = _Careful(first, report, effort)
    return search.run()


def _for_the_first(options: SolveOptions) -> SolveOptions:
    """A part of the work, and a larger one of the clock."""
    seconds = options.time_limit
    cut_short = options.until - seconds * (1 - FIRST_CLOCK)
    return replace(options, time_limit=seconds * FIRST_SHARE, until=cut_short)


def with_rebalance(outcome: PlanOutcome, report: Report) -> PlanOutcome | None:
    """What --rebalance would reach where something is left undone, tried if that is quick."""
    options, cluster = outcome.problem.options, outcome.before
    wanting = outcome.changed.unplaced or outcome.final.remaining
    if options.rebalance or options.relax or options.preempt or not wanting:
        return None
    if len(cluster.nodes) * len(cluster.pods) > HINT_LIMIT:
        return None
    asked = replace(options, rebalance=True)
    return plan_without_preemption(cluster, asked, outcome.profile, report)[0]


class _Careful:
    """The search for a clean plan, after a first one that may not be or may not be the best."""

    def __init__(self, first: PlanOutcome, report: Report, effort: Effort) -> None:
        self._first = first
        self._problem = first.problem
        self._report = report
        self._effort = effort
        self._seeds = judging_seeds(first.before, first.steps.evictions)
        self._trials = DriveOffs(
            first.problem, first.profile, first.allowances, self._seeds, effort
        )
        self._of_the_first = Series(frozenset())
        self._found: list[Clean] = [self._clean((), None, Series(frozenset()))]
        """What kube-scheduler does alone is clean: whatever happens, there is a plan."""
        self._interrupted = first.decision.stopped == "interrupted"
        self._clean_first = False

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
        return found if better else (self._first, replayed)

    def _searched(self) -> tuple[PlanOutcome, ReplayedSeeds | None]:
        """The best of several plans."""
        try:
            with interruptible():
                self._look()
        except KeyboardInterrupt:
            self._interrupted = True
        for clean in self._best:
            outcome = self._outcome(clean)
            if outcome.waves.beyond:
                continue
            if clean.held is not None:
                return outcome, replayed_before(outcome, clean.held.ends)
            replayed = scheduler_replay(outcome)
            if replayed is None or not replayed.driven:
                return outcome, replayed
        raise AssertionError("a plan without evictions drives nobody off")

    def _look(self) -> None:
        """The first plan, few evictions for each pod, then others in turns and more on top.

        Few evictions for each pod are looked at however much the first plan took: no plan may be
        worse than these.
        """
        whole, homes = Series(frozenset()), Series(self._homeless())
        if self._clean_first:
            planned = self._first.decision.steps
            self._found.append(self._clean(planned, None, self._of_the_first))
        else:
            self._offer(self._first.decision.steps, self._of_the_first)
        if self._interrupted:
            return
        for steps in self._simple():
            if self._effort.late:
                break
            self._offer(steps, Series(frozenset()))
        turns, done = [homes, whole], set[int]()
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

    def _simple(self) -> Iterator[Sequence[Step]]:
        """Few evictions for each pod that waits: what any plan has to beat."""
        cluster = self._first.before
        if len(cluster.pending) * len(cluster.nodes) <= SIMPLE_CELLS:
            first = self._first
            yield from few_evictions_each(
                self._problem, first.judged, first.allowances, smallest_first=(True, False)
            )

    def _homeless(self) -> frozenset[int]:
        """Pods that no other node has room for now: who could drive others off in their place."""
        cluster = self._first.before
        room = OpenRoom(self._problem, SchedulingState(cluster))
        lowest = min(cluster.groups[int(g)].priority for g in cluster.group_of[cluster.running])
        return frozenset(
            pod
            for (group, node), pods in self._problem.movable.items()
            if cluster.groups[group].priority > lowest and not room.elsewhere(group, node)
            for pod in pods
        )

    def _solved(self, series: Series, kept: Sequence[Step] = ()) -> tuple[Step, ...]:
        """Steps after those that are kept, without the evictions of the series."""
        options, first = self._problem.options, self._first
        start = check_steps(first.before, kept, first.judged).after if kept else first.before
        most = options.max_moves
        touched = frozenset(step.pod for step in kept)
        again = replace(
            options,
            spared=options.spared | series.spared | series.reasons.keys() | touched,
            max_moves=None if most is None else most - len(evicted_by(kept)),
        )
        timed = again.within(min(series.seconds, self._effort.left))
        found = decide(problem_of(start, timed, first.profile), first.judged, self._report)
        self._effort.spent += found.spent
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        return (*kept, *found.steps)

    def _offer(self, steps: Sequence[Step], series: Series) -> bool:
        """Keep what is clean of the steps; whether there is somebody new to be left alone."""
        known = len(series.reasons)
        cleaned, held = self._cleaned(steps, series)
        if check_steps(self._first.before, cleaned, self._first.judged).good:
            self._found.append(self._clean(cleaned, held, series))
        return len(series.reasons) > known

    def _clean(self, steps: tuple[Step, ...], held: Held | None, series: Series) -> Clean:
        first = self._first
        candidate = greedy(self._problem, first.judged, first.profile, steps)
        return Clean(steps, held, candidate, series, dict(series.reasons))

    @property
    def _best(self) -> list[Clean]:
        """What was found, the best first; of equally good plans the earlier one."""
        return sorted(self._found, key=lambda each: each.candidate.key, reverse=True)

    def _cleaned(
        self, steps: Sequence[Step], series: Series
    ) -> tuple[tuple[Step, ...], Held | None]:
        """The steps without the evictions that lead to a preemption; at last that is all of them.

        Where only room decides, room is held for whom it is meant before anything is given up, and
        all other room is closed if that is not enough. Where it is not seen which eviction did it,
        the last one goes. Where nobody waits any longer and there is another plan, all of them go.
        """
        draft, hold = Draft(self._first.before, steps), 0
        while draft.evicted:
            waves = self._held(draft.steps, hold) if hold else self._waves_of(draft.steps)
            driven = () if waves is None else self._trials.in_waves(waves)
            if driven is None and waves is not None and hold:
                moves = tuple(step for step in waves.steps if step.pod != NOBODY)
                return moves, Held(waves, tuple(self._trials.ends))
            if driven is None:
                break
            if hold < CLOSED and self._may_hold(draft):
                hold += 1
                continue
            if self._effort.late and len(self._found) > 1:
                return (), None
            for pod in self._guilty(draft, driven[: self._at_once(draft, driven, hold=hold > 0)]):
                series.reasons |= self._reasons(pod, driven)
                draft = draft.without(pod)
            draft = self._ordered(draft)
        return draft.steps, None

    def _at_once(self, draft: Draft, driven: Sequence[DriveOff], *, hold: bool) -> int:
        """How many preemptions are looked at before the next trial.

        One, since the others may follow from it, unless there is no time for so many trials.
        """
        if self._effort.over or (self._trials.slow and not hold):
            return len(driven)
        if not hold:
            return 1
        trials = max(1, self._trials.affordable(len(draft.evicted)))
        return math.ceil(TRIALS_EACH * len(driven) / trials)

    def _may_hold(self, draft: Draft) -> bool:
        """Whether nothing but room decides, and there is time to try what cordons lead to."""
        affordable = self._trials.affords(len(draft.evicted))
        return affordable and route.any_order_works(self._problem)

    def _ordered(self, draft: Draft) -> Draft:
        """The same in an order in which every landing has room, where there is one."""
        if draft.fits_in_order:
            return draft
        cluster, counts = self._first.before, Counter(self._problem.current)
        for step in draft.steps:
            group = int(cluster.group_of[step.pod])
            if step.evicts:
                counts[group, int(cluster.node_of[step.pod])] -= 1
            if step.lands:
                counts[group, step.node] += 1
        order = find_order(self._problem, +counts, self._first.judged)
        return Draft(cluster, order.steps) if isinstance(order, Order) else draft

    def _guilty(self, draft: Draft, driven: Sequence[DriveOff]) -> list[int]:
        """For each preemption one eviction without which it may not happen.

        Who was evicted and preempts; otherwise who made room where others were driven off, the
        one that costs least; otherwise who is driven off.
        """
        node_of, found = self._first.before.node_of, list[int]()
        for each in driven:
            evicted = draft.evicted
            pods = [pod for pod in evicted if pod == each.preemptor]
            pods = pods or [pod for pod in evicted if int(node_of[pod]) == each.node]
            pods = pods or [pod for pod in evicted if pod == each.victim] or evicted[-1:]
            found += [max(pods, key=lambda pod: self._left_by(draft.without(pod)))]
        return list(dict.fromkeys(found)) or draft.evicted[-1:]

    def _left_by(self, draft: Draft) -> tuple[int, ...]:
        placed = draft.placed
        return tuple(placed[priority] for priority in self._problem.priorities)

    def _reasons(self, pod: int, driven: Sequence[DriveOff]) -> dict[int, str]:
        """Who is left alone from now on: the pod, with those like it on its node."""
        cluster = self._first.before
        names = sorted({cluster.pods[each.victim].key for each in driven})
        whom = conjoined(names) if len(names) <= NAMED else count_of(len(names), "pod")
        text = f"its eviction could make a waiting pod drive off {whom or 'others'}"
        cell = (int(cluster.group_of[pod]), int(cluster.node_of[pod]))
        return dict.fromkeys(self._problem.movable.get(cell, ()), text)

    def _held(self, steps: Sequence[Step], hold: int) -> Waves | None:
        """In waves in which cordons hold room for whom it is meant; None as below."""
        first = self._first
        waves = waves_with_held_room(self._problem, steps, closed=hold == CLOSED)
        self._effort.spent += HOLDING_SECONDS * len(waves or ()) * len({s.pod for s in steps})
        return None if waves is None else cut_waves(first.before, waves, first.allowances)

    def _waves_of(self, steps: Sequence[Step]) -> Waves | None:
        """None if the steps are not legal."""
        first = self._first
        if route.any_order_works(self._problem):
            return guess_waves(first.before, steps, first.allowances)
        waves, checked = waved(self._problem, first.judged, steps, first.allowances)
        return waves if checked.good else None

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
        first, trivial = self._first.decision, trivial_bound(self._problem)
        bound = coherent(found.value, bound_from(first.objectives), trivial)
        objectives = objectives_from(self._problem, found.value, bound, found.broken)
        values = {level.name: level.value for level in first.objectives}
        same = all(level.value == values[level.name] for level in objectives)
        optimal = same and first.status == "optimal" and not self._interrupted
        stopped = "timeLimit" if self._effort.over else first.stopped or "rounds"
        return replace(
            first,
            status="optimal" if optimal else "feasible",
            steps=found.steps,
            objectives=objectives,
            stopped=None if optimal else "interrupted" if self._interrupted else stopped,
            on_paper_only=False,
            notes=(*first.notes, NOTE),
        )
