"""What the descheduler's own strategies would do on the same cluster, for comparison."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from planner.cluster import Cluster
from planner.descheduler.rounds import DeschedulerRounds, run_rounds
from planner.scheduler.profile import Profile
from planner.solver.progress import Progress, Report, silent
from planner_models.descheduler_policy import DeschedulerPolicy

SPREAD = "RemovePodsViolatingTopologySpreadConstraint"

AIMS: Mapping[str, str] = MappingProxyType(
    {
        SPREAD: "spread",
        "RemovePodsViolatingNodeAffinity": "node affinity",
        "RemovePodsViolatingNodeTaints": "taints",
        "RemovePodsViolatingInterPodAntiAffinity": "anti-affinity",
        "RemoveDuplicates": "replicas on different nodes",
        "LowNodeUtilization": "even load",
        "HighNodeUtilization": "fewer nodes in use",
    }
)
_BALANCE = (SPREAD, "RemoveDuplicates", "LowNodeUtilization", "HighNodeUtilization")
_ARGS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        SPREAD: {"constraints": ["DoNotSchedule"]},
        "RemovePodsViolatingNodeAffinity": {
            "nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]
        },
        "LowNodeUtilization": {
            "thresholds": {"cpu": 20, "memory": 20, "pods": 20},
            "targetThresholds": {"cpu": 50, "memory": 50, "pods": 50},
        },
        "HighNodeUtilization": {"thresholds": {"cpu": 20, "memory": 20, "pods": 20}},
    }
)
COMPARED = 100_000_000
"""Nodes times pods up to which all strategies are compared."""
LOW_UTILIZATION = "LowNodeUtilization (20/50)"


class BaselineRun(NamedTuple):
    """What a strategy or a policy is for, and how its rounds went."""

    strategy: str
    aim: str
    rounds: DeschedulerRounds


def default_policy(*strategies: str) -> DeschedulerPolicy:
    """A policy of these strategies with the arguments that the descheduler's documents show."""
    points: dict[str, list[str]] = {"deschedule": [], "balance": []}
    for name in strategies:
        points["balance" if name in _BALANCE else "deschedule"].append(name)
    profile = {
        "name": "default",
        "pluginConfig": [{"name": name, "args": _ARGS.get(name, {})} for name in strategies],
        "plugins": {point: {"enabled": names} for point, names in points.items() if names},
    }
    return DeschedulerPolicy.model_validate(
        {
            "apiVersion": "descheduler/v1alpha2",
            "kind": "DeschedulerPolicy",
            "profiles": [profile],
        }
    )


def baselines(
    cluster: Cluster,
    profile: Profile,
    policies: Sequence[DeschedulerPolicy] = (),
    report: Report = silent,
) -> Iterator[BaselineRun]:
    """Each strategy that finds something to do, the spread strategy in any case; then policies.

    On a very large cluster it is the only one: the rounds of all would take longer than the plan.
    """
    begin = time.monotonic()
    strategies = {SPREAD: AIMS[SPREAD]} if too_large(cluster) else AIMS
    for number, (name, aim) in enumerate(strategies.items()):
        report(Progress("descheduler", number, len(strategies), time.monotonic() - begin))
        rounds = run_rounds(cluster, default_policy(name), (profile,))
        if rounds.rounds or name == SPREAD:
            shown = LOW_UTILIZATION if name == "LowNodeUtilization" else name
            yield BaselineRun(shown, aim, rounds)
    for policy in policies:
        yield BaselineRun("policy", "as the policy says", run_rounds(cluster, policy, (profile,)))


def too_large(cluster: Cluster) -> bool:
    """Whether only the strategy for spread is compared."""
    return len(cluster.nodes) * len(cluster.pods) > COMPARED
