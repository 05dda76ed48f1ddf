"""All sets of nodes up to the cost of the answer, each simulated: none of them is an answer."""

from __future__ import annotations

import os
import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.evictions.suggest import settled
from planner.pools import offers_of, read_pools
from planner.pools.by_model import by_model, by_sets
from planner.pools.by_patterns import by_patterns
from planner.pools.fill import Counts, Filling
from planner.pools.greedy import grow
from planner.pools.rising_cost import by_rising_cost
from planner.pools.room import FreshNodes
from planner.pools.search import Search
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, inventory_of, node, template, workload
from tests.pools.templates import pool
from tests.pools.test_scale_up import searching

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
EXAMPLES = 200 if LONG else 12
PROFILE = default_profile()
SEEDS = st.integers(min_value=0, max_value=1 << 32)
"""Cases are drawn evenly from a seed: shrunk numbers would make most of them the same."""
MOST = 3


def filling_of(seed: int) -> Filling:
    """One or two workloads with up to three rules, beside few small nodes; two pools."""
    draw = random.Random(seed)
    nodes = [
        node(f"n{i}", zone, status={"allocatable": {"cpu": "1", "memory": "4Gi"}})
        for i, zone in enumerate(draw.choice(["ab", "ab", "aab", "a", ""]))
    ]
    workloads = [_workload(draw, f"w{i}") for i in range(draw.randint(1, 2))]
    templates = [
        pool(
            f"p{i}",
            str(draw.randint(1, 4)),
            f"{draw.randint(1, 4)}Gi",
            price=str(draw.randint(1, 9)),
            zones=draw.choice(["a", "a,b", "a,b", "b,c"]),
            max=str(MOST),
        )
        for i in range(2)
    ]
    cluster = cluster_of(*nodes, *workloads)
    offers = offers_of(read_pools(inventory_of(*templates).nodes), "price")
    start = settled(cluster, PROFILE)
    every = Filling(start, tuple(start.pending.tolist()), offers, PROFILE)
    never = {each.pod for each in FreshNodes(every).never(every.goal)}
    return Filling(start, tuple(p for p in every.goal if p not in never), offers, PROFILE)


def _workload(draw: random.Random, name: str) -> Json:
    labels = {"app": draw.choice([name, name, "web"])}
    rules: Json = {"topologySpreadConstraints": []}
    for key in draw.choice([(), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]):
        fewest = draw.choice([None, None, 2, 3])
        skew = draw.randint(1, 2)
        made = spread(key, labels, maxSkew=skew, minDomains=fewest)
        rules["topologySpreadConstraints"] += made["topologySpreadConstraints"]
    kind = draw.choice([None, None, "podAffinity", "podAntiAffinity"])
    if kind is not None:
        chosen = {"matchLabels": {"app": draw.choice([name, "web", "w0"])}}
        term = {"topologyKey": draw.choice([ZONE, HOSTNAME]), "labelSelector": chosen}
        rules["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    requests = {"cpu": draw.choice(["500m", "1"]), "memory": "1Gi"}
    spec = {"containers": [{"name": "main", "resources": {"requests": requests}}], **rules}
    wanted = {
        "replicas": draw.randint(1, 5),
        "selector": {"matchLabels": labels},
        "template": template(labels, spec),
    }
    return workload("Deployment", name, wanted)


def cheapest(search: Search) -> tuple[int, int] | None:
    """Cost and nodes of the cheapest set that is filled, of all sets within the limits."""
    every = product(range(MOST + 1), repeat=len(search.filling.offers))
    for counts in sorted(every, key=search.value):
        if not search.worst(counts).waiting:
            return search.value(counts)
    return None


def answer(search: Search) -> tuple[int, int] | None:
    assert search.proven
    return None if search.found is None else search.value(search.found.added.counts)


@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_patterns_prove_no_more_than_the_cheapest_of_all_sets(seed: int) -> None:
    """They leave rules out: what they prove is the cheapest set, or less."""
    filling = filling_of(seed)
    if not filling.goal:
        return
    search = searching(filling)
    grow(search, until=float("inf"))
    by_patterns(search, until=search.spent + 2.0)
    by_sets(search, until=search.spent + 4.0)
    best = cheapest(search)
    if best is None:
        assert search.found is None
    elif search.found is not None:
        assert search.bound is not None
        assert search.bound <= best[0]
        assert search.open or search.least.cost(search.found.added.counts) == best[0]


@pytest.mark.parametrize("way", ["rising cost", "model"])
@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_the_answer_is_the_cheapest_of_all_sets(way: str, seed: int) -> None:
    filling = filling_of(seed)
    if not filling.goal:
        return
    search = searching(filling)
    if way == "model":
        grow(search, until=float("inf"))
        by_model(search, until=60.0)
    else:
        by_rising_cost(search, until=float("inf"))
    assert answer(search) == cheapest(search)
    if search.found is not None:
        _runs(filling, search.found.added.counts)


def _runs(filling: Filling, counts: Counts) -> None:
    """`simulate` leaves none of the goal waiting."""
    left = simulate(filling.add(counts).cluster, [PROFILE]).unschedulable
    assert not {each.pod for each in left}.intersection(filling.goal)
