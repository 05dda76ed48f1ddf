"""combined: two or three changes together, where no node is one change away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.repairs import relax_affinity, relax_anti_affinity, schedule_anyway
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.rule import Rule

MOST_SETS = 6
MOST_RULES = 3

PerRule = Callable[[Case, Rule, BoolArray], Iterator[Proposal]]


def propose(case: Case, per_rule: tuple[PerRule, ...]) -> Iterator[Proposal]:
    """For the smallest sets of rules that refuse a node: the cheapest change for each of them."""
    masks = blocked_by(case.rules, case.subject.places.total)
    sets = sorted(set(masks.tolist()), key=lambda mask: (mask.bit_count(), mask))
    wanted = [mask for mask in sets if 2 <= mask.bit_count() <= MOST_RULES]
    for mask in wanted[:MOST_SETS]:
        nodes = masks == mask
        rules = [rule for bit, rule in enumerate(case.rules) if mask >> bit & 1]
        yield from _for_nodes(case, rules, nodes, per_rule)


def _for_nodes(
    case: Case, rules: list[Rule], nodes: BoolArray, per_rule: tuple[PerRule, ...]
) -> Iterator[Proposal]:
    if not np.any(nodes):
        return
    options = []
    for rule in rules:
        found = [p for propose_for in per_rule for p in propose_for(case, rule, nodes)]
        found += _giving_up(case, rule)
        options.append(sorted(found, key=lambda p: p.cost)[:2])
    for chosen in product(*options):
        joined = chosen[0]
        for other in chosen[1:]:
            joined = joined.joined(other, case.costs["combined"])
        yield joined


def _giving_up(case: Case, rule: Rule) -> Iterator[Proposal]:
    """Changes that drop the rule or make it a preference."""
    for propose_all in (
        schedule_anyway.propose,
        relax_affinity.propose,
        relax_anti_affinity.propose,
        relax_anti_affinity.propose_of_others,
    ):
        yield from (p for p in propose_all(case) if _is_about(p, rule))


def _is_about(proposal: Proposal, rule: Rule) -> bool:
    match rule.kind:
        case "nodeAffinity":
            return "nodeSelector" in proposal.field or ".nodeAffinity" in proposal.field
        case "podAffinity":
            return ".podAffinity" in proposal.field
        case "podAntiAffinityOfOthers":
            return proposal.field == rule.field
        case _:
            return proposal.field.startswith(f"{rule.field}.") or proposal.field == rule.field
