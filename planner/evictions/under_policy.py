"""What a policy of `planner run` lets a plan do: goals, limits, and who is left alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.descheduler import as_goals
from planner.descheduler.strategies.framework import selecting
from planner.descheduler.strategies.limits import Limits
from planner.descheduler.strategies.selector_text import parse_selector, selects
from planner.disruption.movability import DEFAULT_POLICY, MovePolicy
from planner.evictions.goals import Goal
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.pod import Pod
from planner_models.run_policy import RunPolicy

AnyPolicy = RunPolicy | DeschedulerPolicy
LEFT_ALONE = "it is left alone: {0}"


@dataclass(frozen=True)
class Terms:
    """The terms of one plan; `priority_threshold` is a PriorityClass or a number."""

    goals: tuple[Goal, ...]
    limits: Limits
    movable: MovePolicy
    priority_threshold: str | None
    spared: Mapping[int, str]
    cordons: bool


def terms_of(
    cluster: Cluster,
    policy: AnyPolicy,
    *,
    ignored: Collection[str] = (),
    leave_alone: Collection[str] = (),
    cordons: bool = False,
) -> Terms:
    """The terms of a policy on a cluster.

    `ignored` strategies of a DeschedulerPolicy don't count. `leave_alone` are workloads,
    `shop/deploy/api`; those that are not there are no mistake. `cordons` allows them where the
    policy doesn't say so itself.
    """
    left = _left_alone(cluster, leave_alone)
    if isinstance(policy, DeschedulerPolicy):
        spared = as_goals.spared_pods(cluster, policy, ignored)
        return Terms(
            as_goals.goals_of(policy, ignored),
            as_goals.limits_of(policy, ignored),
            as_goals.movable(policy, ignored),
            None,
            {**spared, **left},
            cordons,
        )
    limits = policy.limits
    return Terms(
        policy.goals,
        Limits(limits.per_round, limits.per_node, limits.per_namespace),
        DEFAULT_POLICY,
        policy.protect.priority_threshold,
        {**dict(_protected(cluster, policy)), **left},
        cordons or policy.cordons,
    )


def _protected(cluster: Cluster, policy: RunPolicy) -> Iterator[tuple[int, str]]:
    in_namespace = selecting(policy.protect.namespaces)
    selected = _selected(policy.protect.pod_selector)
    for index in cluster.running.tolist():
        pod = cluster.pods[index]
        if not in_namespace(pod):
            yield index, f"the policy leaves namespace {pod.namespace} alone"
        elif selected(pod):
            yield index, "podSelector of the policy protects it"


def _selected(selector: str) -> Callable[[Pod], bool]:
    requirements = parse_selector(selector)
    return lambda pod: bool(requirements) and selects(requirements, pod.labels)


def _left_alone(cluster: Cluster, workloads: Collection[str]) -> Mapping[int, str]:
    groups = {
        index: LEFT_ALONE.format(ref.short)
        for index, ref in enumerate(cluster.workloads)
        if f"{ref.namespace}/{ref.short}" in workloads
    }
    if not groups:
        return {}
    group_of = cluster.group_of.tolist()
    return {
        pod: groups[group_of[pod]] for pod in cluster.running.tolist() if group_of[pod] in groups
    }
