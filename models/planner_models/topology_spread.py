"""`topologySpreadConstraints`: the fields of one constraint and what the API server accepts."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from planner_models.base import FieldError, Int32, KubeModel
from planner_models.labels import LabelKey
from planner_models.selectors import LabelSelector

InclusionPolicy = Literal["Honor", "Ignore"]
WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]


class TopologySpreadConstraint(KubeModel):
    """One constraint of `spec.topologySpreadConstraints`.

    Absent policies mean Honor for node affinity and Ignore for taints; an absent `minDomains` acts
    as 1 but is kept apart, because the API allows the field with DoNotSchedule only. A topology key
    need not be a label key for the API server, only not empty: then no node has it.
    """

    max_skew: Int32
    topology_key: str
    when_unsatisfiable: WhenUnsatisfiable
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: InclusionPolicy = "Honor"
    node_taints_policy: InclusionPolicy = "Ignore"
    match_label_keys: tuple[LabelKey, ...] = Field(default=())

    @property
    def hard(self) -> bool:
        """Whether the scheduler refuses nodes that would break the constraint."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        if self.max_skew < 1:
            raise FieldError("maxSkew", f"maxSkew is {self.max_skew}; it must be at least 1")
        if not self.topology_key:
            raise FieldError("topologyKey", "topologyKey must not be empty")
        if self.min_domains is not None:
            if self.min_domains < 1:
                raise FieldError(
                    "minDomains", f"minDomains is {self.min_domains}; it must be at least 1"
                )
            if not self.hard:
                raise FieldError(
                    "minDomains", "minDomains is allowed with whenUnsatisfiable: DoNotSchedule only"
                )
        if self.match_label_keys and self.label_selector is None:
            raise FieldError("matchLabelKeys", "matchLabelKeys needs a labelSelector")
        return self


def check_distinct(constraints: tuple[TopologySpreadConstraint, ...]) -> None:
    """The API refuses two constraints of the same (topologyKey, whenUnsatisfiable)."""
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            raise FieldError(
                f"topologySpreadConstraints[{index}]",
                f"a second constraint for topologyKey {pair[0]} and {pair[1]}",
            )
        seen.add(pair)
