from __future__ import annotations

from typing import Any

import pytest

from benchmarks.drift import DRIFTS, Drift, drifted
from benchmarks.final_state import judge, placement_of
from planner.cluster import Cluster, build_cluster
from planner.solver.problem.problem import Problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full as solve
from tests.objects import HOSTNAME, Json, inventory_of, node, pod
from tests.solver.large_clusters import at_scale, motley_cluster, rebalancing, tight_cluster


def values(found: Solution) -> list[int]:
    """Placed pods by priority as losses, excess, moves: smaller is better."""
    return [
        -level.value if level.kind == "placed" else level.value
        for level in found.levels
        if level.kind in ("placed", "excess", "moves")
    ]


def check(cluster: Cluster, problem: Problem, found: Solution) -> None:
    """The naive checker finds nothing wrong and the same numbers."""
    verdict = judge(cluster, placement_of(cluster, found.counts, problem.movable, problem.waiting))
    assert verdict.problems == ()
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    excess, moves = found.level("excess"), found.level("moves")
    assert excess is not None
    assert moves is not None
    assert (verdict.placed, verdict.excess, verdict.moves) == (placed, excess.value, moves.value)
    assert moves.bound <= moves.value


@pytest.mark.parametrize("seed", range(30))
def test_small_tight_clusters_are_valid_and_never_wrongly_optimal(seed: int) -> None:
    cluster = tight_cluster(seed)
    problem = rebalancing(cluster)
    found, exact = at_scale(problem), solve(problem)
    check(cluster, problem, found)
    if all(level.proven for level in exact.levels if level.kind in ("placed", "excess", "moves")):
        assert values(exact) <= values(found)
        best, claimed = exact.level("moves"), found.level("moves")
        if best is not None and claimed is not None and values(exact)[:-1] == values(found)[:-1]:
            assert claimed.bound <= best.value
        if found.status == "optimal":
            assert values(exact) == values(found)


@pytest.mark.parametrize("seed", range(40))
def test_cordons_taints_and_ports_never_make_a_bound_wrong(seed: int) -> None:
    problem = rebalancing(motley_cluster(seed))
    found, exact = at_scale(problem), solve(problem)
    assert all(level.proven for level in exact.levels if level.kind in ("placed", "excess"))
    assert values(exact) <= values(found)
    best, claimed = exact.level("moves"), found.level("moves")
    assert best is not None
    assert claimed is not None
    if values(exact)[:-1] == values(found)[:-1]:
        assert claimed.bound <= best.value
    if found.status == "optimal":
        assert values(exact) == values(found)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("seed", range(3))
def test_drifted_clusters_of_fifty_nodes_end_valid(drift: Drift, seed: int) -> None:
    cluster = drifted(50, drift, seed)
    problem = rebalancing(cluster)
    check(cluster, problem, at_scale(problem))


def test_a_zone_that_came_back_is_refilled_with_the_fewest_moves_proven() -> None:
    found = at_scale(rebalancing(drifted(50, "zone", 11)))
    assert found.status == "optimal"


def test_the_same_problem_gives_the_same_solution_twice() -> None:
    first, second = (at_scale(rebalancing(drifted(50, "big", 0))) for _ in range(2))
    assert (first.counts, first.levels) == (second.counts, second.levels)


def owned(name: str, on: str, cpu: int, **spec: Any) -> Json:
    """A pod of a ReplicaSet of its own, so that an eviction brings it back."""
    asked = {"name": "m", "resources": {"requests": {"cpu": str(cpu)}}, **spec.pop("main", {})}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": True}
    return pod(
        name, on, spec={"containers": [asked], **spec}, metadata={"ownerReferences": [owner]}
    )


def test_who_could_give_way_but_is_no_plain_group_is_not_forgotten_by_the_bound() -> None:
    port = {"ports": [{"containerPort": 80, "hostPort": 80}]}
    cluster = build_cluster(
        inventory_of(
            node("a"),
            node("b", status={"allocatable": {"cpu": "2"}}),
            owned("special", "a", 2, main=port),
            owned("one", "a", 1),
            owned("two", "a", 1),
            owned("waits", "", 2, nodeSelector={HOSTNAME: "a"}),
        )
    )

    moves = at_scale(rebalancing(cluster)).level("moves")

    assert moves is not None
    assert moves.value == 2
    assert moves.bound <= 1  # `special` may go to b instead of `one` and `two`
