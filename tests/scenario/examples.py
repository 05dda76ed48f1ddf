"""The packaged example before its outage, and short ways to ask what happens to it."""

from __future__ import annotations

from functools import cache

from planner.cluster import Cluster, build_cluster
from planner.cluster.owners import WorkloadRef
from planner.examples import example_path
from planner.scenario import Change, LoseNodes, Manner, Outcome, apply_changes, outcome, settle
from planner.scheduler.profile import default_profile
from planner.sources.load import load_paths
from planner_models.node import ZONE


@cache
def example(name: str = "zone-outage-before") -> Cluster:
    return build_cluster(load_paths([str(example_path(name))]))


def nodes_of(cluster: Cluster, zone: str) -> tuple[int, ...]:
    topology = cluster.topology(ZONE)
    return tuple(topology.nodes_of(topology.domains.index(zone)).tolist())


def named(cluster: Cluster, *names: str) -> tuple[int, ...]:
    return tuple(cluster.node_index[name] for name in names)


def zone_lost(zone: str, manner: Manner, *, seed: int = 0) -> Outcome:
    cluster = example()
    return after(cluster, LoseNodes(nodes_of(cluster, zone), manner), seed=seed)


def after(cluster: Cluster, *changes: Change, seed: int = 0) -> Outcome:
    profile = default_profile()
    return outcome(settle(apply_changes(cluster, changes), profile, seed=seed), profile)


def deployment(name: str) -> WorkloadRef:
    return WorkloadRef("default", "Deployment", name)


def running(found: Outcome) -> dict[str, tuple[int, ...]]:
    """Running pods of each workload by zone."""
    return {each.workload.name: each.after[:-1] for each in found.workloads}


def waiting(found: Outcome) -> dict[str, int]:
    return {each.workload.name: each.waiting for each in found.workloads if each.waiting}
