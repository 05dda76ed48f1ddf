"""Dumps of clusters in which something surprising happens, most from a real control plane."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import planner
from planner.cluster import Cluster
from planner.disruption.movability import MovePolicy
from planner.documents.eviction_plan import make_eviction_plan
from planner.documents.plan import make_plan
from planner.evictions.protection import Protection
from planner.evictions.suggestion import EvictOptions
from planner.scheduler.profile import default_profile
from planner.solver.problem.options import SolveOptions
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan
from tests.objects import cluster_of

DATA = Path(__file__).parent / "data"
Json = dict[str, Any]


def dump(name: str) -> Cluster:
    """A dump as it was taken."""
    return planner.load(str(DATA / f"{name}.json.gz")).snapshot


def loaded(name: str) -> list[Json]:
    """The objects of a dump."""
    found: list[Json] = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))[
        "items"
    ]
    return found


def changed(name: str, change: Callable[[Json], None]) -> Cluster:
    """A dump of which every object went through `change`."""
    objects = loaded(name)
    for each in objects:
        change(each)
    return cluster_of(*objects)


def evictions(cluster: Cluster, policy: MovePolicy | None = None) -> EvictionPlan:
    """What `planner evict` proposes, tried under a few seeds."""
    protection = Protection(policy or MovePolicy())
    options = EvictOptions(protection=protection, seeds=3, time_limit=5.0)
    return make_eviction_plan(cluster, options, default_profile())


def rebalanced(cluster: Cluster, policy: MovePolicy | None = None) -> Plan:
    """What `planner solve --rebalance` proposes."""
    options = SolveOptions(rebalance=True, policy=policy or MovePolicy(), time_limit=5.0)
    return make_plan(cluster, options, default_profile())


def evicted(plan: EvictionPlan) -> list[str]:
    """The names of the pods to evict."""
    return sorted(each.pod.partition("/")[2] for each in plan.evictions)


def moved(plan: Plan) -> list[str]:
    """The names of the pods that a plan takes from their nodes."""
    steps = (step for wave in plan.waves for step in wave.steps)
    names = {s.pod for s in steps if s.pod is not None and s.action in ("move", "evict")}
    return sorted(name.partition("/")[2] for name in names)
