"""`planner drain --all --rolling`: bounds, and the first two rounds in full."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.sparse_cluster import sparse_cluster
from planner.drain.empty_nodes import state_after
from planner.drain.options import DrainOptions
from planner.drain.rolling import RollingOptions, find_rolling
from planner.scheduler.profile import default_profile


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster."""
    cluster = sparse_cluster(case.integer("nodes"), case.number("load"), case.seed)
    options = DrainOptions(tuple(range(len(cluster.nodes))))
    with Stopwatch() as watch:
        found = find_rolling(cluster, options, RollingOptions(), default_profile())
    wrong = [] if found.rolling.possible else ["a round was not found"]
    for each in found.rolling.rounds:
        after = state_after(each).node_of
        if (after < 0).any() or np.isin(after, each.aim.drained).any():
            wrong.append("a pod waits, or is still on its node")
    values = {
        "rounds_at_least": found.rounds_at_least or 0,
        "at_once": found.rolling.shape.nodes_at_once,
        "planned": len(found.rolling.rounds),
        "evictions": found.rolling.evictions,
    }
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong))
