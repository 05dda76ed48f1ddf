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

    @property
    def name(self) -> str:
        """`nodeSelector` or `node affinity`."""
        return "nodeSelector" if self.equals else "node affinity"

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`1200 nodes lack disktype=ssd.`"""
        mask = left & self.blocked
        number = int(mask.sum())
        if number == self.subject.places.total:
            which, one = "No node", True
        elif number == int(left.sum()) and number > 1:
            which, one = f"None of these {number} nodes", True
        else:
            which, one = self.subject.places.describe(mask), number == 1
        if which.startswith("No"):
            verb = "has" if self.equals else "matches"
        elif self.equals:
            verb = "lacks" if one else "lack"
        else:
            verb = "does not match" if one else "do not match"
        return f"{which} {verb} {self.asked} ({self.name})."

    def brief(self, left: BoolArray) -> str:
        """`node affinity excludes it`."""
        return f"{self.name} asks for {self.asked}"

    def cell(self, node: int) -> str:
        """`nodeSelector disktype=ssd`."""
        return f"{self.name} {self.asked}"

    def facts(self) -> Facts:
        """What is asked, and how many nodes have it."""
        return {"asked": self.asked, "nodes": int(self.allowed.sum())}


def find(subject: Subject) -> list[Rule]:
    """One fact for nodeSelector and affinity together, as the plugin judges them together."""
    spec = subject.group.spec
    required = spec.affinity.node_affinity.required
    for plugin in subject.profile.filters:
        if plugin.name != "NodeAffinity":
            continue
        result = plugin.pre_filter(subject.state, subject.group)
        size = subject.places.total
        if result.rejection is not None:
            blocked = np.ones(size, np.bool_)
        elif result.filter is not None:
            blocked = result.filter.refused()
        else:
            continue
        asked = [f"{key}={value}" for key, value in sorted(spec.node_selector.items())]
        field = "spec.nodeSelector"
        if required is not None:
            terms = [term_words(term) for term in required.node_selector_terms]
            asked.append(conjoined(terms, "or"))
            field = "spec.affinity.nodeAffinity"
        if not asked:
            asked, field = ["the profile's own affinity"], "pluginConfig.NodeAffinity.addedAffinity"
        equals = required is None and bool(spec.node_selector)
        return [NodeAffinityRule(subject, field, blocked, conjoined(asked), equals)]
    return []


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
