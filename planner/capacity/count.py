"""How many sets of pods kube-scheduler places by itself, and what stops the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.capacity.demand import Demand, with_more
from planner.cluster import PENDING, Cluster
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.situation.subject import subject_of
from planner.scenario import apply_changes, settle
from planner.scheduler.profile import Profile
from planner.words import resource_word

FIRST = 16
"""Sets that are tried at first; the number doubles as long as all find a node."""


@dataclass(frozen=True)
class Stop:
    """A rule that keeps the next pod from so many nodes."""

    rule: str
    nodes: int
    field: str = ""


@dataclass(frozen=True, eq=False)
class Placed:
    """So many sets are placed in `cluster`; `stopped` says that one more would not be."""

    sets: int
    cluster: Cluster
    pods: tuple[int, ...]
    stopped: bool


def most_placed(
    cluster: Cluster, demands: Sequence[Demand], profile: Profile, up_to: int, bound: int | None
) -> Placed:
    """The most sets of which all pods find a node, under the tie seed 0; no more than `bound` fit.

    Of one kind of pod all are tried at once: whoever fails, fails again. Of a mix the number is
    searched for, since pods of higher priority go first, whatever set they belong to.
    """
    if len(demands) == 1 and demands[0].ratio == 1:
        return _one_kind(cluster, demands, profile, up_to, bound)
    low, high = 0, min(FIRST, up_to)
    best = placed_at(cluster, demands, profile, 0)
    while high > low:
        found = placed_at(cluster, demands, profile, high)
        if found.stopped:
            break
        best, low = found, high
        high = min(2 * high, up_to)
    while high - low > 1:
        middle = (low + high) // 2
        found = placed_at(cluster, demands, profile, middle)
        if found.stopped:
            high = middle
        else:
            best, low = found, middle
    return Placed(best.sets, best.cluster, best.pods, stopped=low < up_to)


def _one_kind(
    cluster: Cluster, demands: Sequence[Demand], profile: Profile, up_to: int, bound: int | None
) -> Placed:
    """One more than can fit, or ever more where that is not known."""
    size = min(FIRST if bound is None else bound + 1, up_to)
    while True:
        more = with_more(cluster, demands, size)
        ended = settle(apply_changes(more.cluster, []), profile).cluster
        landed = [pod for pod in more.every if ended.node_of[pod] >= 0]
        if len(landed) < size or size >= up_to:
            break
        size = min(2 * size, up_to)
    stopped = len(landed) < size
    if not stopped or demands[0].has_own_claims:
        return placed_at(cluster, demands, profile, len(landed), stopped)
    left = set(more.every).difference(landed)
    return Placed(len(landed), ended.without(left), tuple(landed), stopped)


def placed_at(
    cluster: Cluster,
    demands: Sequence[Demand],
    profile: Profile,
    sets: int,
    stopped: bool | None = None,
    seed: int = 0,
) -> Placed:
    """The cluster with so many sets placed; stopped if some pod of them found no node."""
    more = with_more(cluster, demands, sets)
    ended = settle(apply_changes(more.cluster, []), profile, seed=seed).cluster
    waits = any(ended.node_of[pod] == PENDING for pod in more.every)
    return Placed(sets, ended, more.every, waits if stopped is None else stopped)


def stops(cluster: Cluster, demand: Demand, profile: Profile) -> tuple[Stop, ...]:
    """Everything that refuses one more pod, and on how many nodes; nothing if it still fits."""
    more = with_more(cluster, [demand], 1)
    subject = subject_of(more.cluster, profile, more.every[0])
    found: list[Stop] = []
    for rule in rules_of(subject):
        if isinstance(rule, CapacityRule):
            short = [resource_word(rule.names[i]) for i in rule.lacking(rule.blocked)]
            found.append(Stop(" and ".join(short), int(np.count_nonzero(rule.blocked)), rule.field))
        else:
            found.append(Stop(rule.name, int(np.count_nonzero(rule.blocked)), rule.field))
    return tuple(sorted(found, key=lambda stop: -stop.nodes))
