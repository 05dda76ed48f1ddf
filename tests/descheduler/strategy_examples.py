"""Small clusters for the descheduler's strategies, and what these evict there."""

from __future__ import annotations

from typing import Any

from planner.cluster import Cluster
from planner.descheduler.policy import StrategyRun, run_strategy, view_of
from planner.descheduler.strategies.framework import Evictor
from planner.descheduler.strategies.limits import NO_LIMITS, EvictionCount, Limits
from planner_models.descheduler_args import StrategyArgs
from planner_models.descheduler_evictor import DefaultEvictorArgs
from planner_models.descheduler_policy import DeschedulerPolicy, parse_args
from tests.objects import Json, cluster_of, merged, pod

NOON = "2026-05-01T12:00:00Z"


def owned_pod(
    name: str, node_name: str, owner: str = "web", kind: str = "ReplicaSet", **changes: Any
) -> Json:
    """A pod that a controller would replace, with the label `app`."""
    reference = {"kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}
    metadata = {"labels": {"app": owner}, "ownerReferences": [reference]}
    return pod(name, node_name, **merged({"metadata": metadata}, changes))


def strategy(name: str, args: Json | None = None, evictor: Json | None = None) -> StrategyRun:
    found = parse_args(name, args or {})
    assert isinstance(found, StrategyArgs)
    return StrategyRun(name, found, DefaultEvictorArgs.model_validate(evictor or {}))


def record(
    run: StrategyRun, cluster: Cluster, limits: Limits = NO_LIMITS, now: int | None = None
) -> Evictor:
    return run_strategy(run, view_of(cluster, now=now), EvictionCount(limits), lambda _: None)


def evicted(run: StrategyRun, *objects: Json, limits: Limits = NO_LIMITS) -> list[str]:
    """The names of the evicted pods in order."""
    done = record(run, cluster_of(*objects), limits)
    return [eviction.pod.name for eviction in done.evictions]


def policy(
    *, deschedule: Json | None = None, balance: Json | None = None, **changes: Any
) -> DeschedulerPolicy:
    """A policy of one profile: the arguments of its strategies by name."""
    configured = {**(deschedule or {}), **(balance or {})}
    evictor = changes.pop("evictor", {})
    profile = {
        "name": "only",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": evictor},
            *({"name": name, "args": args} for name, args in configured.items()),
        ],
        "plugins": {
            "deschedule": {"enabled": list(deschedule or {})},
            "balance": {"enabled": list(balance or {})},
        },
    }
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
    return DeschedulerPolicy.model_validate({**head, "profiles": [profile], **changes})
