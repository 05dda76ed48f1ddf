"""How many evictions a node needs at least before it takes the pod, whatever happens elsewhere.

Evicted pods need not land anywhere here, so the smallest number over all nodes is a lower bound for
every sequence: with as many evictions found, it is proven that fewer can't do.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.room.setting import Setting
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type

NEVER = 10**6
"""In the place of a number for nodes that no eviction opens."""


def evictions_at(setting: Setting) -> IntArray:
    """For each node: what its hardest rule needs; evictions may serve several rules at once."""
    least = np.ones(setting.subject.nodes.total, np.int64)
    for room in of_type(setting.rules, CapacityRule):
        least = np.maximum(least, _for_room(setting, room, setting.movable))
    for spread in of_type(setting.rules, SpreadRule):
        per_domain = np.append(_for_spread(spread), NEVER)
        least = np.maximum(least, per_domain[spread.topology.domain_of])
    for apart in of_type(setting.rules, AntiAffinityRule):
        least = np.maximum(least, np.append(apart.counts, 0)[apart.topology.domain_of])
    return np.where(setting.never, NEVER, least)


def evictions_for_one_more(setting: Setting) -> int:
    """No sequence needs fewer: a domain has to end with one matching pod more than it has now.

    When that one lands, every domain below its count + 1 - maxSkew has gained, too, and in each of
    them a node holds one more than now, for which others have to leave it. It holds where all pods
    that count are like this one: evicting those makes no room for one more.
    """
    rooms = of_type(setting.rules, CapacityRule)
    least = 1
    for rule in of_type(setting.rules, SpreadRule) if rooms else ():
        if not setting.all_alike(rule.counted_groups):
            continue
        others = setting.movable & ~np.isin(setting.subject.cluster.group_of, rule.matching)
        per_node = np.where(setting.never, NEVER, _for_room(setting, rooms[0], others))
        gain = np.full(len(rule.topology.domains), NEVER)
        labelled = rule.topology.domain_of >= 0
        np.minimum.at(gain, rule.topology.domain_of[labelled], per_node[labelled])
        least = max(least, _cheapest_gain(rule, gain))
    return least


def _cheapest_gain(rule: SpreadRule, gain: IntArray) -> int:
    costs = []
    for domain in np.flatnonzero(rule.eligible).tolist():
        floor = int(rule.counts[domain]) + 1 - rule.constraint.max_skew
        if rule.few_domains and floor > 0:
            continue
        low = rule.eligible & (rule.counts < floor)
        low[domain] = True
        costs.append(int(gain[low].sum()))
    return min(min(costs, default=NEVER), NEVER)


def _for_room(setting: Setting, rule: CapacityRule, leaving: BoolArray) -> IntArray:
    """The fewest of these pods that hold what a node lacks, of each resource by itself."""
    subject = setting.subject
    cluster, state = subject.cluster, subject.state
    least = np.where(rule.blocked, NEVER, 0)
    pods = np.flatnonzero(leaving)
    pods = pods[(rule.blocked & ~setting.never)[state.node_of[pods]]]
    if not len(pods):
        return least
    pods = pods[np.argsort(state.node_of[pods], kind="stable")]
    nodes, first = np.unique(state.node_of[pods], return_index=True)
    columns = [cluster.resources.column(name) for name in rule.names]
    held = state.requests[cluster.group_of[pods]][:, columns]
    missing = rule.request - rule.free
    for node, of_node in zip(nodes.tolist(), np.split(held, first[1:]), strict=True):
        numbers = []
        for column in np.flatnonzero(rule.short[node]).tolist():
            freed = np.cumsum(np.sort(of_node[:, column])[::-1])
            number = int(np.searchsorted(freed, missing[node, column])) + 1
            numbers.append(number if number <= len(freed) else NEVER)
        least[node] = max(numbers)
    return least


def _for_spread(rule: SpreadRule) -> IntArray:
    """Per domain: with k evictions it loses k matching pods at most, and k land elsewhere.

    The minimum rises by r only if the domains below it get what they lack, out of those k.
    """
    over = rule.skew - rule.constraint.max_skew
    least = np.maximum(over, 0)
    if rule.few_domains:
        return least
    counts = rule.counts[rule.eligible]
    for rise in range(1, int(over.max(initial=0)) + 1):
        landings = int(np.maximum(rule.minimum + rise - counts, 0).sum())
        least = np.minimum(least, np.maximum(np.maximum(over - rise, landings), 0))
    return np.where(over > 0, np.maximum(least, 1), 0)
