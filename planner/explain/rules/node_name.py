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
    name: ClassVar[str] = "nodeName"
    leaving: ClassVar[str] = "nodeName leaves"
    excluding: ClassVar[str] = "its nodeName is none of them"

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`nodeName is a1, and no other node is asked.`"""
        known = self.wanted in self.subject.cluster.node_index
        return f"nodeName is {self.wanted}" + (
            ", and no other node is asked." if known else "; there is no such node."
        )

    def brief(self, left: BoolArray) -> str:
        """`nodeName is a1`."""
        return f"nodeName is {self.wanted}"

    def cell(self, node: int) -> str:
        """`nodeName a1`."""
        return f"nodeName {self.wanted}"

    def facts(self) -> Facts:
        """The name."""
        return {"nodeName": self.wanted}


def find(subject: Subject) -> list[Rule]:
    """Only pods that were not bound yet and name a node."""
    found = subject.pre_filter("NodeName").filter
    if found is None:
        return []
    wanted = subject.group.node_name
    return [NodeNameRule(subject, "spec.nodeName", found.refused(), wanted)]
