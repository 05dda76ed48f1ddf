"""NodeDeclaredFeatures: the pod uses something that its node's kubelet has to declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import Facts, Rule, all_of_them
from planner.explain.situation.subject import Subject
from planner.words import conjoined
from planner_models.declared_features import ASKED_FOR_BY
from planner_models.diagnosis import RuleKind


@dataclass(frozen=True, eq=False)
class FeatureRule(Rule):
    """The features that the pod's spec asks for, one fact."""

    features: tuple[str, ...]

    kind: ClassVar[RuleKind] = "declaredFeatures"
    name: ClassVar[str] = "declared features"
    leaving: ClassVar[str] = "the features it needs leave"
    excluding: ClassVar[str] = "it needs a feature that {} lacks"

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`a1 does not declare the feature X, which spec.hostUsers asks for.`"""
        mask = left & self.blocked
        verb = "does" if int(mask.sum()) == 1 else "do"
        who = f"{all_of_them(self.subject, mask, left, place, 'Both')} {verb} not declare"
        if mask.all() and len(mask) > 1:
            who = "No node declares"
        asking = conjoined([ASKED_FOR_BY[feature] for feature in self.features])
        asks = "asks" if len(self.features) == 1 else "ask"
        return f"{who} {self._features}, which {asking} {asks} for."

    def clause(self, removed: BoolArray) -> str:
        """`3 do not declare the feature X`."""
        number = int(removed.sum())
        return f"{number} {'does' if number == 1 else 'do'} not declare {self._features}"

    def alone(self) -> str:
        """`no node declares the features that pod/mypod needs`."""
        return f"no node declares the features that {self.subject.headline} needs"

    def brief(self, left: BoolArray) -> str:
        """`no node there declares the feature X`."""
        return f"no node there declares {self._features}"

    def few_words(self, left: BoolArray) -> str:
        """`features not declared`."""
        return "features not declared"

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
    found = subject.pre_filter("NodeDeclaredFeatures").filter
    if found is None:
        return []
    features = subject.group.spec.required_features
    return [FeatureRule(subject, ASKED_FOR_BY[features[0]], found.refused(), features)]
