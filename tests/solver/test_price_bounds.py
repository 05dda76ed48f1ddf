"""The bounds of prices against the exact search, which shares no code with them."""

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
from planner.solver.problem.problem import Problem
from planner.solver.route import solve_in_full as solve
from tests.solver.large_clusters import rebalancing, tight_cluster


def optimum(problem: Problem) -> int | None:
    """The fewest moves, if everything can be placed without excess; proven by the exact search."""
    found = solve(problem)
    waiting = sum(len(pods) for pods in problem.waiting.values())
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    excess, moves = found.level("excess"), found.level("moves")
    if placed < waiting or excess is None or excess.value or moves is None or not moves.proven:
        return None
    return moves.value


@pytest.mark.parametrize("seed", range(25))
def test_no_prices_whatsoever_give_a_bound_above_the_optimum(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    best = optimum(problem)
    if best is None:
        return
    rng = np.random.default_rng(seed)
    state = start(problem)
    tasks = list(state.tasks.values())
    assert sum(task.bound for task in tasks) <= best
    for _ in range(25):
        chosen = [task for task in tasks if rng.random() < 0.6]
        big = [task for task in chosen if task.waiting or task.bound]
        promoted = [task for task in chosen if not (task.waiting or task.bound)]
        room = room_of(state, {task.group for task in chosen})
        market = market_of(room, sizes_of(state, big, promoted))
        pay = [rng.integers(0, 4, size.domains) * UNIT // 2 for size in market.big]
        prices = market.within(pay, rng.integers(0, 5, len(room.pairs.all)) * UNIT // 2)
        assert priced(state, market, prices).moves <= best


def test_few_columns_a_round_lead_to_the_same_bound_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A way to use a node is worth a look if it beats what the node is worth to the others."""
    fresh = start(rebalancing(drifted(150, "big", 1)))
    bounds = []
    for columns in (tuning.CHEAPEST_COLUMNS, 4):
        monkeypatch.setattr(tuning, "CHEAPEST_COLUMNS", columns)
        state = construct(fresh)
        none = replace(score(state), unplaced=(0, 0), excess=0, moves=0)
        best = Incumbent(state, score(state), none, Clock(600.0), lambda *_: None)
        column_generation.improve(fresh, best)
        bounds.append(best.certain.moves)
    assert bounds[0] == bounds[1] > 0
