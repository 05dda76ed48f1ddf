"""What an administrator would try first, and nothing else: few evictions for each waiting pod.

For questions about very many pods where a search over all arrangements would take minutes and few
of them wait. Nothing is proven about such a plan; it is checked like any other.
"""

from __future__ import annotations

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.scheduler.profile import Profile
from planner.sequences.candidate import greedy
from planner.sequences.decision import Decision, objectives_from
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.outcome import PlanOutcome
from planner.sequences.plan import outcome_of, problem_of
from planner.sequences.value import coherent, trivial_bound
from planner.solver.problem.options import SolveOptions
from planner.solver.progress import Report


def simple_plan(
    cluster: Cluster, options: SolveOptions, profile: Profile, report: Report | None = None
) -> PlanOutcome:
    """Waiting pods get a node in the order of the queue, by few evictions each."""
    problem = problem_of(cluster, options, profile)
    plans = few_evictions_each(problem, profile, allowances(cluster), smallest_first=(False,))
    best = greedy(problem, profile, profile, next(plans))
    trivial = trivial_bound(problem)
    bound = coherent(best.value, trivial, trivial)
    objectives = objectives_from(problem, best.value, bound, best.broken)
    decision = Decision("feasible", best.steps, objectives, stopped="rounds")
    return outcome_of(problem, profile, decision)
