"""`RunPolicy`: what `planner run` may do in a cluster, when, and how much of it at once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from planner_models.base import Bool, FieldError
from planner_models.component_config import ComponentConfig, GoDuration, NonNegative
from planner_models.descheduler_args import IncludeExclude

Mode = Literal["DryRun", "Apply"]
RunGoal = Literal["spread", "soft", "utilization", "consolidate"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""In the order of `datetime.weekday`."""
LEAST_PERIOD = timedelta(seconds=10)

_PERCENT = re.compile(r"(\d{1,3})%")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00")
_SHOWN_DURATION = WithJsonSchema({"type": "string", "examples": ["90s", "5m", "1h30m"]})


def _percent(value: Any) -> int:
    """`20%` as 20; a bare number would be read as nodes by one and as a share by another."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f"{value} is no share; write {value}%")
    found = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[1]) > 100:
        raise ValueError(f"{value!r} is no share; write 0% to 100%")
    return int(found[1])


def _clock(value: Any) -> int:
    """`09:00` as minutes since midnight; `24:00` is the end of the day."""
    if not isinstance(value, str) or not _CLOCK.fullmatch(value):
        raise ValueError(f'{value!r} is no time of day; write "09:00", in quotes')
    hours, _, minutes = value.partition(":")
    return int(hours) * 60 + int(minutes)


def _time_zone(name: str) -> str:
    """Looked up, so that a misspelt one is told when the policy is read."""
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name!r}; such as UTC or Europe/Berlin") from error
    return name


def _not_negative(value: timedelta) -> timedelta:
    if value < timedelta():
        raise ValueError("it must not be negative")
    return value


def _each_once(names: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} stands there twice")
    return names


def duration_text(value: timedelta) -> str:
    """`90s`, `5m`, `1h30m`, as policies write it."""
    seconds, left = divmod(value.total_seconds(), 1)
    parts = ((int(seconds) // 3600, "h"), (int(seconds) // 60 % 60, "m"))
    text = "".join(f"{number}{unit}" for number, unit in parts if number)
    rest = int(seconds) % 60 + left
    return f"{text}{rest:g}s" if rest or not text else text


Duration = Annotated[
    GoDuration, AfterValidator(_not_negative), _SHOWN_DURATION, PlainSerializer(duration_text)
]
Percent = Annotated[
    int,
    BeforeValidator(_percent),
    PlainSerializer(lambda share: f"{share}%"),
    WithJsonSchema({"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}),
]
ClockTime = Annotated[
    int,
    BeforeValidator(_clock),
    PlainSerializer(lambda minutes: f"{minutes // 60:02}:{minutes % 60:02}"),
    WithJsonSchema({"type": "string", "pattern": f"^({_CLOCK.pattern})$"}),
]


class RunLimits(ComponentConfig):
    """How many evictions one round may make; 0 is none at all."""

    per_round: NonNegative | None = 10
    per_node: NonNegative | None = 2
    per_namespace: NonNegative | None = 5


class Protect(ComponentConfig):
    """Pods that are left alone, beside those that nobody may evict.

    `priorityThreshold` is a PriorityClass or a number: pods of that priority and above stay.
    `namespaces` are those to keep to, or to keep out of. Pods that `podSelector` selects stay.
    """

    priority_threshold: Annotated[
        str, BeforeValidator(lambda given: str(given) if type(given) is int else given)
    ] = "system-cluster-critical"
    namespaces: IncludeExclude = IncludeExclude(exclude=("kube-system",))
    pod_selector: str = ""


class Hours(ComponentConfig):
    """When evictions are allowed; one that ends before it begins goes on past midnight."""

    days: Annotated[tuple[Day, ...], Field(min_length=1), AfterValidator(_each_once)] = DAYS
    from_: ClockTime = Field(alias="from")
    to: ClockTime
    time_zone: Annotated[str, AfterValidator(_time_zone)] = "UTC"

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if self.from_ == self.to:
            raise FieldError("to", "it ends when it begins; 00:00 to 24:00 is all day")
        return self


class PauseWhen(ComponentConfig):
    """Shares of the cluster above which nothing is evicted: an outage is no time for it."""

    not_ready_nodes: Percent = 20
    pending_pods: Percent = 5


class ExplainPolicy(ComponentConfig):
    """Pods that wait for a node longer than `pendingFor` are explained, with `events` on them."""

    pending_for: Duration = timedelta(seconds=60)
    events: Bool = True


class RunPolicy(ComponentConfig):
    """The policy file of `planner run`, read again before every round."""

    api_version: Literal["planner/v1"]
    kind: Literal["RunPolicy"]
    mode: Mode = "DryRun"
    period: Duration = timedelta(minutes=5)
    """From the start of a round to the next; at least 20 times what reading the cluster took."""
    goals: Annotated[tuple[RunGoal, ...], Field(min_length=1), AfterValidator(_each_once)] = (
        "spread",
    )
    limits: RunLimits = RunLimits.defaults()
    protect: Protect = Protect.defaults()
    hours: tuple[Hours, ...] = ()
    """Without any, always."""
    pause_when: PauseWhen = PauseWhen.defaults()
    cooldown: Duration = timedelta(hours=1)
    """For a workload whose pod did not land as promised; the second time until the policy
    changes."""
    explain: ExplainPolicy = ExplainPolicy.defaults()
    cordons: Bool = False
    """Whether nodes may be cordoned for the length of a wave."""

    @model_validator(mode="after")
    def _not_too_often(self) -> Self:
        if self.period < LEAST_PERIOD:
            raise FieldError("period", f"it must be at least {LEAST_PERIOD.seconds}s")
        return self
