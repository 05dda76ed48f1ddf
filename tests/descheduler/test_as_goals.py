"""A DeschedulerPolicy as planner carries it out."""

from __future__ import annotations

from typing import Any

import pytest

from planner.descheduler.as_goals import (
    NOT_LOOKED_AT,
    NoGoalError,
    goals_of,
    limits_of,
    movable,
    spared_pods,
    unused,
)
from planner.descheduler.strategies.limits import Limits
from planner_models.descheduler_policy import DeschedulerPolicy
from tests.descheduler.strategy_examples import owned_pod, policy
from tests.objects import Json, cluster_of, node

SPREAD: Json = {"RemovePodsViolatingTopologySpreadConstraint": {}}
TAINTS: Json = {"RemovePodsViolatingNodeTaints": {}}
LOW: Json = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}}


def affinity(kind: str) -> DeschedulerPolicy:
    args = {"nodeAffinityType": [f"{kind}DuringSchedulingIgnoredDuringExecution"]}
    return policy(deschedule={"RemovePodsViolatingNodeAffinity": args})


def spared(wanted: DeschedulerPolicy, *pods: Json, nodes: Any = ()) -> dict[str, str]:
    cluster = cluster_of(*(nodes or (node("a"), node("b"))), *pods)
    found = spared_pods(cluster, wanted)
    return {cluster.pods[index].name: reason for index, reason in found.items()}


@pytest.mark.parametrize(
    ("wanted", "goals"),
    [
        (policy(balance=SPREAD), ("spread",)),
        (
            policy(
                balance={
                    "RemovePodsViolatingTopologySpreadConstraint": {
                        "constraints": ["ScheduleAnyway"]
                    }
                }
            ),
            ("soft",),
        ),
        (policy(deschedule=TAINTS), ("spread",)),
        (
            policy(
                deschedule={"RemovePodsViolatingNodeTaints": {"includePreferNoSchedule": True}},
                balance=SPREAD,
            ),
            ("spread", "soft"),
        ),
        (affinity("required"), ("spread",)),
        (policy(deschedule={"RemovePodsViolatingInterPodAntiAffinity": {}}), ("spread",)),
        (policy(balance={"LowNodeUtilization": LOW}), ("utilization",)),
        (policy(balance={"HighNodeUtilization": {"thresholds": {"cpu": 20}}}), ("consolidate",)),
    ],
)
def test_strategies_become_goals(wanted: DeschedulerPolicy, goals: tuple[str, ...]) -> None:
    assert goals_of(wanted) == goals


@pytest.mark.parametrize(
    "wanted",
    [
        policy(balance={"RemoveDuplicates": {}}),
        policy(deschedule={"PodLifeTime": {"maxPodLifeTimeSeconds": 60}}),
        policy(deschedule={"RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 9}}),
        policy(deschedule={"RemoveFailedPods": {}}),
        policy(deschedule={"RemovePodsViolatingNodeTaints": {"excludedTaints": ["old"]}}),
        affinity("preferred"),
    ],
)
def test_a_strategy_without_a_goal_is_refused_by_name_unless_it_is_ignored(
    wanted: DeschedulerPolicy,
) -> None:
    (name,) = wanted.profiles[0].strategies
    with pytest.raises(NoGoalError, match=name):
        goals_of(wanted)
    assert goals_of(wanted, {name}) == ()


def test_the_strictest_limit_per_node_counts() -> None:
    low = {**LOW, "evictionLimits": {"node": 1}}
    wanted = policy(
        balance={"LowNodeUtilization": low},
        maxNoOfPodsToEvictPerNode=3,
        maxNoOfPodsToEvictTotal=9,
    )
    assert limits_of(wanted) == Limits(9, 1, None)


def test_what_has_no_effect_is_said() -> None:
    wanted = policy(balance={"LowNodeUtilization": LOW}, gracePeriodSeconds=5)
    assert [text.split(" are ")[0].split(" is ")[0] for text in unused(wanted)] == [
        "gracePeriodSeconds",
        "the thresholds of LowNodeUtilization",
    ]


def test_the_evictor_protects_as_in_the_descheduler() -> None:
    wanted = policy(balance=SPREAD, evictor={"minReplicas": 2})
    assert spared(
        wanted, owned_pod("w1", "a"), owned_pod("w2", "b"), owned_pod("o", "a", "one")
    ) == {"o": "the policy protects it: its owner has 1 replicas"}


def test_pods_that_no_strategy_looks_at_stay() -> None:
    wanted = policy(
        balance={"RemovePodsViolatingTopologySpreadConstraint": {"namespaces": {"include": ["x"]}}}
    )
    assert spared(wanted, owned_pod("w", "a")) == {"w": NOT_LOOKED_AT}


def test_the_node_selector_keeps_other_nodes_out() -> None:
    nodes = (node("a", metadata={"labels": {"pool": "x"}}), node("b"))
    wanted = policy(balance=SPREAD, nodeSelector="pool=x")
    pods = (owned_pod("w1", "a"), owned_pod("w2", "b"))
    assert spared(wanted, *pods, nodes=nodes) == {"w2": NOT_LOOKED_AT}


def test_local_storage_is_free_if_every_evictor_says_so() -> None:
    free = {"podProtections": {"defaultDisabled": ["PodsWithLocalStorage"]}}
    assert movable(policy(balance=SPREAD, evictor=free)).local_storage
    assert not movable(policy(balance=SPREAD)).local_storage
