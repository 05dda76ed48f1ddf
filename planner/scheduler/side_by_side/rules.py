"""What one group's filters and scores say of the nodes of a sample, in the form that lanes need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import Filter, Score, StaticFilter, StaticScore
from planner.scheduler.framework.spread_counts import CountedSpread
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.plugins.inter_pod_affinity import (
    AffinityFilter,
    AffinityScore,
    DomainCounts,
)
from planner.scheduler.plugins.node_resources_balanced_allocation import BalancedScore
from planner.scheduler.plugins.node_resources_fit import FitFilter, FitScore
from planner.scheduler.plugins.pod_topology_spread import SpreadFilter, SpreadScore
from planner.scheduler.profile import Profile
from planner.scheduler.side_by_side.counters import Counter, Counters
from planner_models.node import HOSTNAME
from planner_models.resources import PODS

_NOTHING: tuple[IntArray, IntArray] = np.empty(0, np.int64), np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class HardSpread:
    """`count + self - minimum <= maxSkew`, the minimum over domains with an eligible node."""

    counter: Counter
    max_skew: int
    self_match: int
    least_domains: int
    eligible: BoolArray


@dataclass(frozen=True, eq=False)
class SoftSpread:
    """Fewer pods in the domain are more points."""

    counter: Counter
    max_skew: int


@dataclass(eq=False)
class GroupRules:
    """The rules of a group; arrays are by node of the sample, with a last place for no node."""

    group: int
    admitted: BoolArray
    """By all that no other pod changes."""
    request: IntArray
    non_zero_request: IntArray
    asked: tuple[IntArray, IntArray] = _NOTHING
    """Resources by number, and how much of each has to be free."""
    fit: tuple[int, FitScore] | None = None
    balance: tuple[int, BalancedScore] | None = None
    hard: list[HardSpread] = field(default_factory=list)
    soft: list[SoftSpread] = field(default_factory=list)
    soft_weight: int = 0
    takes_part: BoolArray | None = None
    """Nodes that soft spread gives points to."""
    near: list[Counter] = field(default_factory=list)
    may_start: bool = False
    rivals: list[Counter] = field(default_factory=list)
    wishes: list[Counter] = field(default_factory=list)
    wish_weight: int = 0
    touches: tuple[tuple[Counter, int], ...] = ()
    """What a pod of the group changes where it lands, and by how much."""

    @property
    def local(self) -> bool:
        """Whether no pod that lands elsewhere ever opens a node for it."""
        return not (self.hard or self.near or self.rivals)


def rules_of(
    state: SchedulingState, profile: Profile, group: PodGroup, counters: Counters
) -> GroupRules | None:
    """None where some rule has no such form: volumes, ports, images, preferred nodes."""
    cycle = GroupCycle(state, profile, group)
    if cycle.rejection is not None or cycle.limit is not None or group.volumes:
        return None
    found = GroupRules(
        group.index,
        np.append(~cycle.never, False),
        state.requests[group.index],
        state.non_zero_requests[group.index],
    )
    filters = all(_filter(found, state, each, counters) for _, each in cycle.filters)
    if not filters or not all(
        _score(found, state, weight, each, counters) for _, weight, each in cycle.scores
    ):
        return None
    for labelled in (*(each.counter for each in found.hard), *found.near):
        found.admitted &= labelled.labelled
    return found


def _filter(found: GroupRules, state: SchedulingState, each: Filter, counters: Counters) -> bool:
    match each:
        case StaticFilter():
            return True
        case FitFilter():
            pods = state.cluster.resources.column(PODS)
            columns = [pods, *(column for _, column, _ in each.asked)]
            amounts = [1, *(amount for _, _, amount in each.asked)]
            found.asked = np.array(columns, np.int64), np.array(amounts, np.int64)
            return True
        case SpreadFilter():
            found.hard = [_hard(state, rule, counters) for rule in each.constraints]
            return True
        case AffinityFilter():
            found.near = _kept(state, each.near, counters)
            found.may_start = each.may_start
            rivals = (*each.apart.values(), *each.existing.values())
            found.rivals = _kept(state, rivals, counters)
            return True
        case _:
            return False


def _score(
    found: GroupRules, state: SchedulingState, weight: int, each: Score, counters: Counters
) -> bool:
    match each:
        case FitScore():
            found.fit = weight, each
        case BalancedScore():
            found.balance = weight, each
        case SpreadScore():
            found.soft_weight = weight
            found.takes_part = np.append(each.takes_part, False)
            found.soft = [_soft(state, rule, counters) for rule in each.constraints]
        case AffinityScore():
            found.wish_weight = weight
            found.wishes = _kept(state, each.counters, counters)
        case StaticScore():
            raw = each.scores(np.flatnonzero(found.admitted))
            return not len(raw) or bool((raw == raw[0]).all())
        case _:
            return False
    return True


def _hard(state: SchedulingState, rule: CountedSpread, counters: Counters) -> HardSpread:
    constraint = rule.constraint
    return HardSpread(
        _spread(state, rule, rule.eligible, counters),
        constraint.max_skew,
        rule.self_match,
        constraint.min_domains or 1,
        np.append(rule.eligible, False),
    )


def _soft(state: SchedulingState, rule: CountedSpread, counters: Counters) -> SoftSpread:
    """By host, pods on every node count."""
    hosts = rule.constraint.topology_key == HOSTNAME
    counted = np.ones_like(rule.eligible) if hosts else rule.eligible
    return SoftSpread(_spread(state, rule, counted, counters), rule.constraint.max_skew)


def _spread(
    state: SchedulingState, rule: CountedSpread, counted: BoolArray, counters: Counters
) -> Counter:
    groups = rule.selected.counted.ids
    start = state.counts_by_node(groups, terminating=False)
    return counters.get(rule.topology, dict.fromkeys(groups.tolist(), 1), counted, start)


def _kept(
    state: SchedulingState, given: Iterable[DomainCounts], counters: Counters
) -> list[Counter]:
    """The same counts by node, of which lanes make their own."""
    found = []
    everywhere = np.ones(len(state.cluster.nodes), np.bool_)
    for each in given:
        start = np.zeros(len(everywhere), np.int64)
        for group, factor in each.times.items():
            start += factor * state.counts_by_node(np.array([group]), terminating=True)
        found.append(counters.get(each.topology, each.times, everywhere, start))
    return found
