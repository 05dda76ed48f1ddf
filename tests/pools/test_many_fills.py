"""Sets filled side by side: as kube-scheduler fills each of them alone, seed by seed."""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.evictions.suggest import settled
from planner.pools.fill import Counts, Filling
from planner.pools.many_fills import ManyFills, many_fills
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node, workload
from tests.pools.peers.worlds import affinity, filling_of, pods, spread
from tests.pools.templates import pool
from tests.pools.test_naive_twin import filling_of as small_case

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
EXAMPLES = 300 if LONG else 25
SIZES = tuple(
    pool(f"c{cpu}", str(cpu), f"{3 * cpu}Gi", price=str(cpu), zones="a,b") for cpu in (1, 2, 4)
)
SEEDS = st.integers(min_value=0, max_value=1 << 32)


def mixed(draw: random.Random) -> Filling:
    """Four workloads with all kinds of rules, some of which are about each other."""
    there = [
        node(
            f"n{i}",
            draw.choice("abc"),
            status={"allocatable": {"cpu": "1", "memory": "2Gi", "pods": "9"}},
        )
        for i in range(draw.randint(1, 3))
    ]
    workloads = [_workload(draw, f"w{i}") for i in range(4)]
    return filling_of(cluster_of(*there, *workloads), *SIZES)


def _workload(draw: random.Random, name: str) -> Json:
    cpu = draw.choice(["100m", "350m", "700m", "900m"])
    about = draw.choice([name, name, "w0"])
    rules: Json = draw.choice(
        [
            {},
            {},
            {"topologySpreadConstraints": [spread(ZONE, app=about)]},
            {"topologySpreadConstraints": [spread(HOSTNAME, app=about)]},
            affinity("podAffinity", ZONE, about),
            affinity("podAntiAffinity", HOSTNAME, about),
            affinity("podAntiAffinity", ZONE, about),
            {"topologySpreadConstraints": [_soft(ZONE, about), _soft(HOSTNAME, about)]},
            _preferred("podAffinity", ZONE, about),
            _preferred("podAntiAffinity", HOSTNAME, about),
        ]
    )
    priority = draw.choice((0, 0, 100))
    return pods(name, draw.randint(1, 8), cpu, priority=priority, **rules)


def _soft(key: str, about: str) -> Json:
    return {**spread(key, app=about), "whenUnsatisfiable": "ScheduleAnyway"}


def _preferred(kind: str, key: str, about: str) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": about}}}
    wish = {"weight": 7, "podAffinityTerm": term}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}}


def one_by_one(filling: Filling, many: ManyFills, counts: Counts, seed: int) -> list[int]:
    """How many of each run wait, as kube-scheduler fills the set alone."""
    end = filling.fill(filling.add(counts), seed).settled.cluster
    group_of = end.group_of
    waiting = Counter(int(group_of[pod]) for pod in end.pending.tolist())
    found: Counter[int] = Counter()
    for run in many.runs:
        found[int(group_of[run.pods[0]])] += 0
    return [waiting[group] for group in found]


def side_by_side(many: ManyFills, waiting: np.ndarray) -> list[list[int]]:
    """The same of all lanes."""
    groups = dict.fromkeys(run.group for run in many.runs)
    return [
        [
            sum(int(n) for run, n in zip(many.runs, lane, strict=True) if run.group == group)
            for group in groups
        ]
        for lane in waiting
    ]


def same(filling: Filling, draw: random.Random) -> None:
    many = many_fills(filling)
    assert many is not None
    sets = [
        (tuple(draw.choice((0, 0, 1, 2)) for _ in filling.offers), seed) for seed in (0, 1, 2, 0)
    ]
    found = side_by_side(many, many.waiting(sets))
    assert found == [one_by_one(filling, many, counts, seed) for counts, seed in sets]


@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_lanes_are_filled_as_each_set_alone(seed: int) -> None:
    draw = random.Random(seed)
    same(mixed(draw), draw)


@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_so_are_small_cases_with_several_spread_rules(seed: int) -> None:
    filling = small_case(seed)
    if filling.goal:
        same(filling, random.Random(seed))


def test_pods_of_daemon_sets_are_on_the_copies() -> None:
    requests = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "300m"}}}]}
    meta = {"labels": {"app": "agent"}}
    agent = workload("DaemonSet", "agent", {"template": {"metadata": meta, "spec": requests}})
    cluster = settled(cluster_of(node("n1"), agent, pods("web", 9, "700m")), default_profile())
    filling = filling_of(cluster, *SIZES)
    same(filling, random.Random(1))


def test_ports_have_no_form_for_lanes() -> None:
    container = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}
    web = pods("web", 2, "700m", containers=[container])
    assert many_fills(filling_of(cluster_of(node("n1"), web), *SIZES)) is None
