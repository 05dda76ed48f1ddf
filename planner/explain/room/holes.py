"""How many evictions a node needs at least before it takes the pod, whatever happens elsewhere.

Evicted pods need not land anywhere here, so the smallest number over all nodes is a lower bound for
every sequence: with as many evictions found, it is proven that fewer can't do.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.room.stage import Stage
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups

NEVER = 10**6
"""In the place of a number for nodes that no eviction opens."""


def evictions_at(stage: Stage) -> IntArray:
    """For each node: what its hardest rule needs; evictions may serve several rules at once."""
    least = np.ones(stage.subject.places.total, np.int64)
    for rule in stage.rules:
        if isinstance(rule, CapacityRule):
            least = np.maximum(least, _for_room(stage, rule, stage.movable))
        if isinstance(rule, SpreadRule):
            per_domain = np.append(_for_spread(rule), NEVER)
            least = np.maximum(least, per_domain[rule.topology.domain_of])
        if isinstance(rule, AntiAffinityRule):
            topology = stage.subject.cluster.topology(rule.terms[0].topology_key)
            counts = np.append(rule.counts, 0)
            least = np.maximum(least, counts[topology.domain_of])
    return np.where(stage.never, NEVER, least)


def evictions_for_one_more(stage: Stage) -> int:
    """No sequence needs fewer: a domain has to end with one matching pod more than it has now.

    When that one lands, every domain below its count + 1 - maxSkew has gained, too, and in each of
    them a node holds one more than now, for which others have to leave it. It holds where all pods
    that count are like this one: evicting those makes no room for one more.
    """
    rooms = [rule for rule in stage.rules if isinstance(rule, CapacityRule)]
    least = 1
    for rule in stage.rules:
        groups = _alike(stage, rule) if isinstance(rule, SpreadRule) else None
        if not isinstance(rule, SpreadRule) or groups is None or not rooms:
            continue
        others = stage.movable & ~np.isin(stage.subject.cluster.group_of, groups)
        per_node = np.where(stage.never, NEVER, _for_room(stage, rooms[0], others))
        gain = np.full(len(rule.topology.domains), NEVER)
        labelled = rule.topology.domain_of >= 0
        np.minimum.at(gain, rule.topology.domain_of[labelled], per_node[labelled])
        least = max(least, _cheapest_gain(rule, gain))
    return least


def _alike(stage: Stage, rule: SpreadRule) -> IntArray | None:
    """The groups that count, if all have the pod's own spec and it is among them."""
    groups = matching_groups(stage.subject, rule.constraint)
    cluster, own = stage.subject.cluster, stage.subject.group
    same = all(cluster.groups[g].spec == own.spec for g in groups.tolist())
    return groups if same and own.index in groups else None


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


def _for_room(stage: Stage, rule: CapacityRule, leaving: BoolArray) -> IntArray:
    """The fewest of these pods that hold what a node lacks, of each resource by itself."""
    subject = stage.subject
    cluster, state = subject.cluster, subject.state
    least = np.where(rule.blocked, NEVER, 0)
    pods = np.flatnonzero(leaving)
    pods = pods[(rule.blocked & ~stage.never)[state.node_of[pods]]]
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
