"""Who still waits with some nodes, by workload, and the rules that keep them off every node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.situation.subject import subject_of
from planner.scheduler.profile import Profile
from planner.words import resource_word


@dataclass(frozen=True)
class Waiting:
    """So many pods of a workload, and which rules refuse them, those on most nodes first."""

    workload: WorkloadRef
    pods: int
    rules: tuple[str, ...]


def waiting_pods(cluster: Cluster, pods: Sequence[int], profile: Profile) -> tuple[Waiting, ...]:
    """The pods by workload; the rules are those of the first."""
    found: dict[WorkloadRef, list[int]] = defaultdict(list)
    for pod in pods:
        found[cluster.workloads[int(cluster.group_of[pod])]].append(pod)
    return tuple(
        Waiting(ref, len(mine), _rules(cluster, mine[0], profile))
        for ref, mine in sorted(found.items())
    )


def _rules(cluster: Cluster, pod: int, profile: Profile) -> tuple[str, ...]:
    rules = rules_of(subject_of(cluster, profile, pod))
    ordered = sorted(rules, key=lambda rule: -np.count_nonzero(rule.blocked))
    names: list[str] = []
    for rule in ordered:
        if isinstance(rule, CapacityRule):
            names += [resource_word(rule.names[i]) for i in rule.lacking(rule.blocked)]
        else:
            names.append(rule.name)
    return tuple(dict.fromkeys(names))
