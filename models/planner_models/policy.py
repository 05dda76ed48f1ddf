"""PodDisruptionBudgets."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from planner_models.base import FieldError, Int, KubeModel
from planner_models.meta import KubeObject
from planner_models.selectors import LabelSelector

_PERCENT = re.compile(r"0*[0-9]{1,9}%", re.ASCII)


def _any_percent(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("it has to be a whole number or a percentage such as 50%")
    if isinstance(value, int):
        if value < 0:
            raise ValueError(f"{value} is negative; it has to be at least 0")
        return value
    if not _PERCENT.fullmatch(value):
        raise ValueError(f'"{value}" is not a whole number or a percentage such as 50%')
    return value


def _int_or_percent(value: object) -> object:
    found = _any_percent(value)
    if isinstance(found, str) and _percent(found) > 100:
        raise ValueError(f'"{value}" is not a whole number or a percentage such as 50%')
    return found


IntOrPercent = Annotated[int | str, BeforeValidator(_int_or_percent)]
Surge = Annotated[int | str, BeforeValidator(_any_percent)]
"""How many pods may be there beyond the wanted ones: it may be more than as many again."""


def _percent(text: str) -> int:
    return int(text[:-1])


def scaled(value: int | str, total: int) -> int:
    """A number, or a percentage of `total` rounded up, as the disruption controller does it."""
    return value if isinstance(value, int) else -(-_percent(value) * total // 100)


def scaled_down(value: int | str, total: int) -> int:
    """A number, or a percentage of `total` rounded down, as `maxUnavailable` of a Deployment."""
    return value if isinstance(value, int) else _percent(value) * total // 100


class PodDisruptionBudgetSpec(KubeModel):
    """Either minAvailable or maxUnavailable over the selected pods.

    In policy/v1 an empty selector selects every pod of the namespace, an absent one none.
    """

    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: Literal["IfHealthyBudget", "AlwaysAllow"] = "IfHealthyBudget"

    @model_validator(mode="after")
    def _as_the_api_server_validates(self) -> Self:
        if self.min_available is not None and self.max_unavailable is not None:
            raise FieldError("maxUnavailable", "minAvailable and maxUnavailable exclude each other")
        return self


class BudgetCondition(KubeModel):
    """`DisruptionAllowed`, with the reason where it is False."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class PodDisruptionBudgetStatus(KubeModel):
    """What the disruption controller last counted; absent in manifests."""

    observed_generation: Int | None = None
    disruptions_allowed: Int | None = None
    current_healthy: Int | None = None
    desired_healthy: Int | None = None
    expected_pods: Int | None = None
    disrupted_pods: dict[str, object] = Field(default_factory=dict)
    conditions: tuple[BudgetCondition, ...] = ()


class PodDisruptionBudget(KubeObject):
    """How many of the selected pods may be down at once."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec.defaults()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus.defaults()
