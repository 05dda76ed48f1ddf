"""When what happens to silent nodes, zone by zone, in seconds from the outage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from planner.scenario.apply import Changed
from planner.scenario.unreachable import GRACE_SECONDS, ZoneOutage

Event = Literal["notReady", "firstTainted", "lastTainted", "firstDeleted", "lastDeleted"]


@dataclass(frozen=True)
class Moment:
    """What happens at a time in a zone: to all its lost nodes, or to its first or last ones.

    `count` is how many nodes, or pods, are concerned at that very moment.
    """

    seconds: int
    event: Event
    zone: str
    count: int


def timeline(changed: Changed) -> tuple[Moment, ...]:
    """Moments in order; in a zone that nobody empties nodes are only not ready."""
    found = [moment for zone in changed.zones for moment in _moments(changed, zone)]
    return tuple(sorted(found, key=lambda each: each.seconds))


def _moments(changed: Changed, zone: ZoneOutage) -> Iterator[Moment]:
    yield Moment(GRACE_SECONDS, "notReady", zone.zone, len(zone.lost))
    if zone.seconds is None:
        return
    yield Moment(GRACE_SECONDS, "firstTainted", zone.zone, 1)
    last = GRACE_SECONDS + (len(zone.lost) - 1) * zone.seconds
    yield Moment(last, "lastTainted", zone.zone, 1)
    nodes = frozenset(zone.lost)
    times = [each.seconds for each in changed.departures if each.node in nodes]
    if times:
        yield Moment(min(times), "firstDeleted", zone.zone, times.count(min(times)))
        yield Moment(max(times), "lastDeleted", zone.zone, times.count(max(times)))
