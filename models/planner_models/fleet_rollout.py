"""How a placement is rolled out, as far as Fleet's webhook refuses it.

It does not matter to the choice of clusters.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from planner_models.base import FieldError, Int, KubeModel
from planner_models.policy import IntOrPercent


class RollingUpdate(KubeModel):
    """How many clusters may be without the resources for how long."""

    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None
    unavailable_period_seconds: Annotated[Int, Field(ge=0)] | None = None


class ApplyStrategy(KubeModel):
    """How resources are applied on a cluster."""

    type: str = "ClientSideApply"
    server_side_apply_config: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _server_side_only(self) -> Self:
        if self.server_side_apply_config is not None and self.type != "ServerSideApply":
            raise FieldError("serverSideApplyConfig", "is for type ServerSideApply only")
        return self


class RolloutStrategy(KubeModel):
    """`spec.strategy`."""

    type: Literal["RollingUpdate", "External"] = "RollingUpdate"
    rolling_update: RollingUpdate | None = None
    apply_strategy: ApplyStrategy | None = None

    @model_validator(mode="after")
    def _rolling_only(self) -> Self:
        if self.rolling_update is not None and self.type == "External":
            raise FieldError("rollingUpdate", "is for type RollingUpdate only")
        return self
