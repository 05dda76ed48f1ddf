"""Ways to use nodes in whole numbers, against the exact search, which shares no code with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.drift import drifted
from planner.solver import tuning
from planner.solver.large import column_generation
from planner.solver.large.bundles import UNIT
from planner.solver.large.classes import sizes_of
from planner.solver.large.construct import construct, score
from planner.solver.large.incumbent import Clock, Incumbent
from planner.solver.large.node_states import room_of
from planner.solver.large.prices import market_of, priced
from planner.solver.large.state import start
from planner.solver.large.ways import bundle_columns, ways
from planner.solver.large.whole_ways import rules_out
from tests.solver.large_clusters import rebalancing, tight_cluster
from tests.solver.test_price_bounds import optimum


@pytest.mark.parametrize("nodes", [6, 9])
@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_prices_the_fewest_moves_are_not_ruled_out(seed: int, nodes: int) -> None:
    problem = rebalancing(tight_cluster(seed, nodes))
    best = optimum(problem)
    state = start(problem)
    tasks = list(state.tasks.values())
    if best is None or len(tasks) < len(problem.groups):
        return
    rng = np.random.default_rng(seed)
    for _ in range(6):
        chosen = [task for task in tasks if rng.random() < 0.6]
        big = [task for task in chosen if task.waiting or task.bound]
        promoted = [task for task in chosen if not (task.waiting or task.bound)]
        room = room_of(state, {task.group for task in chosen})
        market = market_of(room, sizes_of(state, big, promoted))
        pay = [rng.integers(0, 4, size.domains) * UNIT // 2 for size in market.big]
        prices = market.within(pay, rng.integers(0, 5, len(room.pairs.all)) * UNIT // 2)
        found = priced(state, market, prices)
        possible = ways(found, best)
        if possible is not None:
            assert not rules_out(state, found, possible, best, Clock(60.0))


def test_prices_say_too_little_where_nodes_can_only_be_used_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "PROMOTIONS", 1)
    fresh = start(rebalancing(drifted(100, "big", 18)))
    state = construct(fresh)
    none = replace(score(state), unplaced=(0, 0), excess=0, moves=0)
    best = Incumbent(state, score(state), none, Clock(600.0), lambda *_: None)
    found = column_generation.improve(fresh, best)
    assert found is not None
    assert best.certain.moves == found.moves + 1


def test_bundles_become_columns_that_make_the_room_they_need() -> None:
    state = start(rebalancing(tight_cluster(3)))
    big = [task for task in state.tasks.values() if task.waiting]
    room = room_of(state, {task.group for task in big})
    market = market_of(room, sizes_of(state, big, []))
    pay = [np.full(size.domains, 2 * UNIT) for size in market.big]
    found = priced(state, market, market.within(pay, np.zeros(len(room.pairs.all), np.int64)))
    possible = ways(found, found.moves + 2)
    assert possible is not None
    columns = list(bundle_columns(found, possible))
    assert columns
    for column in columns:
        request = np.sum([market.big[h].request * pods for h, pods in column.lands], axis=0)
        assert room.exactly(column.state, request) == column.evictions
        assert room.node[column.state] == column.node
