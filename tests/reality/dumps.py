"""Dumps of clusters in which something surprising happens, most from a real control plane."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.api import evict, load, solve
from planner.cluster import Cluster
from planner.disruption.movability import MovePolicy
from planner.evictions.protection import Protection
from planner.evictions.suggestion import EvictOptions
from planner.solver.options import SolveOptions
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.objects import cluster_of

DATA = Path(__file__).parent / "data"
Json = dict[str, Any]


def dump(name: str) -> Cluster:
    """A dump as it was taken."""
    return load([str(DATA / f"{name}.json.gz")])


def changed(name: str, change: Callable[[Json], None]) -> Cluster:
    """A dump of which every object went through `change`."""
    objects = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))["items"]
    for each in objects:
        change(each)
    return cluster_of(*objects)


def evictions(cluster: Cluster, policy: MovePolicy | None = None) -> EvictionPlan:
    """What `planner evict` proposes, tried under a few seeds."""
    protection = Protection(policy or MovePolicy())
    return evict(cluster, EvictOptions(protection=protection, seeds=3, time_limit=5.0))


def rebalanced(cluster: Cluster, policy: MovePolicy | None = None) -> Plan:
    """What `planner solve --rebalance` proposes."""
    options = SolveOptions(rebalance=True, policy=policy or MovePolicy(), time_limit=5.0)
    return solve(cluster, options)


def evicted(plan: EvictionPlan) -> list[str]:
    """The names of the pods to evict."""
    return sorted(each.pod.partition("/")[2] for each in plan.evictions)


def moved(plan: Plan) -> list[str]:
    """The names of the pods that a plan takes from their nodes."""
    steps = (step for wave in plan.waves for step in wave.steps)
    names = {s.pod for s in steps if s.pod is not None and s.action in ("move", "evict")}
    return sorted(name.partition("/")[2] for name in names)
