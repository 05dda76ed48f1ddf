"""The `EvictionPlan` document out of what was found and tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.descheduler.baselines import baselines, too_large
from planner.documents.broken_rules import describe
from planner.documents.descheduler import baseline
from planner.documents.eviction_causes import Cause, causes
from planner.documents.eviction_waves import eviction_waves, planned_evictions, promised
from planner.documents.left_alone import (
    also_evicted,
    assumed_to_return,
    driven_off,
    left_alone,
    protected_pods,
)
from planner.documents.part_of_pods import part_notice
from planner.documents.workload_changes import workload_changes
from planner.drain.not_emptied import not_emptied
from planner.evictions.goals import IN_A_ROW, Aim
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions, Suggestion
from planner.replay.trial_work import USUAL_SEEDS
from planner.replay.violations import Violation, total
from planner.scheduler.profile import Profile
from planner.sequences.outcome import Changed
from planner.solver.progress import Report, silent
from planner.words import count_of
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.evictions import (
    Baseline,
    Convergence,
    EvictionLimits,
    EvictionOptions,
    EvictionPlan,
    NotEmptied,
    PlannedEviction,
    Situation,
)
from planner_models.notice import Notice
from planner_models.plan import WorkloadChange


def make_eviction_plan(
    cluster: Cluster,
    options: EvictOptions,
    profile: Profile,
    *,
    policies: Sequence[DeschedulerPolicy] = (),
    progress: Report | None = None,
) -> EvictionPlan:
    """The fewest evictions that repair the cluster, beside what the descheduler would do."""
    found = find_evictions(cluster, options, profile, progress)
    if options.protection.asked is not None:  # The descheduler takes no part of the pods.
        return eviction_plan(found)
    runs = baselines(cluster, profile, policies, progress or silent)
    compared = tuple(baseline(*run) for run in runs)
    return eviction_plan(found, compared)


def eviction_plan(found: Suggestion, compared: tuple[Baseline, ...] = ()) -> EvictionPlan:
    """The plan as it is shown and written."""
    tried, options = found.tried, found.options
    replanned = found.replanned or (None, None)
    return EvictionPlan(
        options=evict_options(found.start, options, found.aim),
        evictions=tuple(_evictions(found)),
        waves=tuple(eviction_waves(found)),
        without_limits=found.unlimited,
        fewest=_fewest(found),
        stopped=None if found.outcome is None else found.outcome.decision.stopped,
        converges=tried.converges,
        checked_seeds=found.seeds,
        convergence=Convergence(
            seeds=found.seeds,
            gone=tried.seeds_reached(terminating=False),
            terminating=tried.seeds_reached(terminating=True),
            replanned=replanned[0],
            replanned_of=replanned[1],
        ),
        before=situation(found.aim.wanted, found.broken),
        after=situation(found.after, found.remaining),
        promised=promised(
            found,
            total(found.remaining),
            everything=found.aim.anywhere and options.protection.asked is None,
        ),
        workloads=_workloads(found),
        protected=tuple(protected_pods(found.aim.real, found.protected, found.remaining)),
        left_alone=left_alone(found.aim.real, found.protected),
        not_emptied=tuple(_not_emptied(found)),
        baselines=compared,
        budgets=tuple(_budgets(found)),
        nodes=len(found.given.nodes),
        pods=len(found.given.pods),
        notices=tuple(_notices(found, compared)),
    )


def evict_options(cluster: Cluster, options: EvictOptions, aim: Aim | None) -> EvictionOptions:
    """What was asked for."""
    nodes = options.nodes if aim is None else aim.drained
    return EvictionOptions(
        goals=options.goals,
        nodes=tuple(cluster.nodes[node].name for node in nodes),
        seeds=options.seeds,
        limits=EvictionLimits(
            total=options.limits.total,
            per_node=options.limits.per_node,
            per_namespace=options.limits.per_namespace,
        ),
        max_unavailable=options.max_unavailable,
        priority_threshold=options.protection.priority_threshold,
        allowed=also_evicted(options.protection.policy),
        about=_about(cluster, options.protection.asked),
    )


def _about(cluster: Cluster, asked: frozenset[int] | None) -> tuple[str, ...] | None:
    if asked is None:
        return None
    refs = {cluster.workloads[int(cluster.group_of[pod])] for pod in asked}
    return tuple(sorted(f"{ref.namespace}/{ref.short}" for ref in refs))


def situation(cluster: Cluster, broken: tuple[Violation, ...]) -> Situation:
    """Broken rules in numbers, and pods that wait."""
    return Situation(
        excess=total(broken),
        pending=int(np.count_nonzero(cluster.node_of == PENDING)),
        violations=tuple(describe(cluster, violation) for violation in broken),
    )


def _evictions(found: Suggestion) -> Iterator[PlannedEviction]:
    because = causes(found.aim.wanted, found.broken)
    for pod, eviction in planned_evictions(found):
        cause = because.get(pod, Cause(None, eviction.reason))
        yield eviction.model_copy(update={"rule": cause.rule, "reason": cause.text})


def _workloads(found: Suggestion) -> tuple[WorkloadChange, ...]:
    moved = tuple(pod for wave in found.tried.waves for pod in wave.evictions)
    changed = Changed(placed=(), moved=moved, unplaced=())
    changes = workload_changes(found.start, found.after, changed, found.budgets)
    return tuple(each for each in changes if each.moved)


def _fewest(found: Suggestion) -> bool:
    """Proven for all choices of nodes, if the goals are rules and no limit cut the plan short.

    Where kube-scheduler first places waiting pods, other places for these might save evictions.
    """
    if found.outcome is None:
        return True
    planned = sum(step.evicts for step in found.outcome.waves.steps)
    limits = found.options.limits
    return (
        found.outcome.decision.status == "optimal"
        and found.start is found.given
        and planned == found.evictions
        and "utilization" not in found.options.goals
        and limits.per_node is None
        and limits.per_namespace is None
    )


def _not_emptied(found: Suggestion) -> Iterator[NotEmptied]:
    pods, nodes = found.start.pods, found.start.nodes
    for each in not_emptied(found):
        keys = tuple(sorted(pods[pod].key for pod in each.pods))
        yield NotEmptied(node=nodes[each.node].name, pods=keys, reason=each.reason)


def _budgets(found: Suggestion) -> Iterator[str]:
    pods = [pod for wave in found.tried.waves for pod in wave.evictions]
    numbers = {number for pod in pods for number in found.budgets.of_pod(pod)}
    each = found.budgets.each
    yield from sorted(each[number].name for number in numbers if each[number].budget)


def _notices(found: Suggestion, compared: Sequence[Baseline]) -> Iterator[Notice]:
    yield from found.given.notices
    if found.options.protection.asked is not None:
        yield part_notice(found.given, found.options.protection.asked)
    evicted = (pod for wave in found.tried.waves for pod in wave.evictions)
    yield from assumed_to_return(found.start, evicted)
    preempted = {pod for run in found.tried.runs for pod in run.preempted}
    yield from driven_off(found.aim.real, preempted)
    if found.outcome is not None and found.outcome.waves.beyond:
        yield Notice(
            code="budgetTooTight",
            text="the plan evicts pods whose budget allows no eviction now",
            objects=found.outcome.waves.beyond,
        )
    if found.options.seeds is None and found.seeds < USUAL_SEEDS:
        text = f"large plan: {found.seeds} of the usual {USUAL_SEEDS} tie seeds tried"
        yield Notice(code="fewerSeeds", text=f"{text}; --seeds {USUAL_SEEDS} tries all")
    if found.emptied is not None and found.emptied.untried:
        text = f"after {IN_A_ROW} nodes in a row that can't be emptied, the other"
        text = f"{text} {count_of(found.emptied.untried, 'fuller node')} were not tried"
        yield Notice(code="nodesNotTried", text=text)
    if compared and too_large(found.given):
        text = "the cluster is large: of the descheduler's strategies only spread was tried"
        yield Notice(code="fewerBaselines", text=f"{text}; --policy FILE tries others")
    ignored = found.profile.resolved.ignored
    if ignored:
        text = "plugins that planner can't model were left out, as asked"
        yield Notice(code="ignoredPlugins", text=text, objects=ignored)
