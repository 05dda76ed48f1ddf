"""LimitRanges: what containers ask for where they say nothing, and how much they may ask for."""

from __future__ import annotations

from pydantic import Field

from planner_models.base import KubeModel
from planner_models.meta import KubeObject
from planner_models.resources import Amounts

CONTAINER = "Container"
POD = "Pod"


class LimitRangeItem(KubeModel):
    """The limits of one type: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: Amounts = Field(default_factory=dict)
    min: Amounts = Field(default_factory=dict)
    default: Amounts = Field(default_factory=dict)
    default_request: Amounts = Field(default_factory=dict)
    max_limit_request_ratio: Amounts = Field(default_factory=dict)

    @property
    def default_limits(self) -> dict[str, int]:
        """What a container without a limit gets: the maximum where there is no default.

        The API server stores it so (SetDefaults_LimitRangeItem).
        """
        return {**self.max, **self.default}

    @property
    def default_requests(self) -> dict[str, int]:
        """What a container without a request gets: else the default limit, else the minimum."""
        return {**self.min, **self.default_limits, **self.default_request}


class LimitRangeSpec(KubeModel):
    """Limits by type."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubeObject):
    """The limits of a namespace."""

    spec: LimitRangeSpec = LimitRangeSpec.defaults()
