"""Groups whose evicted pods find the same nodes open again, in whatever order they come and land.

Where a zone came back empty, a hard spread constraint leaves nothing else to any of the pods that
are missing there: their number says so, before the first of them has landed. What is left to be
judged pod by pod is room, and how much of a node is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import Filter, Score, StaticFilter, StaticScore
from planner.scheduler.framework.spread_counts import CountedSpread
from planner.scheduler.plugins.node_resources_balanced_allocation import BalancedScore
from planner.scheduler.plugins.node_resources_fit import FitFilter, FitScore
from planner.scheduler.plugins.pod_topology_spread import SpreadFilter


@dataclass(frozen=True, eq=False)
class SteadyGroup:
    """What its pods ask for, and the nodes that are open to them, but for the room there."""

    group: int
    cpu: int
    memory: int
    open: BoolArray
    most: IntArray | None = None
    """By node: how many of the pods it may take, if a rule over hosts says so."""


@dataclass(frozen=True, eq=False)
class _Leaving:
    """Pods of a group that are evicted, by the nodes that they are on; and all such groups."""

    group: int
    nodes: IntArray
    groups: Collection[int]


Open = tuple[BoolArray, IntArray | None]
"""Nodes that a rule leaves open, and how many pods each may take if it says so."""


def steady_groups(scheduler: Scheduler, pods: Sequence[int]) -> Mapping[int, SteadyGroup] | None:
    """The groups of pods that are to be evicted, each once; None if one of them is not steady."""
    state, found = scheduler.state, dict[int, SteadyGroup]()
    if state.volumes.promising or any(pod in state.named for pod in pods):
        return None
    each_pod = np.array(pods, np.int64)
    of, nodes = state.cluster.group_of[each_pod], state.node_of[each_pod]
    order = np.argsort(of, kind="stable")
    groups, first = np.unique(of[order], return_index=True)
    known = set(groups.tolist())
    parts = zip(groups.tolist(), np.split(order, first[1:]), strict=True)
    for group, part in parts:
        leaving = _Leaving(group, nodes[part], known)
        steady = _steady(scheduler, pods[int(part[0])], leaving)
        if steady is None:
            return None
        found[group] = steady
    return found


def _steady(scheduler: Scheduler, pod: int, leaving: _Leaving) -> SteadyGroup | None:
    state, cycle, group = scheduler.state, scheduler.cycle(pod), scheduler.state.group(pod)
    if cycle.rejection is not None or cycle.limit is not None or group.volumes:
        return None
    request = state.requests[group.index]
    if (request[:2] != state.non_zero_requests[group.index]).any():
        return None
    cpu, memory = request[:2].tolist()
    open_ = ~cycle.never
    if state.cluster.ghosts:
        open_[list(state.cluster.ghosts)] = False
    most: IntArray | None = None
    for rule in _rules([each for _, each in cycle.filters], (cpu, memory), leaving):
        found = None if rule is None else rule(open_)
        if found is None:
            return None
        open_, limit = open_ & found[0], found[1]
        if limit is not None:
            most = limit if most is None else np.minimum(most, limit)
    if not open_.any() or not _scored_by_use(cycle.scores, (cpu, memory), open_):
        return None
    return SteadyGroup(group.index, cpu, memory, open_, most)


def _rules(
    filters: Sequence[Filter], request: tuple[int, int], leaving: _Leaving
) -> list[Callable[[BoolArray], Open | None] | None]:
    """What filters leave of open nodes beside room; None for a filter that may change its mind."""
    found: list[Callable[[BoolArray], Open | None] | None] = []
    fits = False
    for each in filters:
        match each:
            case StaticFilter():
                pass
            case FitFilter() if [(column, amount) for _, column, amount in each.asked] == list(
                enumerate(request)
            ):
                fits = True
            case SpreadFilter():
                by_host_last = sorted(each.constraints, key=lambda rule: rule.topology.single)
                found += [_Spread(rule, leaving) for rule in by_host_last]
            case _:
                found.append(None)
    return found if fits else [None]


def _scored_by_use(
    scores: Sequence[tuple[str, int, Score]], request: tuple[int, int], open_: BoolArray
) -> bool:
    """Whether nothing tells nodes apart but how much of them is used, and how evenly."""
    by_use: list[bool] = []
    for _, weight, score in scores:
        match score:
            case StaticScore():
                raw = score.scores(np.flatnonzero(open_))
                if (raw != raw[0]).any():
                    return False
            case FitScore():
                by_use.append(weight == 1 and score.least_of_both == request)
            case BalancedScore():
                by_use.append(weight == 1 and score.of_both == request)
            case _:
                return False
    return by_use == [True, True]


class _Spread:
    """A hard spread constraint of the group that leaves."""

    def __init__(self, rule: CountedSpread, leaving: _Leaving) -> None:
        self._rule = rule
        self._leaving = leaving
        counted = set(rule.selected.counted.ids.tolist())
        self._counts_itself = leaving.group in counted
        self._counts_others = any(each in leaving.groups for each in counted - {leaving.group})

    def __call__(self, open_: BoolArray) -> Open | None:
        rule = self._rule
        if self._counts_others or len(rule.domains) < (rule.constraint.min_domains or 1):
            return None
        if not self._counts_itself:
            return ~rule.over(), None
        one = self._by_domain(open_)
        return self._by_host(open_) if one is None and rule.topology.single else one

    def _by_domain(self, open_: BoolArray) -> Open | None:
        """One domain, if all others are too full for the last of the pods even without the evicted.

        In the one with the fewest there are at most `fewest + landed` pods when the next one comes,
        in others at least those that stay. As long as these are too many, it is the minimum itself
        and takes the pod, and the others take none.
        """
        rule, leaving = self._rule, self._leaving
        domain_of, counts = rule.topology.domain_of, rule.per_domain
        target = int(rule.domains[np.argmin(counts[rule.domains])])
        evicted = leaving.nodes[rule.eligible[leaving.nodes]]
        stay = counts - np.bincount(domain_of[evicted], minlength=len(counts))
        reached = int(counts[target]) + len(leaving.nodes) - 1
        too_full = stay > rule.constraint.max_skew + reached - 1
        too_full[target] = True
        open_to_it = np.unique(domain_of[open_ & (domain_of >= 0)])
        if not (too_full[rule.domains].all() and too_full[open_to_it].all()):
            return None
        return domain_of == target, None

    def _by_host(self, open_: BoolArray) -> Open | None:
        """Some host has none of the pods until the last has come: only a host's own count matters.

        Pods that leave hosts which others of them may go to would open these again.
        """
        rule, leaving = self._rule, self._leaving
        empty = int(np.count_nonzero(rule.per_domain[rule.domains] == 0))
        if empty < len(leaving.nodes) or open_[leaving.nodes].any():
            return None
        if (open_ & ~rule.eligible).any():
            return None
        domain_of = rule.topology.domain_of
        most = np.where(domain_of >= 0, rule.constraint.max_skew - rule.per_domain[domain_of], 0)
        return most > 0, most
