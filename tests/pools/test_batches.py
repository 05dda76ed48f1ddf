"""Nodes in batches: each is filled before the next one comes."""

from __future__ import annotations

import os
import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.pools import Found, ScaleUpOptions, offers_of, read_pools, scale_up
from planner.pools.batches import filled_at_once, in_batches, in_first_batch
from planner.pools.fill import Filling
from planner.pools.many_fills import many_fills
from planner.pools.question import question_of
from planner.scenario import AddNodes, apply_changes
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.solver.scale_up.every_choice import EveryChoice
from tests.objects import Json, cluster_of, inventory_of, node
from tests.pools.peers.worlds import filling_of, pods
from tests.pools.templates import pool
from tests.pools.test_many_fills import mixed, one_by_one, side_by_side
from tests.pools.test_naive_twin import filling_of as small_case

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
SEEDS = st.integers(min_value=0, max_value=1 << 32)
PROFILE = default_profile()
FULL = node("n1", status={"allocatable": {"cpu": "100m", "memory": "1Gi", "pods": "9"}})


def small_before_big() -> Cluster:
    """Four small pods, then one that needs a whole node: kube-scheduler spreads the small ones."""
    return cluster_of(FULL, pods("a-small", 4, "1"), pods("b-big", 1, "4"))


def asked(cluster: Cluster, *templates: Json, batches: int) -> Found:
    offers = offers_of(read_pools(inventory_of(*templates).nodes), "price")
    options = ScaleUpOptions(seeds=3, keep_rollouts=False, time_limit=2, batches=batches)
    return scale_up(cluster, range(len(cluster.pods)), offers, PROFILE, options)


def test_two_nodes_in_turn_do_what_takes_five_at_once() -> None:
    large = pool("large", "4", price="1")
    at_once = asked(small_before_big(), large, batches=1)
    in_turn = asked(small_before_big(), large, batches=2)
    assert at_once.best is not None
    assert in_turn.best is not None
    assert (at_once.best.added.counts, at_once.proven) == ((5,), True)
    assert (in_turn.best.added.counts, in_turn.batches) == ((1, 1), (0, 1))
    assert (in_turn.bound, in_turn.proven) == (2, True)


def test_what_costs_as_much_comes_at_once() -> None:
    found = asked(cluster_of(FULL, pods("web", 4, "1")), pool("large", "4", price="1"), batches=2)
    assert found.best is not None
    assert (found.best.added.counts, found.batches) == ((1,), ())


def test_simulate_leaves_nobody_waiting_batch_by_batch_under_twenty_seeds() -> None:
    found = asked(small_before_big(), pool("large", "4", price="1"), batches=2)
    assert found.best is not None
    for seed in range(20):
        cluster = found.start
        for batch in (0, 1):
            more = [
                AddNodes(offer.template, n)
                for offer, own, n in zip(
                    found.offers, found.batches, found.best.added.counts, strict=True
                )
                if n and own == batch
            ]
            cluster = simulate(apply_changes(cluster, more).cluster, [PROFILE], seed=seed).final
        assert not cluster.pending.size


def test_limits_hold_for_all_batches_together() -> None:
    filling = filling_of(small_before_big(), pool("large", "4", price="1", **{"max": "2"}))
    staged = in_batches(filling, 2)
    assert staged.allowed((1, 1))
    assert not staged.allowed((2, 1))


def test_a_minimum_comes_with_the_first_batch() -> None:
    filling = filling_of(small_before_big(), pool("large", "4", price="1", **{"min": "1"}))
    assert [offer.pool.least for offer in in_batches(filling, 2).offers] == [1, 0]


def test_a_set_at_once_is_one_whose_later_batches_are_empty() -> None:
    filling = filling_of(small_before_big(), pool("large", "4", price="1"))
    staged = in_batches(filling, 2)
    fill = filling.fill(filling.add((2,)))
    assert filled_at_once(staged, fill).added.counts == in_first_batch(staged, (2,)) == (2, 0)
    assert staged.fill(staged.add((2, 0))).waiting == fill.waiting


def same(filling: Filling, draw: random.Random) -> None:
    staged = in_batches(filling, draw.choice((2, 3)))
    many = many_fills(staged)
    assert many is not None
    sets = [
        (tuple(draw.choice((0, 0, 0, 1, 2)) for _ in staged.offers), seed) for seed in (0, 1, 2, 0)
    ]
    found = side_by_side(many, many.waiting(sets))
    assert found == [one_by_one(staged, many, counts, seed) for counts, seed in sets]


@settings(max_examples=200 if LONG else 15)
@given(SEEDS)
def test_lanes_are_filled_batch_by_batch_as_each_set_alone(seed: int) -> None:
    draw = random.Random(seed)
    same(mixed(draw), draw)


@settings(max_examples=200 if LONG else 15)
@given(SEEDS)
def test_no_set_in_batches_costs_less_than_their_bound(seed: int) -> None:
    filling = small_case(seed)
    question = question_of(filling, (1,) * len(filling.offers)) if filling.goal else None
    if question is None:
        return
    every = EveryChoice(question).in_batches()
    every.generate(1.0)
    staged = in_batches(filling, 2)
    for counts in product(range(2), repeat=len(staged.offers)):
        cost = sum(n * offer.cost for n, offer in zip(counts, staged.offers, strict=True))
        if cost < every.bound and staged.allowed(counts):
            assert staged.fill(staged.add(counts)).waiting
