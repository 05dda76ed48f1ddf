"""combined: two or three changes together, where no node is one change away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from planner.cluster.node_rules import BoolArray
from planner.explain.conflicts.conflict import blocked_by
from planner.explain.repairs.changes import changes_for, giving_up
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.rule import Rule

MOST_SETS = 6
MOST_RULES = 3


def propose(case: Case) -> Iterator[Proposal]:
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
