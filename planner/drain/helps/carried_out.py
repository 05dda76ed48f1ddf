"""A drain of a changed copy, and how its outcome reads."""

from __future__ import annotations

from dataclasses import replace

from planner.cluster import Cluster
from planner.drain.find import Drain, find_drain
from planner.drain.options import DrainOptions
from planner.evictions.goals import placed_at
from planner.words import count_of

SEARCH = 5.0
"""Seconds of the solver for each copy: a change that takes longer to judge is not shown."""


def carried_out(
    drain: Drain, cluster: Cluster | None = None, options: DrainOptions | None = None
) -> Drain | None:
    """The drain on a copy or with other options; None if it is not possible, or not for sure."""
    asked = replace(options or drain.options, time_limit=SEARCH)
    found = find_drain(cluster or drain.given, asked, drain.profile)
    return found if found.status == "possible" and found.tried.converges else None


def after(drain: Drain) -> Cluster:
    """The cluster when the nodes are empty and back, if ties are broken by name."""
    ended = placed_at(drain.start, drain.tried.runs[0].node_of)
    return ended.without(drain.leaving.lost)


def outcome(found: Drain) -> str:
    """`17 evictions in 4 waves, converges`."""
    evictions = count_of(len(found.evicted) + len(found.leaving.lost), "eviction")
    return f"{evictions} in {count_of(len(found.tried.waves), 'wave')}, converges"
