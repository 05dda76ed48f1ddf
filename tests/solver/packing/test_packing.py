"""Packing by priority: walks, bounds and the exact model against all packings of small stocks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner.cluster import build_cluster
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.enumeration import Effort, completed
from planner.solver.packing.exchanges import ExchangeWalks
from planner.solver.packing.fewer_moves import homeward, relabelled
from planner.solver.packing.fill_nodes import Care, Filling
from planner.solver.packing.full_nodes import one_stays_out
from planner.solver.packing.identical_nodes import settled, staying_out
from planner.solver.packing.question import Stock, only_room_decides, stock_of
from planner.solver.packing.refill import Work, refilled
from planner.solver.packing.room_bounds import bounded, ceiling
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Level
from planner.solver.route import solve_in_full as solve
from planner.sources.inventory import Inventory
from planner_models.meta import ObjectMeta, OwnerReference
from planner_models.node import Node, NodeStatus
from planner_models.pod import Container, Pod, PodSpec
from planner_models.resources import ResourceRequirements
from tests.agreement.final_states import best

BOTH = SolveOptions(rebalance=True, preempt=True)
EITHER = (SolveOptions(rebalance=True), SolveOptions(preempt=True))


def stock(
    sizes: list[list[int]], rooms: list[list[int]], total: list[int], rank: list[int]
) -> Stock:
    """Pods that all wait and may land anywhere."""
    shape = (len(sizes), len(rooms))
    return Stock(
        groups=tuple(range(len(sizes))),
        size=np.array(sizes),
        room=np.array(rooms),
        landing=np.ones(shape, np.bool_),
        priorities=tuple(range(max(rank), -1, -1)),
        rank=np.array(rank),
        now=np.zeros(shape, np.int64),
        total=np.array(total),
        least=np.zeros(len(sizes), np.int64),
    )


@st.composite
def stocks(draw: st.DrawFn) -> Stock:
    groups, nodes = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    number = st.integers(1, 9)
    rank = sorted(draw(st.lists(st.integers(0, 1), min_size=groups, max_size=groups)))
    return stock(
        [[draw(number), draw(number)] for _ in range(groups)],
        [[draw(number) + 3, draw(number) + 3] for _ in range(nodes)],
        [draw(st.integers(1, 2)) for _ in range(groups)],
        [r - rank[0] for r in rank],
    )


def packings(given_: Stock) -> list[IntArray]:
    """All that fit."""
    groups, nodes = given_.now.shape
    cells = product(*(range(int(given_.total[g]) + 1) for g in range(groups) for _ in range(nodes)))
    tables = (np.array(cell).reshape(groups, nodes) for cell in cells)
    return [
        table
        for table in tables
        if (table.sum(axis=1) <= given_.total).all()
        and (table.T @ given_.size <= given_.room).all()
    ]


@given(stocks())
def test_sums_over_all_nodes_bound_what_any_packing_places(given_: Stock) -> None:
    top = max(given_.placed(table) for table in packings(given_))
    for rank, placed in enumerate(top):
        assert placed <= ceiling(given_, top, rank)


def test_no_node_takes_half_a_pod() -> None:
    nine = stock([[4, 1]], [[30, 99]] * 9, [70], [0])
    assert ceiling(nine, (), 0) == 9 * 7


@given(stocks())
def test_one_pod_is_said_to_stay_out_only_if_it_does(given_: Stock) -> None:
    last = len(given_.priorities) - 1
    if one_stays_out(given_, last, 1000):
        assert all((table.sum(axis=1) < given_.total).any() for table in packings(given_))


def test_two_nodes_that_no_set_of_pods_fills_can_t_take_everything() -> None:
    uneven = stock([[3, 1], [3, 1], [4, 1]], [[5, 9], [5, 9]], [1, 1, 1], [0, 0, 0])
    assert one_stays_out(uneven, 0, 1000)
    even = stock([[3, 1], [2, 1], [5, 1]], [[5, 9], [5, 9]], [1, 1, 1], [0, 0, 0])
    assert not one_stays_out(even, 0, 1000)


@given(stocks(), st.integers(0, 3))
def test_walks_leave_a_packing_that_fits(given_: Stock, seed: int) -> None:
    walks = ExchangeWalks(given_, given_.now, seed)
    for small_first in (False, True, False):
        walks.round(small_first=small_first, patient=True, steps=100)
        assert any((walks.counts == table).all() for table in packings(given_))


def test_a_walk_makes_room_by_passing_smaller_pods_on() -> None:
    # 6 does not fit beside 5 and 2, nor beside 4; with 2 moved next to 4 it does.
    given_ = stock([[6], [5], [2], [4]], [[11], [6]], [1, 1, 1, 1], [0, 0, 0, 0])
    counts = np.array([[0, 0], [1, 0], [1, 0], [0, 1]])
    walks = ExchangeWalks(given_, counts, 0)
    walks.round(small_first=False, patient=False, steps=100)
    assert walks.complete
    assert walks.counts.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]


# Filling nodes anew.


@settings(max_examples=60)
@given(stocks(), st.integers(0, 3))
def test_refilling_places_no_fewer_and_leaves_a_packing_that_fits(given_: Stock, seed: int) -> None:
    found = refilled(given_, bounded(given_, given_.now), Work(1_000_000), seed)
    assert any((found == table).all() for table in packings(given_))
    assert (found == refilled(given_, bounded(given_, given_.now), Work(1_000_000), seed)).all()


def test_refilling_keeps_pods_where_none_of_their_group_may_land() -> None:
    given_ = stock([[2], [3], [3]], [[5], [5], [5]], [2, 1, 2], [0, 0, 0])
    here = replace(
        given_,
        now=np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]]),
        landing=np.array([[True, True, False], [True, True, False], [True, True, False]]),
        least=np.array([2, 1, 0]),
    )
    found = refilled(here, bounded(here, here.now), Work(1_000_000), 0)
    assert found.sum(axis=1).tolist() == [2, 1, 2]
    assert found[:, 2].tolist() == [0, 1, 0]


def test_nodes_are_filled_to_the_last_unit_where_the_pods_allow_it() -> None:
    # Twelve nodes of 100, cut into four pieces each: first piece by piece, the last ones together.
    random = np.random.default_rng(0)
    cuts = np.sort(random.integers(1, 100, (12, 3)), axis=1)
    pieces = np.diff(cuts, axis=1, prepend=0, append=100).reshape(-1, 1)
    pieces = pieces[pieces[:, 0] > 0]
    care = Care(600, 6, Effort(sets=100_000, width=2_000, work=10**8))
    everybody = np.arange(len(pieces))
    filling = Filling(pieces, everybody, np.full((12, 1), 100), care, 10**8, 0)
    found = filling.run()
    assert found is not None
    assert sorted(pod for pods in found for pod in pods) == everybody.tolist()
    assert [int(pieces[pods].sum()) for pods in found] == [100] * 12


@st.composite
def few_nodes(draw: st.DrawFn) -> Stock:
    """Nodes that are alike; pods that all have to be placed, or some that may stay out."""
    groups, nodes = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    number = st.integers(0, 5)
    room = [draw(number) + 3, draw(number) + 3]
    found = stock(
        [[draw(number), draw(number)] for _ in range(groups)],
        [room] * nodes,
        [draw(st.integers(1, 2)) for _ in range(groups)],
        sorted([0, *(draw(st.integers(0, 1)) for _ in range(groups - 1))]),
    )
    return replace(found, least=np.array([draw(st.integers(0, 1)) for _ in range(groups)]))


ALL = Effort(sets=10_000, width=10_000, work=10**8)


@given(few_nodes())
def test_a_completion_finds_a_way_if_there_is_one(given_: Stock) -> None:
    there = any((table.sum(axis=1) == given_.total).all() for table in packings(given_))
    found = completed(given_.size, given_.total, given_.room[0], len(given_.room), ALL)
    assert found.complete
    assert (found.counts is not None) == there
    if found.counts is not None:
        assert found.counts.sum(axis=1).tolist() == given_.total.tolist()
        assert (found.counts.T @ given_.size <= given_.room).all()


@given(few_nodes())
def test_a_completion_that_cuts_off_does_not_say_that_there_is_no_way(given_: Stock) -> None:
    narrow = ALL._replace(width=1)
    found = completed(given_.size, given_.total, given_.room[0], len(given_.room), narrow)
    if found.counts is None and found.complete:
        assert not any((table.sum(axis=1) == given_.total).all() for table in packings(given_))


def test_more_pods_of_a_group_than_a_digit_holds_are_counted_all_the_same() -> None:
    found = completed(np.array([[1]]), np.array([20]), np.array([10]), 2, ALL)
    assert found.counts is not None
    assert found.counts.tolist() == [[10, 10]]


@settings(max_examples=60)
@given(few_nodes())
def test_a_number_of_pods_is_settled_as_all_packings_say(given_: Stock) -> None:
    legal = [t for t in packings(given_) if (t.sum(axis=1) >= given_.least).all()]
    assume(legal)
    top = max(given_.placed(table) for table in legal)
    everything = given_.placed(given_.total[:, None])
    for rank in range(len(everything)):
        above = top[:rank]
        for goal in range(top[rank], everything[rank] + 1):
            found = settled(given_, above, goal, 10**8)
            assert found.refuted == (goal > top[rank])
            assert (found.counts is None) == found.refuted
            if found.counts is not None:
                assert given_.placed(found.counts)[: rank + 1] == (*above, goal)
                assert (found.counts.sum(axis=1) >= given_.least).all()


def test_the_smaller_of_two_pods_does_not_stay_out_for_the_larger() -> None:
    given_ = stock([[4, 4], [3, 3], [1, 9]], [[9, 9]], [1, 1, 1], [0, 0, 0])
    out = [each.tolist() for each in staying_out(given_, (2,))]
    assert out == [[0, 0, 1], [1, 0, 0]]


def test_nodes_that_are_alike_are_told_apart_by_who_runs_there() -> None:
    given_ = stock([[3], [4]], [[5], [5]], [1, 1], [0, 0])
    here = Stock(**{**vars(given_), "now": np.array([[1, 0], [0, 1]])})
    turned = np.array([[0, 1], [1, 0]])
    assert here.moves(turned) == 2
    assert here.moves(relabelled(here, turned)) == 0
    assert here.moves(homeward(here, np.array([[0, 1], [0, 0]]))) == 1  # the second has no node


# As problems: against every final state.


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Two or three nodes, up to five pods of three priorities, nothing but room to mind."""
    nodes = tuple(
        Node(
            metadata=ObjectMeta(name=f"n{i}"),
            status=NodeStatus.model_validate(
                {"allocatable": {"cpu": str(draw(st.integers(3, 6))), "memory": "6", "pods": "4"}}
            ),
        )
        for i in range(draw(st.integers(2, 3)))
    )
    free = [6] * len(nodes)
    cpu = [int(node.allocatable["cpu"]) // 1000 for node in nodes]
    pods: list[Pod] = []
    for g in range(draw(st.integers(1, 3))):
        ask, memory = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        amounts = {"requests": {"cpu": str(ask), "memory": str(memory)}}
        spec = PodSpec(
            containers=(Container(resources=ResourceRequirements.model_validate(amounts)),),
            priority=draw(st.integers(0, 2)),
        )
        owner = OwnerReference(kind="ReplicaSet", name=f"g{g}", controller=True)
        for i in range(draw(st.integers(1, 2))):
            at = draw(st.integers(-1, len(nodes) - 1))
            fits = at >= 0 and cpu[at] >= ask and free[at] >= memory
            if fits:
                cpu[at] -= ask
                free[at] -= memory
            name = nodes[at].name if fits else ""
            pods.append(
                Pod(
                    namespace="default",
                    name=f"g{g}-{i}",
                    spec=spec,
                    labels={"app": f"g{g}"},
                    owner=owner,
                    node_name=name,
                    phase="Running" if fits else "Pending",
                )
            )
    options = draw(st.sampled_from((BOTH, *EITHER)))
    return build_problem(build_cluster(Inventory(nodes=nodes, pods=tuple(pods))), options)


def rules(levels: tuple[Level, ...]) -> tuple[int, ...]:
    kinds = ("placed", "excess", "moves")
    return tuple(
        -level.value if level.kind == "placed" else level.value
        for level in levels
        if level.kind in kinds
    )


@settings(max_examples=60)
@given(problems())
def test_packings_are_the_best_of_all_final_states(problem: Problem) -> None:
    assert only_room_decides(problem)
    found = solve(problem)
    assert found.status == "optimal"
    assert rules(found.levels) == best(problem)


@settings(max_examples=40)
@given(problems())
def test_without_any_model_bounds_hold_and_values_are_reached(problem: Problem) -> None:
    given_ = stock_of(problem)
    if given_ is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "PACKING_MODEL_CELLS", 0)
        found = solve(replace(problem, options=replace(problem.options, time_limit=0.5)))
    placed = [level for level in found.levels if level.kind == "placed"]
    top = [-value for value in best(problem)[: len(placed)]]
    proven = True
    for level, value in zip(placed, top, strict=True):
        assert not proven or level.value <= value <= level.bound
        proven = proven and level.proven
    counts = given_.counts(found.counts)
    assert (counts.T @ given_.size <= given_.room).all()
    assert (counts.sum(axis=1) >= given_.least).all()
