"""Where a page comes from: whoever finds it months later wants to know.

Nothing here depends on the machine or the time of day, so that the same input gives the same page:
the age of a dump is told by the newest pod in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from planner.cluster import Cluster


def provenance(
    command: str, inputs: Sequence[str], cluster: Cluster | None
) -> tuple[tuple[str, str], ...]:
    """What is told at the end of a page: words and their values."""
    found = [("Command", command)]
    if inputs:
        found.append(("Input", ", ".join(inputs)))
    newest = None if cluster is None else _newest(cluster)
    if newest is not None:
        found.append(("Newest pod in it", newest))
    return tuple(found)


def _newest(cluster: Cluster) -> str | None:
    times = [pod.created for pod in cluster.pods if pod.created is not None]
    if not times:
        return None
    return datetime.fromtimestamp(max(times), UTC).strftime("%Y-%m-%d %H:%M UTC")
