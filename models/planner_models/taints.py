"""Taints of nodes and the tolerations of pods that answer them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from planner_models.base import Int, KubeModel
from planner_models.labels import LabelKey, LabelValue, check_label_key

TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
TolerationOperator = Literal["Equal", "Exists"]

HARD_EFFECTS: frozenset[TaintEffect] = frozenset({"NoSchedule", "NoExecute"})
"""The effects for which TaintToleration filters a node; the third one only lowers its score."""


class Taint(KubeModel):
    """A mark on a node that keeps away pods which do not tolerate it."""

    key: LabelKey
    value: LabelValue = ""
    effect: TaintEffect

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


def _equal_if_empty(operator: object) -> object:
    return "Equal" if operator == "" else operator


def _check_key_unless_empty(key: str) -> str:
    return check_label_key(key) if key else key


class Toleration(KubeModel):
    """What a pod puts up with.

    An empty key (only with Exists) stands for every key, an empty effect for every effect.
    The operators Lt and Gt are refused, as they are by an API server of 1.36 with default gates.
    """

    key: Annotated[str, AfterValidator(_check_key_unless_empty)] = ""
    operator: Annotated[TolerationOperator, BeforeValidator(_equal_if_empty)] = Field(
        default="Equal", validate_default=True
    )
    value: LabelValue = ""
    effect: Literal["", TaintEffect] = ""
    toleration_seconds: Int | None = None

    @field_validator("operator")
    @classmethod
    def _exists_if_any_key(
        cls, operator: TolerationOperator, info: ValidationInfo
    ) -> TolerationOperator:
        if info.data.get("key") == "" and operator != "Exists":
            raise ValueError("must be Exists when the key is empty")
        return operator

    @field_validator("value")
    @classmethod
    def _no_value_with_exists(cls, value: str, info: ValidationInfo) -> str:
        if value and info.data.get("operator") == "Exists":
            raise ValueError("must be empty when the operator is Exists")
        return value

    @field_validator("toleration_seconds")
    @classmethod
    def _seconds_with_no_execute(cls, seconds: int | None, info: ValidationInfo) -> int | None:
        if seconds is not None and info.data.get("effect", "NoExecute") != "NoExecute":
            raise ValueError("is allowed with effect NoExecute only")
        return seconds

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration answers the taint; tolerationSeconds does not matter here."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or self.value == taint.value


def first_untolerated(
    taints: Iterable[Taint], tolerations: Collection[Toleration], effects: Collection[TaintEffect]
) -> Taint | None:
    """The first taint, in the node's order, with one of the effects and no toleration for it."""
    for taint in taints:
        if taint.effect in effects and not any(t.tolerates(taint) for t in tolerations):
            return taint
    return None
