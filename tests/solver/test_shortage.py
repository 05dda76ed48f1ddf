"""More pods than room, in large problems."""

from __future__ import annotations

import pytest

from benchmarks.final_state import judge, placement_of
from planner.solver.packing.room_bounds import ceilings
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem
from planner.solver.route import solve_in_full as solve
from tests.solver.large_clusters import at_scale, limited, tight_cluster
from tests.solver.problems import node, problem, values, workload


def test_the_lightest_pods_are_the_most_that_can_be_placed() -> None:
    crowd = problem(
        [node("a", cpu="4"), node("b", cpu="4")],
        workload("big", "", "", cpu="3"),
        workload("small", *[""] * 8, cpu="1"),
        rebalance=True,
    )
    assert values(at_scale(crowd))["placed 0"] == 8


def test_a_high_priority_gets_its_hole_before_low_ones_take_the_room() -> None:
    crowd = problem(
        [node("a", cpu="4"), node("b", cpu="4")],
        workload("runs", "a", "b", cpu="1"),
        workload("high", "", cpu="4", priority=1000),
        workload("low", *[""] * 6, cpu="1"),
        rebalance=True,
    )
    expected = {"placed 1000": 1, "placed 0": 2, "excess": 0, "moves": 1}
    assert values(at_scale(crowd)) == expected


@pytest.mark.parametrize("seed", range(5))
def test_crowded_clusters_end_valid_and_below_what_room_allows(seed: int) -> None:
    cluster = tight_cluster(seed, nodes=5, workloads=14)
    crowd = limited(cluster, 3.0)
    found = at_scale(crowd)
    verdict = judge(cluster, placement_of(cluster, found.counts, crowd.movable, crowd.waiting))
    assert verdict.problems == ()
    most = ceilings(crowd)
    for level in found.levels:
        if level.kind == "placed":
            assert level.value <= most[int(level.name.split()[1])]
            if level.value < most[int(level.name.split()[1])]:
                break


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("preempt", [False, True])
def test_room_in_total_is_never_less_than_what_can_be_placed(seed: int, preempt: bool) -> None:
    options = SolveOptions(rebalance=True, preempt=preempt, time_limit=3)
    crowd = build_problem(tight_cluster(seed, nodes=4, workloads=7), options)
    most = ceilings(crowd)
    for level in solve(crowd).levels:
        if level.kind != "placed":
            break
        assert level.value <= most.get(int(level.name.split()[1]), level.value)
        if level.value < most.get(int(level.name.split()[1]), level.value):
            break
