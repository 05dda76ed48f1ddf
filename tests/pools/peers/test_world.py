"""The growing world lets pass what kube-scheduler's filters let pass."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.pools.fill import Filling
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, workload
from tests.pools.peers.worlds import affinity, filling_of, pods, spread, template_of, world_of
from tests.pools.templates import pool

TAINTED = [{"key": "gpu", "effect": "NoSchedule"}]
RULES: tuple[Json, ...] = (
    {},
    {"topologySpreadConstraints": [spread(ZONE)]},
    {"topologySpreadConstraints": [spread(HOSTNAME, 2)]},
    {"topologySpreadConstraints": [spread(ZONE, 1, "web", 3), spread(HOSTNAME)]},
    {"topologySpreadConstraints": [{**spread(ZONE), "nodeTaintsPolicy": "Honor"}]},
    {"nodeSelector": {ZONE: "a"}, "topologySpreadConstraints": [spread(ZONE)]},
    affinity("podAffinity", ZONE),
    affinity("podAffinity", HOSTNAME, "db"),
    affinity("podAntiAffinity", HOSTNAME),
    affinity("podAntiAffinity", ZONE, "db"),
    {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    {"hostPort": 8080},
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_it_agrees_with_kube_scheduler_on_every_node(seed: int) -> None:
    draw = random.Random(seed)
    filling, counts = _drawn(draw)
    world, _ = world_of(filling)
    added = filling.add(counts)
    cluster, names = added.cluster, world.fresh.cluster.nodes
    there = {node: cluster.node_index[names[node].name] for node in world.nodes()}
    for offer, new in enumerate(added.nodes):
        there |= {world.add_node(offer): index for index in new}
    for pod in draw.sample(filling.goal, len(filling.goal)):
        group = int(cluster.group_of[pod])
        mine = [n for n in world.nodes() if world.passes(group, n)]
        assert sorted(there[n] for n in mine) == _feasible(cluster, pod)
        if mine:
            chosen = draw.choice(mine)
            world.place(group, chosen)
            cluster = cluster.with_placement({pod: there[chosen]})


def _feasible(cluster: Cluster, pod: int) -> list[int]:
    scheduler = Scheduler(SchedulingState(cluster), default_profile())
    return [int(node) for node in np.sort(scheduler.evaluate(pod).feasible)]


def _drawn(draw: random.Random) -> tuple[Filling, tuple[int, ...]]:
    workloads = [
        pods(name, draw.randint(1, 4), draw.choice(("500m", "1", "1500m")), **draw.choice(RULES))
        for name in ("web", "db", "job")
    ]
    there = [node(f"n{i}", draw.choice("ab"), status=_cpu("2")) for i in range(draw.randint(1, 3))]
    tainted = pool("gpu", "2", price="2", zones="b,c") | {"spec": {"taints": TAINTED}}
    agent = workload("DaemonSet", "agent", {"template": template_of("agent", "250m")})
    cluster = cluster_of(*there, *workloads, *([agent] if draw.random() < 0.5 else []))
    filling = filling_of(cluster, pool("small", "2", price="1", zones="a,b,c"), tainted)
    return filling, tuple(draw.randint(0, 2) for _ in filling.offers)


def _cpu(cpu: str) -> Json:
    return {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}
