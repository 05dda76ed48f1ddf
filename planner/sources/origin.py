"""Where a dump comes from and when it was made, as `planner dump` notes it on the List."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from planner_models.meta import parse_time

PREFIX = "planner/"
"""Annotations of a List that are ours."""


class SnapshotOrigin(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The cluster that a dump is of; empty where nobody knows.

    `cluster` is the uid of its namespace kube-system, `time` when it was read, in RFC 3339.
    """

    cluster: str = ""
    context: str = ""
    server: str = ""
    """The version of its API server."""
    resource_version: str = ""
    time: str = ""
    not_read: str = ""
    """The kinds that the user may not list, by comma."""
    complete: str = ""
    """`true` if all is from the cluster: its controllers have made their pods, or something keeps
    them from it, so none is made from a template."""
    anonymous: str = ""
    """`true` if all names are other ones."""

    @property
    def annotations(self) -> dict[str, str]:
        """What to note on the List."""
        known: dict[str, str] = msgspec.to_builtins(self)
        return {f"{PREFIX}{name}": value for name, value in known.items()}

    @property
    def read_at(self) -> int | None:
        """When the cluster was read, in seconds since the epoch; None if that is not known."""
        try:
            return parse_time(self.time)
        except ValueError:
            return None

    def age(self, now: float) -> int | None:
        """Seconds since the cluster was read."""
        return None if self.read_at is None else max(0, int(now) - self.read_at)


def origin_of(annotations: dict[str, str]) -> SnapshotOrigin | None:
    """What the annotations of a List tell; None if planner did not write them."""
    ours = {
        key.removeprefix(PREFIX): value
        for key, value in annotations.items()
        if key.startswith(PREFIX)
    }
    return msgspec.convert(ours, SnapshotOrigin) if ours else None


def written_time(now: float) -> str:
    """A moment as the annotation tells it."""
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
