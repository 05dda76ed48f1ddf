"""NodeName: a pod that names its node goes nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner_models.diagnosis import RuleKind


@dataclass(frozen=True, eq=False)
class NodeNameRule(Rule):
    """`spec.nodeName`."""

    wanted: str

    kind: ClassVar[RuleKind] = "nodeName"

    @property
    def name(self) -> str:
        """`nodeName`."""
        return "nodeName"

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`nodeName allows a1 only.`"""
        known = self.wanted in self.subject.cluster.node_index
        return f"nodeName is {self.wanted}" + (
            ", and no other node is asked." if known else "; there is no such node."
        )

    def brief(self, left: BoolArray) -> str:
        """`nodeName is a1`."""
        return f"nodeName is {self.wanted}"

    def cell(self, node: int) -> str:
        """`nodeName`."""
        return f"nodeName {self.wanted}"

    def facts(self) -> Facts:
        """The name."""
        return {"nodeName": self.wanted}


def find(subject: Subject) -> list[Rule]:
    """Only pods that were not bound yet and name a node."""
    for plugin in subject.profile.filters:
        if plugin.name == "NodeName":
            found = plugin.pre_filter(subject.state, subject.group).filter
            if found is not None:
                wanted = subject.group.node_name
                return [NodeNameRule(subject, "spec.nodeName", found.refused(), wanted)]
    return []
