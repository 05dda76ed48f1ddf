"""NodeUnschedulable: cordoned nodes, together with the taint that the cordon brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, FieldPath, Rule, all_of_them
from planner.explain.situation.subject import Subject
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.taints import HARD_EFFECTS, first_untolerated


@dataclass(frozen=True, eq=False)
class CordonRule(Rule):
    """The cordon, one fact for all cordoned nodes."""

    kind: ClassVar[RuleKind] = "unschedulable"
    name: ClassVar[str] = "cordon"
    leaving: ClassVar[str] = "cordons leave"
    excluding: ClassVar[str] = "{} is cordoned"

    @property
    def object(self) -> str:
        """The nodes."""
        return "node/" + ", ".join(self.subject.nodes.names(self.blocked)[:6])

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`node2 is cordoned.`"""
        mask = left & self.blocked
        which = all_of_them(self.subject, mask, left, place, "Both")
        return f"{which} {_are(mask)} cordoned."

    def filter_sentence(self, left: BoolArray, place: str) -> str:
        """`eu-1c has one node, c1, which is cordoned.`"""
        if place and int(left.sum()) == 1 and (left & self.blocked).any():
            return f"{place} has one node, {self.subject.nodes.names(left)[0]}, which is cordoned."
        return super().filter_sentence(left, place)

    def clause(self, removed: BoolArray) -> str:
        """`3 are cordoned`."""
        return f"{int(removed.sum())} {_are(removed)} cordoned"

    def alone(self) -> str:
        """`every node is cordoned, so none takes pod/mypod`."""
        return f"every node is cordoned, so none takes {self.subject.headline}"

    def brief(self, left: BoolArray) -> str:
        """`node2 is cordoned`."""
        return self.sentence(left, first=True).rstrip(".")

    def after_spread(self, spread: str, place: str, left: BoolArray) -> str:
        """`zone spread allows node2 only, and node2 is cordoned`."""
        if int(left.sum()) == 1:
            node = self.subject.nodes.names(left)[0]
            return f"{spread} allows {node} only, and {node} is cordoned"
        return f"{spread} allows {place} only, and {place} is all cordoned"

    def cell(self, node: int) -> str:
        """`cordoned`."""
        return "cordoned"

    def facts(self) -> Facts:
        """How many nodes are cordoned."""
        return {"nodes": int(self.blocked.sum())}

    def where(self, left: BoolArray) -> FieldPath:
        """`node/node2`."""
        names = self.subject.nodes.names(left & self.blocked)
        return FieldPath(", ".join(f"node/{name}" for name in names[:3]))


def _are(nodes: BoolArray) -> str:
    return "is" if int(nodes.sum()) == 1 else "are"


def find(subject: Subject) -> list[Rule]:
    """A pod that tolerates the cordon's taint passes the cordon; a taint alone is no cordon."""
    nodes = subject.cluster.nodes
    tolerations = subject.group.spec.tolerations
    enabled = {plugin.name for plugin in subject.profile.filters}
    blocked = np.zeros(len(nodes), np.bool_)
    found = subject.pre_filter("NodeUnschedulable").filter
    if found is not None:
        blocked |= found.refused()
    for index in np.flatnonzero(subject.state.cordoned).tolist():
        own = [t for t in nodes[index].spec.taints if t.key == UNSCHEDULABLE_TAINT]
        taints = own if "TaintToleration" in enabled else []
        if first_untolerated(taints, tolerations, HARD_EFFECTS) is not None:
            blocked[index] = True
    return [CordonRule(subject, "spec.unschedulable", blocked)] if blocked.any() else []
