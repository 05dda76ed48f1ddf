"""A DeschedulerPolicy as planner would carry it out: its goals, its limits, and whom it spares.

The strategies say what is wrong with a pod's place; planner has goals for that and chooses the
evictions itself. What the policy's DefaultEvictor protects, and what its strategies don't look at,
is left alone by planner, too. Strategies that evict pods for what they are, and not for where they
are, have no goal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from planner.cluster import Cluster
from planner.descheduler.policy import StrategyRun, strategies, view_of
from planner.descheduler.strategies.default_evictor import DefaultEvictor
from planner.descheduler.strategies.framework import selecting
from planner.descheduler.strategies.limits import Limits
from planner.descheduler.strategies.node_fit import NodeFit
from planner.disruption.movability import MovePolicy
from planner_models.descheduler_args import (
    HighNodeUtilizationArgs,
    LowNodeUtilizationArgs,
    SelectingArgs,
    TopologySpreadConstraintArgs,
    ViolatedInterPodAntiAffinityArgs,
    ViolatedNodeAffinityArgs,
    ViolatedNodeTaintsArgs,
)
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.pod import Pod
from planner_models.run_policy import RunGoal

NOT_LOOKED_AT = "no strategy of the policy looks at it"


class NoGoalError(ValueError):
    """A strategy that planner has no goal for."""

    def __init__(self, strategy: str, why: str) -> None:
        super().__init__(f"{strategy}: {why}")
        self.strategy = strategy


def kept_strategies(
    policy: DeschedulerPolicy, ignored: Collection[str] = ()
) -> tuple[StrategyRun, ...]:
    """The strategies of a policy without those that are ignored by name."""
    return tuple(each for each in strategies(policy) if each.name not in ignored)


def goals_of(policy: DeschedulerPolicy, ignored: Collection[str] = ()) -> tuple[RunGoal, ...]:
    """What the strategies want, as goals of planner; NoGoalError names one that has none."""
    found = {goal for each in kept_strategies(policy, ignored) for goal in _goals(each)}
    order: tuple[RunGoal, ...] = ("spread", "soft", "utilization", "consolidate")
    return tuple(goal for goal in order if goal in found)


def _goals(strategy: StrategyRun) -> Iterator[RunGoal]:
    match strategy.args:
        case TopologySpreadConstraintArgs(constraints=constraints):
            if "DoNotSchedule" in constraints:
                yield "spread"
            if "ScheduleAnyway" in constraints:
                yield "soft"
        case ViolatedNodeAffinityArgs(preferred=True):
            raise NoGoalError(strategy.name, "planner has no goal for preferred node affinity")
        case ViolatedNodeTaintsArgs() as args if args.included_taints or args.excluded_taints:
            raise NoGoalError(strategy.name, "planner repairs all taints, not some of them")
        case ViolatedNodeTaintsArgs(include_prefer_no_schedule=True):
            yield "soft"
        case (
            ViolatedNodeTaintsArgs()
            | ViolatedNodeAffinityArgs()
            | ViolatedInterPodAntiAffinityArgs()
        ):
            yield "spread"
        case LowNodeUtilizationArgs():
            yield "utilization"
        case HighNodeUtilizationArgs():
            yield "consolidate"
        case _:
            raise NoGoalError(
                strategy.name, "it is about pods themselves, and planner about where they are"
            )


def limits_of(policy: DeschedulerPolicy, ignored: Collection[str] = ()) -> Limits:
    """The limits of a policy, with the strictest of its strategies' own per node."""
    found = Limits.of(policy)
    own = [
        each.args.eviction_limits.node
        for each in kept_strategies(policy, ignored)
        if isinstance(each.args, LowNodeUtilizationArgs) and each.args.eviction_limits is not None
    ]
    per_node = [each for each in (found.per_node, *own) if each is not None]
    return Limits(found.total, min(per_node, default=None), found.per_namespace)


def unused(policy: DeschedulerPolicy, ignored: Collection[str] = ()) -> Iterator[str]:
    """What the policy says and planner has no use for, a sentence each."""
    if policy.grace_period_seconds is not None:
        yield "gracePeriodSeconds is not used: pods have their own"
    for each in kept_strategies(policy, ignored):
        if isinstance(each.args, LowNodeUtilizationArgs | HighNodeUtilizationArgs):
            yield f"the thresholds of {each.name} are not used: planner looks at the outcome"


def movable(policy: DeschedulerPolicy, ignored: Collection[str] = ()) -> MovePolicy:
    """What all of the policy's evictors give free beyond the usual; critical pods stay anyway."""
    found = [each.evictor.protections for each in kept_strategies(policy, ignored)]
    free = bool(found) and all("PodsWithLocalStorage" not in each for each in found)
    return MovePolicy(local_storage=free)


def spared_pods(
    cluster: Cluster, policy: DeschedulerPolicy, ignored: Collection[str] = ()
) -> Mapping[int, str]:
    """The running pods that the policy leaves alone, with the reason.

    A pod that several strategies look at has to pass the evictors of all of these. Whether it finds
    another node is not asked here: planner simulates where it goes.
    """
    view = view_of(cluster, node_selector=policy.node_selector)
    kept = kept_strategies(policy, ignored)
    evictors = [each.evictor.replace(node_fit=False) for each in kept]
    guards = [
        (_looked_at(strategy), DefaultEvictor(view, args, NodeFit(view)))
        for strategy, args in zip(kept, evictors, strict=True)
    ]
    nodes = frozenset(view.nodes)
    found: dict[int, str] = {}
    for index in cluster.running.tolist():
        pod = cluster.pods[index]
        looking = [guard for looks_at, guard in guards if looks_at(pod)]
        if int(cluster.node_of[index]) not in nodes or not looking:
            found[index] = NOT_LOOKED_AT
            continue
        reasons = (_protection(guard, pod) for guard in looking)
        reason = next((each for each in reasons if each is not None), None)
        if reason is not None:
            found[index] = f"the policy protects it: {reason}"
    return found


def _protection(guard: DefaultEvictor, pod: Pod) -> str | None:
    reason = guard.protection(pod)
    if reason is None and not guard.pre_eviction_filter(pod):
        return "namespaceLabelSelector omits it"
    return reason


def _looked_at(strategy: StrategyRun) -> Callable[[Pod], bool]:
    match strategy.args:
        case SelectingArgs(namespaces=namespaces, label_selector=selector):
            return selecting(namespaces, selector)
        case LowNodeUtilizationArgs() | HighNodeUtilizationArgs() as args:
            return selecting(args.evictable_namespaces)
        case _:
            return selecting(None)
