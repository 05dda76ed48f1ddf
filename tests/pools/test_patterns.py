"""Patterns of pods on nodes: their bound is below every set that is filled."""

from __future__ import annotations

from hypothesis import given, settings

from planner.evictions.suggest import settled
from planner.pools import offers_of, read_pools
from planner.pools.fill import Filling
from planner.pools.question import question_of
from planner.scheduler.profile import default_profile
from planner.solver.scale_up.every_choice import EveryChoice
from tests.checks.manifests import spread
from tests.objects import HOSTNAME, cluster_of, inventory_of, template, workload
from tests.pools.templates import pool
from tests.pools.test_naive_twin import EXAMPLES, SEEDS, cheapest, filling_of
from tests.pools.test_scale_up import searching

PROFILE = default_profile()


@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_the_bound_is_never_above_the_cheapest_set_that_is_filled(seed: int) -> None:
    filling = filling_of(seed)
    question = question_of(filling, (1,) * len(filling.offers))
    if not filling.goal or question is None:
        return
    best = cheapest(searching(filling))
    every = EveryChoice(question)
    assert best is None or every.bound <= best[0]
    every.generate(5.0)
    assert best is None or every.bound <= best[0]


def test_with_many_hosts_few_pods_are_on_each() -> None:
    """Six pods on hosts of their own make six hosts, and spread then leaves one of web on each."""
    alone = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "alone"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}}
    made = [
        ("alone", {"affinity": affinity}, 6),
        ("web", spread(HOSTNAME, {"app": "web"}), 6),
    ]
    workloads = []
    for name, rules, replicas in made:
        requests = {"cpu": "500m", "memory": "1Gi"}
        spec = {"containers": [{"name": "main", "resources": {"requests": requests}}], **rules}
        labels = {"app": name}
        wanted = {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template(labels, spec),
        }
        workloads.append(workload("Deployment", name, wanted))
    small, large = pool("small", "500m", "1Gi", price="3"), pool("large", "1", "2Gi", price="4")
    offers = offers_of(read_pools(inventory_of(small, large).nodes), "price")
    start = settled(cluster_of(*workloads), PROFILE)
    filling = Filling(start, tuple(start.pending.tolist()), offers, PROFILE)
    question = question_of(filling, (1, 1))
    assert question is not None
    every = EveryChoice(question)
    every.generate(5.0)
    assert every.bound == 24
    assert every.best == (0, 6)
