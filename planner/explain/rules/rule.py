"""What every rule of an explanation can say about itself.

Whoever tells of a conflict asks the rules: each knows the nodes it refuses, how it reads in a
headline, a paragraph, a table and a single sentence, and what is odd about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from pydantic import JsonValue

from planner.cluster.node_rules import BoolArray
from planner.explain.situation.subject import Subject
from planner.rules import MONOTONE, STATIC
from planner.words import conjoined
from planner_models.diagnosis import ConflictFact, RuleKind
from planner_models.notice import Notice

Facts = Mapping[str, JsonValue]

NARROWS = 0
"""Rules that pick domains out of all nodes, told first."""
FILTERS = 1
"""Rules about single nodes, told for the nodes that are left."""
FILLS = 2
"""Room, told last."""


@dataclass(frozen=True)
class FieldPath:
    """Where a rule is written; `index` is its position, if the field is a list of rules."""

    path: str
    index: int | None = None

    def __str__(self) -> str:
        return self.path if self.index is None else f"{self.path}[{self.index}]"


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """A rule that refuses nodes: one fact, whatever the number of nodes.

    `blocked` are the nodes it refuses now. Subclasses are made by the `find` of the module named
    like the plugin. `left` are always the nodes that the rules told before left over.
    """

    subject: Subject
    field: str
    blocked: BoolArray

    kind: ClassVar[RuleKind]
    phase: ClassVar[int] = FILTERS
    changeable: ClassVar[int] = 0
    """Order among conflicts of equal size: rules in the pod's own spec come first."""
    leaving: ClassVar[str] = ""
    """`taints leave`: how a sentence says which nodes remain."""
    excluding: ClassVar[str] = ""
    """`anti-affinity excludes {}`: how a sentence says that nothing remains."""

    # What it is

    @property
    @abstractmethod
    def name(self) -> str:
        """`zone spread`, `taints`, `capacity`: as headlines and tables call it."""

    @property
    def object(self) -> str:
        """Whose field it is."""
        return self.subject.key

    @property
    def part(self) -> tuple[RuleKind, int]:
        """Which of the pod's rules it is; spread constraints and terms have a position."""
        return self.kind, 0

    @property
    def in_spec(self) -> bool:
        """Whether the pod's own spec has it; other rules are the profile's, or of others."""
        return self.field.startswith("spec.")

    @property
    def monotone(self) -> bool:
        """Whether more pods never open a node, so that what it refuses stays refused."""
        return self.kind in MONOTONE

    @property
    def allowed(self) -> BoolArray:
        """The nodes that pass."""
        return ~self.blocked

    @property
    def hopeless(self) -> BoolArray:
        """Nodes that it refuses whatever runs where: all, if it looks at no other pod."""
        return self.blocked if self.kind in STATIC else np.zeros_like(self.blocked)

    @property
    def counted_groups(self) -> Sequence[int]:
        """The groups of pods that it counts."""
        return ()

    def held_against(self, node: int) -> BoolArray:
        """The running pods for which it may refuse the node."""
        found: BoolArray = self.subject.state.node_of == node
        return found

    # Its words in the long explanation

    @abstractmethod
    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """The rule in a sentence; `place` is what all the nodes that are left have in common."""

    def filter_sentence(self, left: BoolArray, place: str) -> str:
        """The sentence of a rule about single nodes; a place with one node is told as such."""
        number = int((left & self.blocked).sum())
        if not place or number != int(left.sum()):
            return self.sentence(left, first=True)
        if number == 1:
            return f"{place} has one node. {self.sentence(left, first=True)}"
        return self.sentence(left, first=True, place=place)

    def clause(self, removed: BoolArray) -> str:
        """`3 are cordoned`: its part of a sentence that sums up many nodes."""
        number = int(removed.sum())
        return f"{number} {'is' if number == 1 else 'are'} refused by {self.name}"

    def remark(self) -> str:
        """What surprises about its count, behind its sentence."""
        return ""

    def domains_left(self, left: BoolArray) -> list[str]:
        """The domains that it leaves, if they are few enough to say `in eu-1a and eu-1b`."""
        return []

    # Its words in headlines

    def alone(self) -> str:
        """The headline, if the rule by itself leaves no node."""
        return f"{self.name} leaves no node for {self.subject.headline}"

    @abstractmethod
    def brief(self, left: BoolArray) -> str:
        """What follows a comma in the headline: `and eu-1c has no room`."""

    def after_spread(self, spread: str, place: str, left: BoolArray) -> str:
        """The headline, if a spread constraint leaves one place and this rule closes it."""
        return ""

    def few_words(self, left: BoolArray) -> str:
        """The cause as short as a row of a table needs it."""
        return self.name

    # Its words in a single sentence, and in tables

    def leaves(self, left: BoolArray) -> str:
        """`taints leave a1 and a2`."""
        return f"{self.leaving} {self.subject.nodes.describe(left)}"

    def excludes(self, left: BoolArray, there: str) -> str:
        """Why none of these nodes takes the pod; `there` refers to what rules before left."""
        return self.excluding.format(f"every node{there}")

    @abstractmethod
    def cell(self, node: int) -> str:
        """The reason against one node, as short as a table needs it."""

    def verdict(self, node: int) -> str:
        """The cell of a table about every node."""
        return f"no   {self.cell(node)}" if self.blocked[node] else "ok"

    def columns(self) -> Mapping[str, Sequence[str]]:
        """What else such a table shows of each node."""
        return {}

    def reason(self, nodes: BoolArray) -> str:
        """`zone spread, 41 - 39 > 1`: the rule with the numbers that these nodes share."""
        return self.name

    # The document

    def facts(self) -> Facts:
        """The numbers behind the sentence."""
        return {}

    def where(self, left: BoolArray) -> FieldPath:
        """The object or field for the `-->` line; `left` are the nodes where it decides."""
        return FieldPath(self.field)

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

    def hints(self, rules: Sequence[Rule]) -> Iterator[Notice]:
        """Typos and traps, beside all rules that refuse a node."""
        yield from ()


SomeRule = TypeVar("SomeRule", bound=Rule)


def of_type(rules: Iterable[Rule], kind: type[SomeRule]) -> list[SomeRule]:
    """Those of one plugin, for questions that only they can be asked."""
    return [rule for rule in rules if isinstance(rule, kind)]


def all_of_them(subject: Subject, mask: BoolArray, left: BoolArray, place: str, both: str) -> str:
    """Nodes as a sentence begins with them: all that are left, all of a place, or by name."""
    number = int(mask.sum())
    if number != int(left.sum()) or number < 2:
        return subject.nodes.describe(mask)
    if place:
        return f"Both nodes in {place}" if number == 2 else f"All {number} nodes in {place}"
    return f"{both}, {conjoined(subject.nodes.names(mask))}," if number == 2 else f"All {number}"
