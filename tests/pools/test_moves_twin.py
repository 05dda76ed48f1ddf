"""Nodes with moves against all sets of nodes and all evictions, each tried."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.pools import ScaleUpOptions, offers_of, read_pools
from planner.pools.moves import WithMoves, scale_up_with_moves
from tests.objects import inventory_of
from tests.pools.moving import PROFILE, all_run, cheapest_by_hand, small_case

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
EXAMPLES = 200 if LONG else 10
MOVES, SEEDS = 2, 3
CASES = st.integers(min_value=0, max_value=1 << 32)


def answered(seed: int, moves: int = MOVES) -> WithMoves:
    cluster, pools = small_case(seed)
    offers = offers_of(read_pools(inventory_of(*pools).nodes), "price")
    options = ScaleUpOptions(seeds=SEEDS, keep_rollouts=False, time_limit=20)
    return scale_up_with_moves(cluster, range(len(cluster.pods)), offers, PROFILE, options, moves)


@settings(max_examples=EXAMPLES)
@given(CASES)
def test_bounds_and_proofs_hold_against_all_sets_and_evictions(seed: int) -> None:
    answer = answered(seed)
    found = answer.found
    if not found.goal:
        return
    least = cheapest_by_hand(found, found.goal, MOVES, SEEDS)
    cost = None if found.best is None or not found.accepted else found.cost(found.best.added.counts)
    if least is not None:
        assert found.bound is not None
        assert found.bound <= least
    if found.proven and least is not None:
        assert cost is not None
        assert cost <= least
    if cost is not None:
        assert found.bound is not None
        assert found.bound <= cost


@settings(max_examples=EXAMPLES)
@given(CASES)
def test_nobody_waits_under_twenty_seeds(seed: int) -> None:
    answer = answered(seed)
    done = answer.rearranged
    if done is None:
        return
    assert 0 < answer.evictions <= MOVES
    assert all_run(done.added, answer.found.goal, done.tried.waves, seeds=20)
