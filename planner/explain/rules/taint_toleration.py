"""TaintToleration: nodes with a hard taint that the pod does not tolerate.

The taint that a cordon brings is the cordon's, never a cause of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule, all_of_them
from planner.explain.situation.subject import Subject
from planner.words import NAMED, conjoined
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.taints import HARD_EFFECTS, Taint


@dataclass(frozen=True, eq=False)
class TaintRule(Rule):
    """The taints that stand in the way, each with its nodes."""

    nodes_of: Mapping[Taint, BoolArray]

    kind: ClassVar[RuleKind] = "taints"
    name: ClassVar[str] = "taints"
    leaving: ClassVar[str] = "taints leave"
    excluding: ClassVar[str] = "it does not tolerate the taints of {}"

    def taints_at(self, left: BoolArray) -> list[Taint]:
        """The taints of these nodes, the most frequent first."""
        counts = {taint: int((nodes & left).sum()) for taint, nodes in self.nodes_of.items()}
        found = [taint for taint, count in counts.items() if count]
        return sorted(found, key=lambda taint: (-counts[taint], str(taint)))

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Both nodes in eu-1c have the taint nvidia.com/gpu=present:NoSchedule, which ...`."""
        mask = left & self.blocked
        taints = self.taints_at(mask)
        text = conjoined([str(taint) for taint in taints[:NAMED]], "or")
        noun = "the taint" if len(taints) == 1 else "one of the taints"
        verb = "has" if int(mask.sum()) == 1 else "have"
        which = all_of_them(self.subject, mask, left, place, "Both of them")
        return f"{which} {verb} {noun} {text}, which {self.subject.short} does not tolerate."

    def clause(self, removed: BoolArray) -> str:
        """`3 have the taint dedicated=ml:NoSchedule, which web does not tolerate`."""
        verb = "has" if int(removed.sum()) == 1 else "have"
        who = self.subject.short
        return (
            f"{int(removed.sum())} {verb} the {self.reason(removed)}, which {who} does not tolerate"
        )

    def reason(self, nodes: BoolArray) -> str:
        """`taint dedicated=ml:NoSchedule`."""
        return f"taint {conjoined([str(taint) for taint in self.taints_at(nodes)[:2]], 'or')}"

    def alone(self) -> str:
        """`pod/mypod tolerates the taints of no node`."""
        return f"{self.subject.headline} tolerates the taints of no node"

    def after_spread(self, spread: str, place: str, left: BoolArray) -> str:
        """`zone spread waits for eu-1c, where web tolerates no node`."""
        return f"{spread} waits for {place}, where {self.subject.short} tolerates no node"

    def few_words(self, left: BoolArray) -> str:
        """`taints not tolerated`."""
        return "taints not tolerated"

    def brief(self, left: BoolArray) -> str:
        """`web tolerates no node there`."""
        return f"{self.subject.short} does not tolerate {self.taints_at(left)[0].key}"

    def cell(self, node: int) -> str:
        """`taint dedicated=ml:NoSchedule`."""
        return ", ".join(str(t) for t, nodes in self.nodes_of.items() if nodes[node])

    def facts(self) -> Facts:
        """How many nodes have which taint."""
        return {"taints": {str(t): int(nodes.sum()) for t, nodes in self.nodes_of.items()}}


def find(subject: Subject) -> list[Rule]:
    """Distinct sets of taints are judged once each; there are few of them."""
    if not any(p.name == "TaintToleration" for p in subject.profile.filters):
        return []
    tolerations = subject.group.spec.tolerations
    sets, which = subject.state.taint_sets
    cordoned = subject.state.cordoned > 0
    nodes_of: dict[Taint, BoolArray] = {}
    for number, taints in enumerate(sets):
        for taint in taints:
            if taint.effect not in HARD_EFFECTS or any(t.tolerates(taint) for t in tolerations):
                continue
            nodes = which == number
            if taint.key == UNSCHEDULABLE_TAINT:  # with a cordon, it is the cordon's
                nodes &= ~cordoned
            if nodes.any():
                known = nodes_of.get(taint)
                nodes_of[taint] = nodes if known is None else known | nodes
    if not nodes_of:
        return []
    blocked: BoolArray = np.logical_or.reduce(list(nodes_of.values()))
    return [TaintRule(subject, "spec.tolerations", blocked, nodes_of)]
