"""What the configuration files of Kubernetes components have in common.

kube-scheduler and the descheduler decode their configuration strictly: an unknown field is a
mistake, not an addition of a later release. Durations are written as Go prints them.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, ValidationInfo
from pydantic.alias_generators import to_camel

from planner_models.base import Int, KubeModel

_MICROSECONDS = {
    "ns": 0.001,
    "us": 1,
    "µs": 1,  # U+00B5, the micro sign
    "μs": 1,  # U+03BC, the Greek letter; Go accepts both
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[-+]?(0|({_PART.pattern})+)")


class ComponentConfig(KubeModel):
    """A part of a component's configuration file: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def parse_duration(text: str) -> timedelta:
    """Read a Go duration such as `1h30m`, `10m0s`, `1.5s` or `0`, to the microsecond."""
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration; write for instance 90s, 10m or 1h30m")
    parts = _PART.findall(text)
    total = sum(float(number) * _MICROSECONDS[unit] for number, unit in parts)
    return timedelta(microseconds=-total if text.startswith("-") else total)


def _read_duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError("a duration is a text such as 90s, 10m or 1h30m")
    return parse_duration(value)


def _within(low: int, high: int | None) -> AfterValidator:
    def check(value: int, info: ValidationInfo) -> int:
        if value < low or (high is not None and value > high):
            bounds = f"at least {low}" if high is None else f"between {low} and {high}"
            name = to_camel(info.field_name or "value")
            raise ValueError(f"{name} is {value}; it must be {bounds}")
        return value

    return AfterValidator(check)


GoDuration = Annotated[timedelta, BeforeValidator(_read_duration)]
Int32 = Annotated[Int, _within(-(2**31), 2**31 - 1)]
NonNegative = Annotated[Int, _within(0, None)]
Positive = Annotated[Int, _within(1, None)]
Percentage = Annotated[Int, _within(0, 100)]
UpToTen = Annotated[Int, _within(0, 10)]
