"""What is known about one rule, whoever judges it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.rules.events import Event
from planner_models.diagnosis import RuleKind

Reach = Literal["node", "domain", "cluster"]
StatedBy = Literal["pod", "otherPods", "node"]

BreakableRule = Literal["topologySpread", "nodeAffinity", "taints", "podAntiAffinity"]
"""Kinds whose cards say `breakable`, for type checkers."""
RelaxableRule = Literal["topologySpread", "podAffinity", "podAntiAffinity"]
"""Kinds whose cards say `relaxable`, as documents name them: by the pod that states the rule."""


@dataclass(frozen=True, kw_only=True)
class RuleCard:
    """One rule of one filter plugin; a plugin that holds several rules has several cards."""

    kind: RuleKind
    """As documents name it. The four volume plugins share one kind."""
    plugin: str
    name: str
    """As people call it. Spread and anti-affinity put their topology key before it."""
    fields: tuple[str, ...]
    """Where it is stated; the first is the one to show, `{}` is the number of the term."""
    stated_by: StatedBy = "pod"
    """Whose fields these are."""
    counts_pods: bool
    """Whether other pods matter. A rule that doesn't count pods is static."""
    reach: Reach
    """Where the pods and labels are that decide about one node: there, in its topology's domains,
    or anywhere."""
    monotone: bool
    """Whether pods that land, each where it may, never open a node for another one."""
    separable: bool = False
    """Whether a copy of the pod can go without it and keep the rest of its spec."""
    relaxable: bool = False
    """Whether `solve --relax` may break it."""
    breakable: bool = False
    """Whether a pod that runs already can break it (IgnoredDuringExecution): a violation."""
    helped_by: frozenset[Event]
    """After these events a pod that it refused is tried again."""
    broken_name: str = ""
    """What is broken, where a plan has to say so; empty for rules that no plan leaves broken."""
    breach: str = ""
    """Why a running pod breaks it, where `{}` is its node or domain; empty where numbers say it."""
    refusal: str = ""
    """What a table says of refused nodes; empty where the plugin's own reason says more."""

    def field(self, index: int = 0) -> str:
        """The field to show for the term or constraint with this number."""
        return self.fields[0].format(index)
