"""The tightened relaxation: its bound, and what it leaves out, against all whole solutions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from benchmarks.drift import drifted
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.large import certify
from planner.solver.large.certify import certify_moves
from planner.solver.large.construct import Score, construct, score
from planner.solver.large.incumbent import Clock, Incumbent
from planner.solver.large.kernel_search import Kernel
from planner.solver.large.relaxation import UNIT, Relaxation
from planner.solver.large.state import State, start
from planner.solver.model.cut_program import CutProgram
from planner.solver.model.engine import Outcome
from planner.solver.model.program import Matrix, Program
from planner.solver.route import solve_in_full as solve
from tests.solver.large_clusters import at_scale, rebalancing, tight_cluster


@st.composite
def programs(draw: st.DrawFn) -> tuple[Program, IntArray]:
    """Whole columns, rows with an upper end, one with a lower end; some columns are paid."""
    size = draw(st.integers(2, 5))
    amounts = st.lists(st.integers(-6, 6), min_size=size, max_size=size)
    program = Program()
    upper = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    columns = program.add_columns(np.zeros(size, np.int64), upper)
    for _ in range(draw(st.integers(1, 3))):
        row = program.add_rows(np.array([-np.inf]), np.array([float(draw(st.integers(-4, 8)))]))
        program.enter(row, columns, np.array(draw(amounts)))
    row = program.add_rows(np.array([float(draw(st.integers(0, 4)))]), np.array([np.inf]))
    program.enter(row, columns, np.array(draw(amounts)))
    paid = draw(st.sets(st.integers(0, size - 1), min_size=1))
    return program, np.array(sorted(paid))


def whole_solutions(matrix: Matrix) -> list[IntArray]:
    ranges = (range(high + 1) for high in matrix.upper.tolist())
    return [v for each in product(*ranges) if matrix.admits(v := np.array(each, np.int64))]


@given(programs(), st.integers(0, 6))
def test_no_solution_is_below_the_bound_or_left_out(
    case: tuple[Program, IntArray], most: int
) -> None:
    program, paid = case
    matrix = program.matrix()
    solutions = whole_solutions(matrix)
    relaxation = Relaxation.of(matrix, paid, np.arange(len(matrix.least) - 1))
    if not relaxation.tightened(None, 60.0):
        assert solutions == []
        return
    assert all(relaxation.moves <= int(v[paid].sum()) for v in solutions)
    better = relaxation.within(relaxation.affordable(matrix.upper, most), most)
    assert all(better.admits(v) for v in solutions if int(v[paid].sum()) <= most)


def test_the_bound_does_not_depend_on_the_quality_of_the_duals() -> None:
    """Any multipliers give one: these are nobody's optimum."""
    program = Program()
    columns = program.add_columns(np.zeros(2, np.int64), np.array([4, 4]))
    row = program.add_rows(np.array([3.0]), np.array([np.inf]))
    program.enter(row, columns, np.array([1, 1]))
    relaxation = Relaxation.of(program.matrix(), columns, np.empty(0, np.int64))
    relaxation._prove(np.array([0.7]))
    assert relaxation.bound / UNIT == pytest.approx(2.1)


def incumbent(fresh: State) -> Incumbent:
    state = construct(fresh)
    found = score(state)
    least = Score(0, tuple(0 for _ in found.unplaced), 0, 0)
    return Incumbent(state, found, least, Clock(20.0), lambda *_: None)


def everywhere(fresh: State) -> BoolArray:
    return np.ones(len(fresh.free), np.bool_)


@pytest.mark.parametrize("seed", [0, 2, 6, 35, 39, 44])
def test_a_kernel_finds_the_fewest_moves_and_cp_sat_proves_them(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    fewest = solve(problem).level("moves")
    fresh = start(problem)
    best = incumbent(fresh)
    kernel = Kernel.of(fresh, best, everywhere(fresh))
    assert kernel is not None
    assert fewest is not None
    assert best.certain.moves <= fewest.value
    kernel.search(5.0)
    kernel.search_all(5.0)
    certify_moves(kernel, best, best.clock.left)
    assert not best.best.open
    assert (best.best.moves, best.certain.moves) == (fewest.value, fewest.value)


def test_cp_sat_finds_the_better_state_if_there_is_one() -> None:
    """The greedy step needs 5 moves where 4 are enough, and the relaxation knows of 3."""
    fresh = start(rebalancing(tight_cluster(18, 8, 12)))
    best = incumbent(fresh)
    kernel = Kernel.of(fresh, best, everywhere(fresh))
    assert kernel is not None
    assert (best.best.moves, best.certain.moves) == (5, 3)
    certify_moves(kernel, best, best.clock.left)
    assert (best.best.moves, best.certain.moves) == (4, 4)


def test_ctrl_c_during_a_proof_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = start(rebalancing(tight_cluster(35)))
    best = incumbent(fresh)
    kernel = Kernel.of(fresh, best, everywhere(fresh))
    assert kernel is not None
    stopped = Outcome(None, 0, complete=False, time=0.0, interrupted=True)
    monkeypatch.setattr(certify, "raise_bound", lambda *_: stopped)
    with pytest.raises(KeyboardInterrupt):
        certify_moves(kernel, best, 1.0)


def test_where_room_is_short_rounding_sees_what_fractions_do_not() -> None:
    """Fractions of pods would get by with 5 moves in this cluster of 50 nodes."""
    fresh = start(rebalancing(drifted(50, "scale", 21)))
    best = incumbent(fresh)
    kernel = Kernel.of(fresh, best, everywhere(fresh))
    assert kernel is not None
    assert best.certain.moves == 6


def test_a_linear_program_that_glop_gives_up_on_claims_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def abnormal(*_: object, **__: object) -> None:
        raise AttributeError("'StatusNotOk' object has no attribute 'canonical_code'")

    monkeypatch.setattr(mathopt.IncrementalSolver, "solve", abnormal)
    monkeypatch.setattr(CutProgram, "solve", lambda _: None)
    found = at_scale(rebalancing(tight_cluster(35)))
    moves = found.level("moves")
    assert moves is not None
    assert moves.bound < moves.value
    assert found.status == "feasible"
