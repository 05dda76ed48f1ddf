"""How old a dump is, in words."""

from __future__ import annotations

from collections.abc import Iterable

from planner.sources.origin import SnapshotOrigin
from planner.words import duration


def ages(origins: Iterable[SnapshotOrigin], now: float) -> tuple[str, ...]:
    """A sentence about each dump that says when it was made."""
    known = ((origin.context or "a cluster", origin.age(now)) for origin in origins)
    return tuple(
        f"this is {name} as it was {duration(age)} ago" for name, age in known if age is not None
    )
