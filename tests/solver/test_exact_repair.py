"""Windows and the programs behind them, and what a limit or Ctrl-C leaves of a search."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest

from benchmarks.drift import drifted
from benchmarks.final_state import judge, placement_of
from planner.cluster.topology import IntArray
from planner.solver.large import solve_large
from planner.solver.problem import Problem
from planner.solver.progress import Progress
from planner.solver.scale import closing
from planner.solver.scale.construct import Score, construct, opened, score
from planner.solver.scale.incumbent import Clock, Incumbent
from planner.solver.scale.kernel import Kernel, repair_part
from planner.solver.scale.neighbourhoods import repair_around, repair_roomy, repair_widely
from planner.solver.scale.pipeline import solve_at_scale
from planner.solver.scale.program import Optimum, Program, Stop, minimise
from planner.solver.scale.reach import reach_of
from planner.solver.scale.repair import repair_all
from planner.solver.scale.window import Window, taking_part
from planner.solver.scale.work import start
from planner.solver.search import solve
from planner.solver.solution import Solution
from tests.solver.scale_clusters import limited, rebalancing, tight_cluster

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


@pytest.mark.parametrize("seed", [19, 20, 21, 22, 23, 26, 33])
def test_large_pods_before_small_ones_need_the_fewest_moves(seed: int) -> None:
    """In each of these the first state that places everything is not the best one."""
    problem = rebalancing(tight_cluster(seed, nodes=9, workloads=14))
    fresh = start(problem)
    work = construct(fresh)
    least = Score(0, tuple(0 for _ in score(work).unplaced), 0, 0)
    best = Incumbent(work, score(work), least, Clock(20.0), lambda *_: None)
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
    monkeypatch.setattr(closing, "certify_moves", lambda *_: None)
    found = solve_at_scale(rebalancing(tight_cluster(35)))
    moves = found.level("moves")
    assert moves is not None
    assert (moves.value, moves.bound, found.status) == (2, 1, "feasible")
    assert any("which is no proof" in note for note in found.notes)


def test_a_window_of_roomy_nodes_places_what_the_greedy_ways_left() -> None:
    """Three big pods of a high priority find no room, since cpu and memory are free apart."""
    problem = rebalancing(drifted(50, "big", 4))
    fresh = start(problem)
    work = construct(fresh)
    before = score(work)
    assert before.unplaced[0] == 3
    least = Score(0, tuple(0 for _ in before.unplaced), 0, 0)
    best = Incumbent(work, before, least, Clock(60.0), lambda *_: None)
    repair_roomy(fresh, best)
    assert not best.best.open


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_window_finds_fits_the_whole_cluster(seed: int) -> None:
    """What left a node outside of the window can't come back where others have landed since."""
    fresh = start(rebalancing(tight_cluster(seed, nodes=12, workloads=16)))
    work = opened(fresh)
    for shift in range(3):
        inside = np.arange(len(fresh.free)) % 3 == shift
        window = Window(fresh, work, inside, taking_part(work, inside), strict=False)
        found = least(window.program, window.departures)
        assert found.values is not None
        assert window.apply(found.values) is not None


def test_windows_around_opened_nodes_only_ever_improve_a_plan() -> None:
    problem = rebalancing(drifted(50, "scale", 4))
    fresh = start(problem)
    work = construct(fresh)
    before = score(work)
    told: list[Score] = []
    least = Score(0, tuple(0 for _ in before.unplaced), 0, before.moves - 1)
    best = Incumbent(work, before, least, Clock(3.0), lambda now, _: told.append(now))
    repair_around(best, 3.0, partial(repair_part, fresh, best))
    assert best.best.moves < before.moves
    assert told == sorted(told, key=lambda now: now.key, reverse=True)
    counts = {(g, n): c for g, t in best.work.tasks.items() for n, c in t.now.items() if c}
    cluster = problem.cluster
    verdict = judge(cluster, placement_of(cluster, counts, problem.movable, problem.waiting))
    assert verdict.problems == ()
    assert verdict.moves == best.best.moves


def test_wide_windows_are_drawn_alike_every_time_and_only_improve() -> None:
    problem = rebalancing(drifted(50, "scale", 4))
    fresh = start(problem)
    work = construct(fresh)
    before = score(work)
    least = Score(0, tuple(0 for _ in before.unplaced), 0, before.moves - 1)
    found = []
    for _ in range(2):
        best = Incumbent(work, before, least, Clock(1.0), lambda *_: None)
        repair_widely(best, 1.0, partial(repair_part, fresh, best))
        found.append({g: dict(task.now) for g, task in best.work.tasks.items()})
        assert best.best.key <= before.key
        assert not best.best.open
    assert found[0] == found[1]


def test_one_program_closes_the_gap_that_windows_leave_in_a_cluster_of_middle_size() -> None:
    """By prices 25 moves are needed; all nodes taken together say 26."""
    found = solve_at_scale(limited(drifted(100, "big", 9), 60.0))
    moves = found.level("moves")
    assert moves is not None
    assert (moves.value, moves.bound, found.status) == (26, 26, "optimal")


def test_a_limit_that_has_come_leaves_the_first_plan_with_its_gap() -> None:
    problem = limited(drifted(50, "scale", 4), 0.001)
    found = solve_at_scale(problem)
    moves = found.level("moves")
    assert moves is not None
    assert found.status == "feasible"
    assert 0 < moves.bound < moves.value


def test_ctrl_c_leaves_the_best_plan_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(closing, "improve", interrupted)
    told: list[Progress] = []
    cluster = drifted(50, "scale", 4)
    problem = rebalancing(cluster)
    found = solve_at_scale(problem, report=told.append)
    assert found.interrupted
    assert found.status == "feasible"
    assert told[-1].level == "moves"
    verdict = judge(cluster, placement_of(cluster, found.counts, problem.movable, problem.waiting))
    assert verdict.problems == ()


@pytest.mark.parametrize("seed", [3, 4, 10, 13, 16, 40, 55, 109])
def test_a_shortage_leaves_as_few_as_can_be_the_most_important_ones_first(seed: int) -> None:
    """In each of these the greedy ways leave more, or more important ones."""
    problem = rebalancing(tight_cluster(seed, workloads=14))
    fresh = start(problem)
    before = score(construct(fresh))
    least = Score(0, tuple(0 for _ in before.unplaced), 0, 0)
    best = Incumbent(construct(fresh), before, least, Clock(20.0), lambda *_: None)
    repair_all(fresh, best)
    unplaced = best.best.unplaced
    assert unplaced == _unplaced(problem, solve(problem)) < before.unplaced


def _unplaced(problem: Problem, found: Solution) -> tuple[int, ...]:
    """By priority, highest first."""
    groups = problem.cluster.groups
    left = Counter(dict.fromkeys(problem.priorities, 0))
    for group, pods in found.unplaced.items():
        left[groups[group].priority] += pods
    return tuple(left[priority] for priority in problem.priorities)


def test_everything_is_placed_where_the_greedy_ways_gave_up() -> None:
    problem = rebalancing(tight_cluster(26))
    fresh = start(problem)
    work = construct(fresh)
    before = score(work)
    least = Score(0, tuple(0 for _ in before.unplaced), 0, 0)
    best = Incumbent(work, before, least, Clock(20.0), lambda *_: None)
    repair_all(fresh, best)
    assert best.best.key <= before.key
    assert best.best.stranded == 0
