"""From a cluster to a plan: solve, order, group into waves, check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from planner.cluster import Cluster
from planner.disruption.budgets import Allowances, allowances
from planner.replay import Step, Verification, check_final, check_steps
from planner.rules import RELAXABLE_PLUGINS
from planner.scheduler.profile import Profile
from planner.sequences.decide import decide
from planner.sequences.decision import Decision
from planner.sequences.hops import with_hops
from planner.sequences.outcome import PlanOutcome
from planner.sequences.waves import Waves, guess_waves, plan_waves
from planner.solver.problem.options import SchedulerArgs, SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.progress import Report, silent

CHECKED_TWICE = 1_000
"""Evictions up to which the steps are also checked with evicted pods still terminating."""
SURGING = frozenset({"Deployment", "ReplicaSet", "ReplicationController"})
"""Controllers that can run one pod more for a while; a StatefulSet's pods have names to keep."""


class PlanRefusedError(AssertionError):
    """The independent checker refuses what was decided: a bug of planner, never shown as a plan."""


def plan_outcome(
    cluster: Cluster, options: SolveOptions, profile: Profile, progress: Report | None = None
) -> PlanOutcome:
    """The best plan, checked step by step by the scheduler that has to carry it out."""
    return plan_for(problem_of(cluster, options, profile), profile, progress or silent)


def problem_of(cluster: Cluster, options: SolveOptions, profile: Profile) -> Problem:
    """What the scheduler's configuration adds to the pods' own rules counts for the solver, too."""
    args = profile.resolved.args
    scheduler = SchedulerArgs(
        pod_topology_spread=args.pod_topology_spread,
        node_affinity=args.node_affinity,
        inter_pod_affinity=args.inter_pod_affinity,
    )
    return build_problem(cluster, replace(options, scheduler=scheduler))


def plan_for(problem: Problem, profile: Profile, report: Report) -> PlanOutcome:
    """The same for a problem that is there already."""
    judged = relaxed(profile) if problem.options.relax else profile
    decision = decide(problem, judged, report, counted=profile)
    return outcome_of(problem, profile, decision)


def outcome_of(
    problem: Problem, profile: Profile, decision: Decision, waves: Waves | None = None
) -> PlanOutcome:
    """What was decided, in waves and checked; in the waves that are given, if some are."""
    judged = relaxed(profile) if problem.options.relax else profile
    cluster = problem.cluster
    limits = allowances(cluster, problem.options.max_unavailable)
    waves, checked = _checked(problem, judged, decision, limits, waves)
    final = check_final(cluster, checked.after, profile, displaced=_displaced(checked, problem))
    if final.lost or final.overcommitted:
        raise PlanRefusedError("the plan's final state has lost pods or overcommitted nodes")
    outcome = PlanOutcome(
        problem=problem,
        profile=profile,
        judged=judged,
        decision=decision,
        waves=waves,
        allowances=limits,
        steps=checked,
        final=final,
        while_terminating=_while_terminating(problem, judged, waves, checked),
    )
    _check_claims(outcome)
    return outcome


def _check_claims(outcome: PlanOutcome) -> None:
    """What a plan places and breaks is counted twice: when it is made, and on its final state."""
    placed = _placed(outcome)
    weight = sum(each.count - each.allowed for each in outcome.broken)
    for objective in outcome.decision.objectives:
        if objective.kind == "placed" and objective.value != placed[objective.name]:
            raise PlanRefusedError(
                f"the plan claims to place {objective.value} pods ({objective.name}), and places "
                f"{placed[objective.name]}"
            )
        if objective.name == "broken" and objective.value != weight:
            raise PlanRefusedError(
                f"the plan claims to break rules of weight {objective.value}, and breaks {weight}"
            )


def _placed(outcome: PlanOutcome) -> Counter[str]:
    """Pods that end with a node, by the names of the levels that count them."""
    problem, node_of = outcome.problem, outcome.after.node_of
    pods = [pod for waiting in problem.waiting.values() for pod in waiting]
    if problem.options.preempt:
        pods += [pod for running in problem.movable.values() for pod in running]
    return Counter(
        f"placed {problem.cluster.pods[pod].priority}" for pod in pods if node_of[pod] >= 0
    )


def relaxed(profile: Profile) -> Profile:
    """The profile without the rules that `--relax` may break."""
    kept = tuple(plugin for plugin in profile.filters if plugin.name not in RELAXABLE_PLUGINS)
    return replace(profile, filters=kept)


def _checked(
    problem: Problem,
    profile: Profile,
    decision: Decision,
    limits: Allowances,
    given: Waves | None,
) -> tuple[Waves, Verification]:
    """Waves whose order is legal, with hops if those are legal, too."""
    if given is not None:
        return given, _legal(problem, check_steps(problem.cluster, given.steps, profile))
    hopping = _hopping(problem, profile, decision)
    if hopping is not None:
        waves, checked = waved(problem, profile, hopping, limits)
        if checked.good:
            return waves, checked
    waves, checked = waved(problem, profile, decision.steps, limits)
    return waves, _legal(problem, checked)


def _legal(problem: Problem, checked: Verification) -> Verification:
    if checked.faults:
        fault = checked.faults[0]
        pod = problem.cluster.pods[fault.pod].key
        node = problem.cluster.nodes[fault.node].name
        raise PlanRefusedError(f"a step fails its check: {pod} on {node}: {fault.reason}")
    return checked


def _hopping(problem: Problem, profile: Profile, decision: Decision) -> tuple[Step, ...] | None:
    """The steps with temporary hops; each is one more eviction, and has to be allowed as such."""
    options = problem.options
    if not options.hops:
        return None
    evictions = sum(step.action == "evict" for step in decision.steps)
    most = None if options.max_moves is None else options.max_moves - evictions
    return with_hops(problem.cluster, decision.steps, profile, most)


def waved(
    problem: Problem, profile: Profile, steps: Sequence[Step], limits: Allowances
) -> tuple[Waves, Verification]:
    """A guess if it holds, otherwise waves that ask at every step."""
    cluster, may_go, surge = problem.cluster, _displaceable(problem), _surging(problem)
    guess = None if surge else guess_waves(cluster, steps, limits)
    if guess is not None:
        checked = check_steps(cluster, guess.steps, profile, displaced=may_go)
        if checked.good:
            return guess, checked
    waves = plan_waves(cluster, steps, limits, profile, surge=surge)
    return waves, check_steps(cluster, waves.steps, profile, displaced=may_go)


def _surging(problem: Problem) -> frozenset[int]:
    """With --surge, pods of controllers to which one pod is as good as another."""
    if not problem.options.surge:
        return frozenset()
    cluster = problem.cluster
    return frozenset(
        pod
        for (group, _), pods in problem.movable.items()
        if cluster.workloads[group].kind in SURGING
        for pod in pods
    )


def _displaceable(problem: Problem) -> list[int]:
    """Running pods that may end without a node, which only `--preempt` allows."""
    groups = problem.displaceable
    return [pod for (g, _), pods in problem.movable.items() if g in groups for pod in pods]


def _displaced(checked: Verification, problem: Problem) -> list[int]:
    return [pod for pod in _displaceable(problem) if checked.after.node_of[pod] < 0]


def _while_terminating(
    problem: Problem, profile: Profile, waves: Waves, checked: Verification
) -> bool | None:
    """Whether the steps also hold while evicted pods are still there.

    None if none is evicted, or if there are too many to check everything twice.
    """
    if not 0 < checked.evictions <= CHECKED_TWICE:
        return None
    may_go = _displaceable(problem)
    return check_steps(
        problem.cluster, waves.steps, profile, terminating=True, displaced=may_go
    ).good
