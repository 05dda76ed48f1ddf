"""Which changes each rule proposes, alone and, where no node is one change away, combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.repairs import single_nodes
from planner.explain.repairs.inter_pod_affinity import (
    correct_affinity_key,
    drop_pod_affinity,
    relax_anti_affinity,
    relax_anti_affinity_of_others,
)
from planner.explain.repairs.node_affinity import drop_node_affinity
from planner.explain.repairs.node_resources_fit import free_capacity, lower_request
from planner.explain.repairs.pod_topology_spread import (
    correct_spread_key,
    lower_min_domains,
    raise_max_skew,
    schedule_anyway,
)
from planner.explain.repairs.proposal import Case, Changes, Proposal
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule, NearRule, OthersRule
from planner.explain.rules.node_affinity import NodeAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule

MOST_SETS, MOST_RULES = 6, 3
"""How many sets of rules, and of how many rules, are changed together."""

_CHANGES: Changes = {
    SpreadRule: (correct_spread_key, raise_max_skew, lower_min_domains),
    NearRule: (correct_affinity_key,),
    CapacityRule: (free_capacity, lower_request),
    **single_nodes.CHANGES,
}
"""What lets nodes pass that the rule refuses; each function takes rules of its key alone."""

_GIVING_UP: Mapping[type[Rule], Callable[[Case, Any], Iterator[Proposal]]] = {
    SpreadRule: schedule_anyway,
    NodeAffinityRule: drop_node_affinity,
    NearRule: drop_pod_affinity,
    AntiAffinityRule: relax_anti_affinity,
    OthersRule: relax_anti_affinity_of_others,
}
"""What drops the rule, or makes it a preference."""


def changes_for(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """Changes to a rule that would let these nodes pass."""
    for propose in _CHANGES.get(type(rule), ()):
        yield from propose(case, rule, nodes)


def giving_up(case: Case, rule: Rule) -> Iterator[Proposal]:
    """Changes that give a rule up; they may help by what else depends on it."""
    propose = _GIVING_UP.get(type(rule))
    if propose is not None:
        yield from propose(case, rule)


def combined(case: Case) -> Iterator[Proposal]:
    """For the smallest sets of rules that refuse a node: the cheapest change for each of them."""
    masks = blocked_by(case.rules, case.subject.nodes.total)
    sets = sorted(set(masks.tolist()), key=lambda mask: (mask.bit_count(), mask))
    wanted = [mask for mask in sets if 2 <= mask.bit_count() <= MOST_RULES]
    for mask in wanted[:MOST_SETS]:
        rules = [rule for bit, rule in enumerate(case.rules) if mask >> bit & 1]
        yield from _for_nodes(case, rules, masks == mask)


def _for_nodes(case: Case, rules: Sequence[Rule], nodes: BoolArray) -> Iterator[Proposal]:
    options = []
    for rule in rules:
        found = [*changes_for(case, rule, nodes), *giving_up(case, rule)]
        options.append(sorted(found, key=lambda proposal: proposal.cost)[:2])
    for first, *others in product(*options):
        joined = first
        for other in others:
            joined = joined.joined(other, case.costs["combined"])
        yield joined
