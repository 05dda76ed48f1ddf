"""When a policy allows evictions: windows of the week, by the clock of a time zone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from planner_models.run_policy import DAYS, Hours


def within(hours: Iterable[Hours], now: datetime) -> bool:
    """Whether some window is open; without windows it always is."""
    every = tuple(hours)
    return not every or any(_open(each, now) for each in every)


def _open(hours: Hours, now: datetime) -> bool:
    """By the clock on the wall: a window that ends before it begins ends on the next day."""
    local = now.astimezone(ZoneInfo(hours.time_zone))
    minute = local.hour * 60 + local.minute
    today = DAYS[local.weekday()]
    if hours.from_ < hours.to:
        return today in hours.days and hours.from_ <= minute < hours.to
    yesterday = DAYS[(local - timedelta(days=1)).weekday()]
    return (today in hours.days and minute >= hours.from_) or (
        yesterday in hours.days and minute < hours.to
    )
