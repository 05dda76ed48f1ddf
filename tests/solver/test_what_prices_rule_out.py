"""What prices rule out, against the best states of the exact search, which knows no prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from planner.solver.large.bundles import UNIT
from planner.solver.large.classes import sizes_of
from planner.solver.large.construct import construct, score
from planner.solver.large.incumbent import Clock, Incumbent
from planner.solver.large.kernel_search import Kernel
from planner.solver.large.node_states import room_of
from planner.solver.large.price_rows import price_rows
from planner.solver.large.prices import Priced, market_of, priced
from planner.solver.large.relaxation import with_rows
from planner.solver.large.ruled_out import ruled_out
from planner.solver.large.state import State, start
from planner.solver.large.window import Window
from planner.solver.problem.problem import Cell, Problem
from planner.solver.route import solve_in_full as solve
from tests.solver.large_clusters import rebalancing, tight_cluster

SEEDS = range(25)


def best_state(problem: Problem, fresh: State) -> State | None:
    """With everything placed, no excess and the fewest moves; None where there is no such state."""
    found = solve(problem)
    if found.status != "optimal" or found.unplaced:
        return None
    by_group: dict[int, dict[int, int]] = {group: {} for group in fresh.tasks}
    for (group, node), pods in found.counts.items():
        if group in by_group:
            by_group[group][node] = pods
    state = fresh.copy()
    for group, places in by_group.items():
        state.tasks[group].hand += state.tasks[group].waiting
        state.put(state.tasks[group], places)
    return None if score(state).open or len(by_group) < len(problem.groups) else state


def drawn(fresh: State, rng: np.random.Generator) -> Iterator[Priced]:
    """The bounds of prices that somebody made up."""
    tasks = list(fresh.tasks.values())
    for _ in range(15):
        chosen = [task for task in tasks if rng.random() < 0.6]
        big = [task for task in chosen if task.waiting or task.bound]
        promoted = [task for task in chosen if not (task.waiting or task.bound)]
        room = room_of(fresh, {task.group for task in chosen})
        market = market_of(room, sizes_of(fresh, big, promoted))
        pay = [rng.integers(0, 4, size.domains) * UNIT // 2 for size in market.big]
        fee = rng.integers(0, 5, len(room.pairs.all)) * UNIT // 2
        yield priced(fresh, market, market.within(pay, fee))


def left(fresh: State, state: State) -> set[Cell]:
    """Groups and nodes with a departure."""
    return {
        (group, node)
        for group, task in state.tasks.items()
        for node, was in fresh.tasks[group].start.items()
        if task.now.get(node, 0) < was
    }


def everywhere(fresh: State) -> np.ndarray:
    return np.ones(len(fresh.free), np.bool_)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_ruled_out_that_a_best_state_does(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    fresh = start(problem)
    state = best_state(problem, fresh)
    if state is None:
        return
    moves = score(state).moves
    for found in drawn(fresh, np.random.default_rng(seed)):
        assert not left(fresh, state) & ruled_out(fresh, found, moves)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_best_state_keeps_every_row_of_prices(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    fresh = start(problem)
    state = best_state(problem, fresh)
    if state is None:
        return
    inside = everywhere(fresh)
    window = Window(fresh, fresh, inside, frozenset(fresh.tasks))
    for found in drawn(fresh, np.random.default_rng(seed)):
        rows = price_rows(fresh, found, window, inside)
        assert with_rows(window.program.matrix(), rows).admits(window.values(state))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_that_prices_have_cut_down_bounds_nothing_above_the_optimum(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    fresh = start(problem)
    state = best_state(problem, fresh)
    if state is None:
        return
    for found in drawn(fresh, np.random.default_rng(seed)):
        shut = ruled_out(fresh, found, found.moves)
        best = incumbent(fresh)
        Kernel.of(fresh, best, everywhere(fresh), found, found.moves, shut)
        assert best.certain.moves <= score(state).moves


def incumbent(fresh: State) -> Incumbent:
    state = construct(fresh)
    found = score(state)
    least = replace(found, stranded=0, unplaced=tuple(0 for _ in found.unplaced), excess=0, moves=0)
    return Incumbent(state, found, least, Clock(20.0), lambda *_: None)


def test_departures_are_ruled_out_where_no_hole_is_worth_making() -> None:
    """Six of these clusters at least, or the tests above say nothing."""
    seen = 0
    for seed in SEEDS:
        fresh = start(rebalancing(tight_cluster(seed)))
        prices = drawn(fresh, np.random.default_rng(seed))
        seen += any(ruled_out(fresh, found, found.moves) for found in prices)
    assert seen >= 6
