"""Clusters with pods that wait, and offers, as the emulations see them."""

from __future__ import annotations

from collections import Counter

from planner.cluster import Cluster
from planner.pools import offers_of, read_pools
from planner.pools.fill import Filling
from planner.pools.peers.world import World
from planner.pools.room import FreshNodes
from planner.scheduler.profile import default_profile
from tests.objects import Json, inventory_of, template, workload


def filling_of(cluster: Cluster, *pools: Json) -> Filling:
    """All pods that wait, and the offers of these pools by price."""
    offers = offers_of(read_pools(inventory_of(*pools).nodes), "price")
    return Filling(cluster, tuple(cluster.pending.tolist()), offers, default_profile())


def world_of(filling: Filling) -> tuple[World, Counter[int]]:
    """The world, and who waits by group."""
    fresh = FreshNodes(filling)
    waiting = Counter(int(fresh.cluster.group_of[pod]) for pod in filling.goal)
    return World(fresh, waiting), waiting


def pods(name: str, replicas: int, cpu: str, memory: str = "0", **spec: object) -> Json:
    """A Deployment; its pods have the label `app` with its name."""
    container: Json = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    if "hostPort" in spec:
        container["ports"] = [{"containerPort": 80, "hostPort": spec.pop("hostPort")}]
    labels = {"app": name}
    made = template(spec={"containers": [container], **spec}, labels=labels)
    selector = {"matchLabels": labels}
    return workload(
        "Deployment", name, {"replicas": replicas, "selector": selector, "template": made}
    )


def spread(key: str, max_skew: int = 1, app: str = "web", min_domains: int | None = None) -> Json:
    """A hard constraint over the pods of an app."""
    found = {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {**found, **({} if min_domains is None else {"minDomains": min_domains})}


def affinity(kind: str, key: str, app: str = "web") -> Json:
    """`podAffinity` or `podAntiAffinity` to the pods of an app."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def template_of(app: str, cpu: str) -> Json:
    """A pod template without rules."""
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return template({"app": app}, {"containers": [container]})
