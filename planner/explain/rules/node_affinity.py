"""NodeAffinity: nodeSelector and required node affinity in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner.words import conjoined, short_key
from planner_models.diagnosis import RuleKind
from planner_models.selectors import NodeFieldRequirement, NodeSelectorRequirement, NodeSelectorTerm


@dataclass(frozen=True, eq=False)
class NodeAffinityRule(Rule):
    """What the pod asks of its node's labels and name."""

    asked: str
    equals: bool
    """Whether only `nodeSelector` asks, so that a node lacks `key=value`."""

    kind: ClassVar[RuleKind] = "nodeAffinity"
    leaving: ClassVar[str] = "node affinity leaves"
    excluding: ClassVar[str] = "node affinity excludes {}"

    @property
    def name(self) -> str:
        """`nodeSelector` or `node affinity`."""
        return "nodeSelector" if self.equals else "node affinity"

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`1200 nodes lack disktype=ssd (nodeSelector).`"""
        mask = left & self.blocked
        number = int(mask.sum())
        if number == self.subject.nodes.total:
            which, verb = "No node", "has" if self.equals else "matches"
        elif number == int(left.sum()) and number > 1:
            which, verb = f"None of these {number} nodes", "has" if self.equals else "matches"
        else:
            which, verb = self.subject.nodes.describe(mask), self._lacks(one=number == 1)
        return f"{which} {verb} {self.asked} ({self.name})."

    def _lacks(self, *, one: bool) -> str:
        if self.equals:
            return "lacks" if one else "lack"
        return "does not match" if one else "do not match"

    def clause(self, removed: BoolArray) -> str:
        """`3 lack disktype=ssd`."""
        number = int(removed.sum())
        verb = self._lacks(one=self.equals and number == 1)
        return f"{number} {verb} {self.asked}"

    def reason(self, nodes: BoolArray) -> str:
        """`nodeSelector disktype=ssd`."""
        return f"{self.name} {self.asked}"

    def brief(self, left: BoolArray) -> str:
        """`node affinity excludes it`."""
        return f"{self.name} asks for {self.asked}"

    def cell(self, node: int) -> str:
        """The same for every node."""
        return f"{self.name} {self.asked}"

    def facts(self) -> Facts:
        """What is asked, and how many nodes have it."""
        return {"asked": self.asked, "nodes": int(self.allowed.sum())}


def find(subject: Subject) -> list[Rule]:
    """One fact for nodeSelector and affinity together, as the plugin judges them together."""
    spec = subject.group.spec
    required = spec.affinity.node_affinity.required
    result = subject.pre_filter("NodeAffinity")
    if result.rejection is not None:
        blocked = np.ones(subject.nodes.total, np.bool_)
    elif result.filter is not None:
        blocked = result.filter.refused()
    else:
        return []
    asked = [f"{key}={value}" for key, value in sorted(spec.node_selector.items())]
    field = "spec.nodeSelector"
    if required is not None:
        asked.append(conjoined([term_words(term) for term in required.node_selector_terms], "or"))
        field = "spec.affinity.nodeAffinity"
    if not asked:
        asked, field = ["the profile's own affinity"], "pluginConfig.NodeAffinity.addedAffinity"
    equals = required is None and bool(spec.node_selector)
    return [NodeAffinityRule(subject, field, blocked, conjoined(asked), equals)]


def term_words(term: NodeSelectorTerm) -> str:
    """`zone in eu-1a, eu-1b and disktype=ssd`."""
    parts = [requirement_words(e) for e in term.match_expressions]
    parts += [_field(f) for f in term.match_fields]
    return conjoined(parts) or "an empty term, which matches no node"


def _field(field: NodeFieldRequirement) -> str:
    sign = "=" if field.operator == "In" else "!="
    return f"name{sign}{field.values[0]}"


def requirement_words(requirement: NodeSelectorRequirement) -> str:
    """`zone in eu-1a, eu-1b`."""
    key, values = short_key(requirement.key), ", ".join(requirement.values)
    match requirement.operator:
        case "In":
            return f"{key}={values}" if len(requirement.values) == 1 else f"{key} in {values}"
        case "NotIn":
            return f"{key} not in {values}"
        case "Exists":
            return f"the label {key}"
        case "DoesNotExist":
            return f"no label {key}"
        case "Gt":
            return f"{key} > {values}"
        case "Lt":
            return f"{key} < {values}"
