"""`spec.affinity`: node affinity, pod affinity and pod anti-affinity."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from planner_models.base import FieldError, Int, KubeModel
from planner_models.labels import LabelKey
from planner_models.selectors import LabelSelector, NodeSelector, NodeSelectorTerm

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _check_weight(weight: int) -> None:
    if not 1 <= weight <= 100:
        raise FieldError("weight", f"weight is {weight}; it must be between 1 and 100")


class PreferredSchedulingTerm(KubeModel):
    """A node selector term that adds its weight to the score of matching nodes."""

    weight: Int
    preference: NodeSelectorTerm

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        _check_weight(self.weight)
        return self


class NodeAffinity(KubeModel):
    """Rules about the labels of the pod's own node."""

    required: NodeSelector | None = Field(default=None, alias=REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] = Field(default=(), alias=PREFERRED)

    @property
    def unreadable(self) -> bool:
        """Whether kube-scheduler can't read one of the terms."""
        required = self.required.node_selector_terms if self.required else ()
        terms = (*required, *(weighted.preference for weighted in self.preferred))
        return any(term.unreadable for term in terms)


class PodAffinityTerm(KubeModel):
    """Which pods, in which namespaces, and over which topology.

    An absent `namespaceSelector` selects no namespace; with no `namespaces` either, the term is
    about the pod's own namespace. An empty selector `{}` selects all namespaces.
    """

    topology_key: LabelKey
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[LabelKey, ...] = ()
    mismatch_label_keys: tuple[LabelKey, ...] = ()

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        if not self.topology_key:
            raise FieldError("topologyKey", "topologyKey must not be empty")
        if (self.match_label_keys or self.mismatch_label_keys) and self.label_selector is None:
            raise FieldError(
                "matchLabelKeys", "matchLabelKeys and mismatchLabelKeys need a labelSelector"
            )
        for key in self.match_label_keys:
            if key in self.mismatch_label_keys:
                raise FieldError(
                    "matchLabelKeys", f"{key} is in both matchLabelKeys and mismatchLabelKeys"
                )
        return self


class WeightedPodAffinityTerm(KubeModel):
    """A preferred term and its weight."""

    weight: Int
    pod_affinity_term: PodAffinityTerm

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        _check_weight(self.weight)
        return self


class PodAffinity(KubeModel):
    """Required and preferred terms; the same shape serves affinity and anti-affinity."""

    required: tuple[PodAffinityTerm, ...] = Field(default=(), alias=REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = Field(default=(), alias=PREFERRED)


class Affinity(KubeModel):
    """All three kinds of affinity of a pod."""

    node_affinity: NodeAffinity = NodeAffinity.defaults()
    pod_affinity: PodAffinity = PodAffinity.defaults()
    pod_anti_affinity: PodAffinity = PodAffinity.defaults()
