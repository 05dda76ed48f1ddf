"""Questions about a part of the pods: what the others do is not told."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from planner.replay.violations import Violation


def among(found: Iterable[Violation], asked: Collection[int] | None) -> tuple[Violation, ...]:
    """Rules that some of these pods break; without pods, all."""
    if asked is None:
        return tuple(found)
    return tuple(each for each in found if any(pod in asked for pod in each.pods))
