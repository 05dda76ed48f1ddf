"""Windows and the programs behind them, and what a limit or Ctrl-C leaves of a search."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.drift import drifted
from benchmarks.final_state import judge, placement_of
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large import close_gap
from planner.solver.large.construct import Score, construct, score, settle
from planner.solver.large.greedy import realise
from planner.solver.large.incumbent import Clock, Incumbent
from planner.solver.large.integer_program import Optimum, Stop, minimise
from planner.solver.large.kernel_search import Kernel
from planner.solver.large.neighbourhoods import repair_around, repair_roomy
from planner.solver.large.plain_groups import reach_of
from planner.solver.large.state import start
from planner.solver.large.window import Window, taking_part
from planner.solver.model.program import Program
from planner.solver.progress import Progress
from planner.solver.route import solve_in_full as solve
from planner.solver.route import solve_large
from tests.solver.large_clusters import at_scale, limited, rebalancing, tight_cluster

RULES = ("placed", "excess", "moves")


def knapsack(room: int) -> Program:
    """Pods of 3, 5 and 7, of each at least one, at most two."""
    program = Program()
    columns = program.add_columns(np.ones(3, np.int64), np.full(3, 2))
    row = program.add_rows(np.zeros(1), np.array([float(room)]))
    program.enter(row, columns, np.array([3, 5, 7]))
    return program


def least(program: Program, paid: IntArray, sign: int = 1) -> Optimum:
    """The least sum of some columns in whole numbers; the most with sign -1."""
    cost = np.bincount(paid, minlength=program.columns) * sign
    return minimise(program.matrix(), cost, Stop(1.0), np.ones(program.columns, np.bool_))


def test_a_program_finds_the_most_that_fits_and_says_that_it_is() -> None:
    found = least(knapsack(24), np.arange(3), -1)
    assert found.complete
    assert found.bound == -5
    assert found.values is not None
    assert found.values.tolist() == [2, 2, 1]


def test_a_program_without_a_solution_says_so() -> None:
    found = least(knapsack(14), np.arange(3))
    assert found.complete
    assert found.values is None


def test_columns_that_may_be_parted_are_and_the_others_are_whole() -> None:
    """Of pods of 3, 5 and 7 one more of the first is wanted, and the last one gives way in part."""
    matrix, cost = knapsack(21).matrix(), np.array([-1, -1, -1])
    first = np.array([True, True, False])
    found = minimise(matrix, cost, Stop(1.0), first)
    assert found.values is not None
    assert found.values.tolist()[:2] == [2, 1]
    assert found.bound == -4  # 10/7 of the last, and -31/7 rounded up


def test_a_search_counts_no_more_than_the_seconds_after_which_it_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "HIGHS_PRESOLVE_SECONDS", 1e6)
    assert least(knapsack(24), np.arange(3)).spent == 1 + tuning.HIGHS_FUSE


@pytest.mark.parametrize("seed", [19, 20, 21, 22, 23, 26, 33])
def test_large_pods_before_small_ones_need_the_fewest_moves(seed: int) -> None:
    """In each of these the first state that places everything is not the best one."""
    problem = rebalancing(tight_cluster(seed, nodes=9, workloads=14))
    fresh = start(problem)
    state = construct(fresh)
    least = Score(0, tuple(0 for _ in score(state).unplaced), 0, 0)
    best = Incumbent(state, score(state), least, Clock(20.0), lambda *_: None)
    kernel = Kernel.of(fresh, best, np.ones(len(fresh.free), np.bool_))
    assert kernel is not None
    kernel.search(2.0)
    first = best.best.moves
    kernel.search_by_size(2.0)
    fewest = solve(problem).level("moves")
    assert fewest is not None
    assert best.best.moves == fewest.value < first


@pytest.mark.parametrize("seed", [*range(12), 16, 26])
def test_what_the_exact_core_proves_is_found_at_scale_too(seed: int) -> None:
    problem = rebalancing(tight_cluster(seed))
    if len(reach_of(problem).plain) < len(problem.groups):
        return
    exact, found = (
        [(level.kind, level.value) for level in answer.levels if level.kind in RULES]
        for answer in (solve(problem), solve_large(problem))
    )
    assert found == exact


def test_a_bound_in_floating_point_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(close_gap, "certify_moves", lambda *_: None)
    found = at_scale(rebalancing(tight_cluster(35)))
    moves = found.level("moves")
    assert moves is not None
    assert (moves.value, moves.bound, found.status) == (2, 1, "feasible")
    assert any("which is no proof" in note for note in found.notes)


def test_a_window_of_roomy_nodes_places_what_the_greedy_ways_left() -> None:
    """Three big pods of a high priority find no room, since cpu and memory are free apart."""
    problem = rebalancing(drifted(50, "big", 4))
    fresh = start(problem)
    state = construct(fresh)
    before = score(state)
    assert before.unplaced[0] == 3
    least = Score(0, tuple(0 for _ in before.unplaced), 0, 0)
    best = Incumbent(state, before, least, Clock(60.0), lambda *_: None)
    repair_roomy(fresh, best)
    assert not best.best.open


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_window_finds_fits_the_whole_cluster(seed: int) -> None:
    """What left a node outside of the window can't come back where others have landed since."""
    fresh = start(rebalancing(tight_cluster(seed, nodes=12, workloads=16)))
    state = fresh.copy()
    realise(state, "pack")
    settle(state)
    for shift in range(3):
        inside = np.arange(len(fresh.free)) % 3 == shift
        window = Window(fresh, state, inside, taking_part(state, inside))
        found = least(window.program, window.departures)
        assert found.values is None or window.apply(found.values) is not None


def test_windows_around_opened_nodes_only_ever_improve_a_plan() -> None:
    problem = rebalancing(drifted(50, "scale", 4))
    fresh = start(problem)
    state = construct(fresh)
    before = score(state)
    told: list[Score] = []
    least = Score(0, tuple(0 for _ in before.unplaced), 0, before.moves - 1)
    best = Incumbent(state, before, least, Clock(3.0), lambda now, _: told.append(now))
    repair_around(fresh, best, 3.0)
    assert best.best.moves < before.moves
    assert told == sorted(told, key=lambda now: now.key, reverse=True)
    counts = {(g, n): c for g, t in best.state.tasks.items() for n, c in t.now.items() if c}
    cluster = problem.cluster
    verdict = judge(cluster, placement_of(cluster, counts, problem.movable, problem.waiting))
    assert verdict.problems == ()
    assert verdict.moves == best.best.moves


def test_one_program_closes_the_gap_that_windows_leave_in_a_cluster_of_middle_size() -> None:
    """By prices 25 moves are needed; all nodes taken together say 26."""
    found = at_scale(limited(drifted(100, "big", 9), 60.0))
    moves = found.level("moves")
    assert moves is not None
    assert (moves.value, moves.bound, found.status) == (26, 26, "optimal")


def test_a_limit_that_has_come_leaves_the_first_plan_with_its_gap() -> None:
    problem = limited(drifted(50, "scale", 4), 0.001)
    found = at_scale(problem)
    moves = found.level("moves")
    assert moves is not None
    assert found.status == "feasible"
    assert 0 < moves.bound < moves.value


def test_ctrl_c_leaves_the_best_plan_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(close_gap, "improve", interrupted)
    told: list[Progress] = []
    cluster = drifted(50, "scale", 4)
    problem = rebalancing(cluster)
    found = at_scale(problem, report=told.append)
    assert found.interrupted
    assert found.status == "feasible"
    assert told[-1].level == "moves"
    verdict = judge(cluster, placement_of(cluster, found.counts, problem.movable, problem.waiting))
    assert verdict.problems == ()
