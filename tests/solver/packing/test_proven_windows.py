"""Windows of nodes with proofs in between, against all packings of small stocks."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.full_clusters import full_cluster
from benchmarks.openb import cluster_of
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.solver import tuning
from planner.solver.packing.beside import Beside
from planner.solver.packing.proven_windows import rearranged
from planner.solver.packing.question import Stock, stock_of
from planner.solver.packing.room_bounds import Packed, bounded
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from tests.solver.packing.test_packing import stock
from tests.solver.packing.test_rearranging import legal, pinned


@pytest.fixture(params=[10_000, 0], ids=["whole", "patterns"])
def _bounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "WHOLE_BOUND_CELLS", request.param)


def packed(given_: Stock, limit: float) -> Packed:
    return rearranged(given_, bounded(given_, given_.now), limit, 0, math.inf)


@pytest.mark.usefixtures("_bounds")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pinned())
def test_beside_what_is_placed_above_no_packing_places_more(given_: Stock) -> None:
    found = packed(given_, tuning.PROVING_LIMIT)
    assert any((found.counts == table).all() for table in legal(given_))
    for table in legal(given_):
        placed = given_.placed(table)
        for rank, bound in enumerate(found.bounds):
            if all(a >= b for a, b in zip(placed[:rank], found.placed[:rank], strict=True)):
                assert placed[rank] <= bound


def three_halves() -> Stock:
    """Three of 5 would share two nodes of 8, and three small ones fit beside each."""
    return stock([[5], [1]], [[8], [8]], [3, 9], [0, 1])


@pytest.mark.usefixtures("_bounds")
def test_with_time_enough_what_is_missing_is_proven_to_be() -> None:
    found = packed(three_halves(), tuning.PROVING_LIMIT)
    assert (found.placed, found.bounds) == ((2, 6), (2, 6))


def test_with_little_time_nothing_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    def proving(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Beside, "most", proving)
    assert packed(three_halves(), tuning.PROVING_LIMIT / 4).placed == (2, 6)


def test_what_is_known_ends_the_search_early() -> None:
    assert packed(three_halves(), 100.0).spent < 50.0


def test_with_preempt_no_packing_of_real_demand_places_more() -> None:
    options = SolveOptions(rebalance=True, preempt=True)
    given_ = stock_of(build_problem(cluster_of("every-40", 0), options))
    assert given_ is not None
    found = packed(given_, 10.0)
    assert found.placed == found.bounds
    assert sum(found.placed) == int(given_.now.sum()) + 15


def test_a_plan_with_preempt_says_what_is_proven_of_each_priority() -> None:
    built = full_cluster(3, "flavours", 4)
    options = SolveOptions(rebalance=True, preempt=True, time_limit=10.0)
    for level in make_plan(built, options, default_profile()).objectives:
        if level.name.startswith("placed "):
            assert level.value == level.bound
