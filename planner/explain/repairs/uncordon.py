"""uncordon: the node takes pods again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs.commands import kubectl
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_unschedulable import CordonRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.overlay import Overlay, uncordoned

MOST = 6


def propose(case: Case, rule: Rule, nodes: BoolArray) -> Iterator[Proposal]:
    """Each of these nodes, the first few; the cordon and its own taint go together."""
    if not isinstance(rule, CordonRule):
        return
    for index in np.flatnonzero(nodes).tolist()[:MOST]:
        node = case.subject.cluster.nodes[index]
        yield Proposal(
            kind="uncordon",
            object=f"node/{node.name}",
            field="spec.unschedulable",
            before=True,
            after=False,
            text=kubectl("uncordon", node.name),
            cost=case.costs["uncordon"],
            overlay=Overlay(nodes={index: uncordoned(node)}),
            command=kubectl("uncordon", node.name),
        )
