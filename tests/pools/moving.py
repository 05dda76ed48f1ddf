"""Small clusters in which pods run and others wait, and all ways to let these run, one by one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from planner.cluster import Cluster
from planner.disruption.budgets import allowances
from planner.evictions.repeated_trials import manners
from planner.pools import Found
from planner.pools.fill import Added, Counts, Filling
from planner.pools.moves.waves import movable_pods
from planner.replay.trial import Trial, WavePlan
from planner.scheduler.profile import Profile, default_profile
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, pod, template, workload
from tests.pools.templates import pool

PROFILE = default_profile()
MOST_NODES = 2


def asks(cpu: str) -> Json:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}


def running(
    name: str, cpu: str, homes: Iterable[str], rules: Json | None = None, waiting: int = 0
) -> list[Json]:
    """A ReplicaSet with a ready pod on each of these nodes, and so many that wait."""
    labels = {"app": name}
    spec = {**asks(cpu), **(rules or {})}
    owner = {"kind": "ReplicaSet", "name": name, "uid": f"uid-{name}", "controller": True}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    pods = [
        pod(
            f"{name}-{number}",
            home,
            spec=spec,
            metadata={"labels": labels, "ownerReferences": [owner]},
            **({"status": ready} if home else {}),
        )
        for number, home in enumerate([*homes, *[""] * waiting])
    ]
    wanted = {
        "replicas": len(pods),
        "selector": {"matchLabels": labels},
        "template": template(labels, spec),
    }
    made = workload("ReplicaSet", name, wanted, metadata={"uid": f"uid-{name}"})
    return [made, *pods]


def budget(name: str, unavailable: int) -> Json:
    """So many pods of the ReplicaSet may be down."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"{name}-budget", "namespace": "default"},
        "spec": {
            "maxUnavailable": unavailable,
            "selector": {"matchLabels": {"app": name}},
        },
    }


def small_case(seed: int) -> tuple[Cluster, list[Json]]:
    """Two or three nodes, workloads on them that leave gaps, one that waits; one or two pools."""
    draw = random.Random(seed)
    zones = draw.choice(["ab", "aab", "aa"])
    nodes = [
        node(f"n{i}", zone, status={"allocatable": {"cpu": "3", "memory": "8Gi"}})
        for i, zone in enumerate(zones)
    ]
    room = dict.fromkeys((f"n{i}" for i in range(len(zones))), 6)
    objects: list[Json] = list(nodes)
    for number in range(draw.randint(1, 3)):
        halves, homes = draw.choice([1, 2, 2, 3]), []
        for _ in range(draw.randint(2, 4)):
            fitting = [name for name, left in room.items() if left >= halves]
            if fitting:
                homes.append(draw.choice(fitting))
                room[homes[-1]] -= halves
        objects += running(f"w{number}", f"{500 * halves}m", homes, _rules(draw, f"w{number}"))
        if draw.random() < 0.3:
            objects.append(budget(f"w{number}", draw.randint(0, 1)))
    halves = draw.choice([3, 4, 5, 6])
    rules = _rules(draw, "new")
    objects += running("new", f"{500 * halves}m", [], rules, waiting=draw.randint(1, 3))
    pools = [
        pool(
            f"p{i}",
            str(draw.randint(2, 4)),
            "8Gi",
            price=str(draw.randint(1, 9)),
            zones=draw.choice(["a", "a,b", "c"]),
            max=str(MOST_NODES),
        )
        for i in range(draw.randint(1, 2))
    ]
    return cluster_of(*objects), pools


def _rules(draw: random.Random, name: str) -> Json:
    key = draw.choice([None, None, ZONE, HOSTNAME])
    if key is None:
        return {}
    labels = {"app": name}
    if draw.random() < 0.3:
        term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": labels}}
        return {
            "affinity": {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            }
        }
    return spread(key, labels, maxSkew=draw.randint(1, 2))


def every_set(found: Found) -> Iterator[Counts]:
    """All sets within the limits of the pools, the cheapest first."""
    every = product(range(MOST_NODES + 1), repeat=len(found.offers))
    return iter(sorted(every, key=lambda counts: (found.cost(counts), sum(counts))))


def cheapest_by_hand(found: Found, goal: tuple[int, ...], moves: int, seeds: int) -> int | None:
    """The least cost of all sets with which some evictions, all at once, always let all run."""
    filling = Filling(found.start, goal, found.offers, PROFILE)
    may_go = sorted(movable_pods(found.start))
    for counts in every_set(found):
        added = filling.add(counts)
        for number in range(moves + 1):
            for pods in combinations(may_go, number):
                if all_run(added, goal, (WavePlan(pods),) if pods else (), seeds):
                    return found.cost(counts)
    return None


def all_run(
    added: Added,
    goal: Iterable[int],
    waves: tuple[WavePlan, ...],
    seeds: int,
    profile: Profile = PROFILE,
) -> bool:
    """Whether the goal and all that run today run in the end, whatever kube-scheduler draws."""
    cluster = added.cluster
    pods = sorted(pod for wave in waves for pod in wave.evictions)
    must_run = [*cluster.running.tolist(), *goal]
    trial = Trial(cluster, profile, allowances(cluster), pods)
    for manner in manners(seeds):
        run = trial.run(waves, manner)
        if run.refused is not None or run.driven or (run.node_of[must_run] < 0).any():
            return False
    return True
