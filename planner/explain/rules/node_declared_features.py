"""NodeDeclaredFeatures: the pod uses something that its node's kubelet has to declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule
from planner.explain.situation.subject import Subject
from planner.words import conjoined
from planner_models.declared_features import ASKED_FOR_BY
from planner_models.diagnosis import RuleKind


@dataclass(frozen=True, eq=False)
class FeatureRule(Rule):
    """The features that the pod's spec asks for, one fact."""

    features: tuple[str, ...]

    kind: ClassVar[RuleKind] = "declaredFeatures"

    @property
    def name(self) -> str:
        """`declared features`."""
        return "declared features"

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`a1 and a2 don't declare the feature X, which spec.hostUsers asks for.`"""
        mask = left & self.blocked
        if mask.all() and len(mask) > 1:
            who = "No node declares"
        else:
            verb = "does" if int(mask.sum()) == 1 else "do"
            who = f"{self.subject.places.describe(mask)} {verb} not declare"
        asking = conjoined([ASKED_FOR_BY[feature] for feature in self.features])
        asks = "asks" if len(self.features) == 1 else "ask"
        return f"{who} {self._features}, which {asking} {asks} for."

    def brief(self, left: BoolArray) -> str:
        """`the others don't declare the feature X`."""
        return f"the rest does not declare {self._features}"

    def cell(self, node: int) -> str:
        """`lacks RestartAllContainersOnContainerExits`."""
        declared = self.subject.cluster.nodes[node].status.declared_features
        return f"lacks {conjoined([f for f in self.features if f not in declared])}"

    @property
    def _features(self) -> str:
        number = "feature" if len(self.features) == 1 else "features"
        return f"the {number} {conjoined(list(self.features))}"

    def facts(self) -> Facts:
        """The features."""
        return {"features": list(self.features)}


def find(subject: Subject) -> list[Rule]:
    """The plugin's own verdicts."""
    for plugin in subject.profile.filters:
        if plugin.name == "NodeDeclaredFeatures":
            found = plugin.pre_filter(subject.state, subject.group).filter
            if found is not None:
                features = subject.group.spec.required_features
                field = ASKED_FOR_BY[features[0]]
                return [FeatureRule(subject, field, found.refused(), features)]
    return []
