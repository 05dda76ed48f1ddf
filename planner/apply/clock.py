"""Time as apply sees it: tests have a clock of their own, on which waiting costs nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Clock:
    """Seconds since 1970, and a way to let some pass; a sleep may end early."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep


def micro_time(seconds: float) -> str:
    """As Kubernetes writes a MicroTime: `2026-05-01T12:00:00.000000Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(text: str) -> float:
    """Seconds since 1970 of a Time or a MicroTime."""
    return datetime.fromisoformat(text).timestamp()
