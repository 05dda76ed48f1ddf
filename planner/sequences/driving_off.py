"""Plans whose replacements drive nobody off.

A replacement that no node takes at its moment may preempt pods of lower priority, and then the plan
ends otherwise than it says. So a first plan is tried with kube-scheduler's own choices, and others
are looked for from there (see `careful`).
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.cluster import Cluster
from planner.scheduler.profile import Profile
from planner.sequences.careful import Careful
from planner.sequences.drive_offs import Effort
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import plan_for, problem_of
from planner.sequences.scheduler_replay import (
    ReplayedSeeds,
    judging_seeds,
    may_drive_off,
    scheduler_replay,
)
from planner.sequences.within_budgets import plan_within_budgets
from planner.solver import route
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem
from planner.solver.progress import Report

FIRST_SHARE = 0.2
"""The part of the time limit for the first plan, where replacements could drive others off."""
FIRST_CLOCK = 0.5
"""What has passed of a user's limit when the first plan is cut short: all others come from it, so
it is not given up because the machine is busy."""
TRYING_SECONDS, LEAST_CLOCK = 0.7, 0.4
"""Trials of it take about so long, however short the limit: that is left for them, as far as the
first plan gets such a part all the same."""
RESERVE_SHARE, RESERVE_SECONDS = 0.1, 3.5
"""What is left for checking and writing down, after all plans with their trials: a part of the
limit, or so much if that is less."""
FIRST_SECONDS, FIRST_CELL_SECONDS = 0.5, 4e-6
"""What it gets at the most where only room decides: so much, and more for each group and node."""
HINT_LIMIT = 2_000
"""Pods times nodes up to which it is tried what --rebalance would reach, for a hint."""


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
    seconds = first_seconds(problem)
    first = plan_within_budgets(cluster, _for_the_first(options, seconds), profile, report)
    if not math.isinf(seconds) and not judging_seeds(cluster, first.steps.evictions):
        seconds = math.inf
        first = plan_within_budgets(cluster, _for_the_first(options, seconds), profile, report)
    in_full = replace(first.problem.options, time_limit=options.time_limit, until=options.until)
    first = replace(first, problem=replace(first.problem, options=in_full))
    limit = options.time_limit
    limit -= min(limit * RESERVE_SHARE, RESERVE_SECONDS)
    until = options.until - (options.time_limit - limit)
    effort = Effort(max(limit - first.decision.spent, 0.0), until)
    return Careful(first, report, effort, seconds, options.spared).run()


def first_seconds(problem: Problem) -> float:
    """What the first plan gets at the most, whatever the limit: so all that follows is the same.

    Where more than room decides, any part of the limit is worth it.
    """
    if not route.any_order_works(problem):
        return math.inf
    return FIRST_SECONDS + FIRST_CELL_SECONDS * problem.cell_count


def _for_the_first(options: SolveOptions, most: float) -> SolveOptions:
    """A part of the work, and a larger one of the clock."""
    seconds = options.time_limit
    passed = max(LEAST_CLOCK * seconds, min(FIRST_CLOCK * seconds, seconds - TRYING_SECONDS))
    share = FIRST_SHARE if math.isinf(most) else FIRST_CLOCK
    cut_short = options.until - (seconds - passed)
    return replace(options, time_limit=min(most, seconds * share), until=cut_short)


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
