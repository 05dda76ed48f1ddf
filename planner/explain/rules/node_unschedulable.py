"""NodeUnschedulable: cordoned nodes, together with the taint that the cordon brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner.words import conjoined
from planner_models.diagnosis import RuleKind
from planner_models.node import UNSCHEDULABLE_TAINT
from planner_models.taints import HARD_EFFECTS, first_untolerated


@dataclass(frozen=True, eq=False)
class CordonRule(Rule):
    """The cordon, one fact for all cordoned nodes."""

    kind: ClassVar[RuleKind] = "unschedulable"
    changeable: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """`cordon`."""
        return "cordon"

    @property
    def object(self) -> str:
        """The nodes."""
        return "node/" + ", ".join(self.subject.places.names(self.blocked)[:6])

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`node2 is cordoned.`"""
        mask = left & self.blocked
        number = int(mask.sum())
        if number == int(left.sum()) and number > 1:
            names = conjoined(self.subject.places.names(mask))
            return f"Both, {names}, are cordoned." if number == 2 else f"All {number} are cordoned."
        return f"{self.subject.places.describe(mask)} {'is' if number == 1 else 'are'} cordoned."

    def brief(self, left: BoolArray) -> str:
        """`node2 is cordoned`."""
        return self.sentence(left, first=True).rstrip(".")

    def cell(self, node: int) -> str:
        """`cordoned`."""
        return "cordoned"

    def facts(self) -> Facts:
        """How many nodes are cordoned."""
        return {"nodes": int(self.blocked.sum())}

    def where(self, left: BoolArray) -> str:
        """`node/node2`."""
        names = self.subject.places.names(left & self.blocked)
        return ", ".join(f"node/{name}" for name in names[:3])


def find(subject: Subject) -> list[Rule]:
    """A pod that tolerates the cordon's taint passes the cordon; a taint alone is no cordon."""
    nodes = subject.cluster.nodes
    tolerations = subject.group.spec.tolerations
    enabled = {plugin.name for plugin in subject.profile.filters}
    blocked = np.zeros(len(nodes), np.bool_)
    for plugin in subject.profile.filters:
        if plugin.name == "NodeUnschedulable":
            found = plugin.pre_filter(subject.state, subject.group).filter
            if found is not None:
                blocked |= found.refused()
    for index in np.flatnonzero(subject.state.cordoned).tolist():
        own = [t for t in nodes[index].spec.taints if t.key == UNSCHEDULABLE_TAINT]
        taints = own if "TaintToleration" in enabled else []
        if first_untolerated(taints, tolerations, HARD_EFFECTS) is not None:
            blocked[index] = True
    return [CordonRule(subject, "spec.unschedulable", blocked)] if blocked.any() else []
