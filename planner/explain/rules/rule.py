"""What every rule of an explanation can say about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.situation.subject import Subject
from planner_models.diagnosis import ConflictFact, RuleKind

Facts = Mapping[str, JsonValue]

NARROWS = 0
"""Rules that pick domains out of all nodes, told first."""
FILTERS = 1
"""Rules about single nodes, told for the nodes that are left."""
FILLS = 2
"""Room, told last."""


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """A rule that refuses nodes: one fact, whatever the number of nodes.

    `blocked` are the nodes it refuses now. Subclasses say it in words; they are made by the `find`
    of the module named like the plugin.
    """

    subject: Subject
    field: str
    blocked: BoolArray

    kind: ClassVar[RuleKind]
    stage: ClassVar[int] = FILTERS
    changeable: ClassVar[int] = 0
    """Order among conflicts of equal size: rules in the pod's own spec come first."""

    @property
    @abstractmethod
    def name(self) -> str:
        """`zone spread`, `taints`, `capacity`: as headlines and tables call it."""

    @property
    def object(self) -> str:
        """Whose field it is."""
        return self.subject.key

    @property
    def allowed(self) -> BoolArray:
        """The nodes that pass."""
        return ~self.blocked

    @abstractmethod
    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """The rule in a sentence, about the nodes that earlier rules left over."""

    @abstractmethod
    def brief(self, left: BoolArray) -> str:
        """What follows a comma in the headline: `and eu-1c has no room`."""

    @abstractmethod
    def cell(self, node: int) -> str:
        """The reason against one node, as short as a table needs it."""

    def facts(self) -> Facts:
        """The numbers behind the sentence."""
        return {}

    def where(self, left: BoolArray) -> str:
        """The object and field for the `-->` line; `left` are the nodes where it decides."""
        return self.field

    def fact(self, left: BoolArray) -> ConflictFact:
        """The rule as the document states it."""
        return ConflictFact(
            kind=self.kind,
            object=self.object,
            field=self.field,
            name=self.name,
            text=self.sentence(left, first=True),
            facts=dict(self.facts()),
        )
