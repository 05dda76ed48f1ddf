"""Sets of few pods that nearly fill a node, and what they prove, against brute force."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster.topology import IntArray
from planner.solver.packing.nearly_full import NearlyFull
from planner.solver.packing.question import Stock
from planner.solver.packing.sparse_nodes import too_many
from tests.solver.packing.test_packing import few_nodes, packings, stock

ENOUGH = 10**9


@st.composite
def fillings(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int], list[int], int]:
    """Sizes, pods of each group, the room of a node, what may be wasted, and pods at the most."""
    groups, resources = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    amounts = st.lists(st.integers(0, 9), min_size=resources, max_size=resources)
    sizes = draw(st.lists(amounts, min_size=groups, max_size=groups))
    pods = draw(st.lists(st.integers(1, 3), min_size=groups, max_size=groups))
    room = [each + 3 for each in draw(amounts)]
    waste = [min(each) for each in zip(draw(amounts), (each - 1 for each in room), strict=True)]
    return sizes, pods, room, waste, draw(st.integers(1, 6))


@settings(max_examples=500)
@given(fillings())
def test_all_sets_of_few_pods_that_nearly_fill_a_node_are_found(
    given_: tuple[list[list[int]], list[int], list[int], list[int], int],
) -> None:
    size, pods, room, waste = (np.array(each) for each in given_[:4])
    most = given_[4]
    search = NearlyFull(size, pods, room, most, ENOUGH)
    for up_to in range(1, most + 1):
        found = search.sets(waste, up_to, ENOUGH)
        assert found is not None
        counts = _counts(found.members, len(size))
        assert sorted(map(tuple, counts.tolist())) == _by_brute_force(
            size, pods, room, waste, up_to
        )
        assert (found.waste == room - counts @ size).all()


def _counts(members: IntArray, groups: int) -> IntArray:
    held = np.zeros((len(members), groups + 1), np.int64)
    np.add.at(held, (np.arange(len(members))[:, None], members), 1)
    return held[:, :-1]


def _by_brute_force(
    size: IntArray, pods: IntArray, room: IntArray, waste: IntArray, most: int
) -> list[tuple[int, ...]]:
    expected = []
    for held in product(*(range(count + 1) for count in pods.tolist())):
        left = room - np.array(held) @ size
        if sum(held) <= most and ((left >= 0) & (left <= waste)).all():
            expected.append(held)
    return sorted(expected)


def test_all_sets_are_found_among_many_halves_in_many_ranges() -> None:
    """What hundreds of random groups have, by brute force over three pods and a sorted fourth."""
    rng = np.random.default_rng(5)
    size = np.column_stack([rng.integers(1000, 10_000, 60), rng.integers(10, 100, 60)])
    pods, room, waste = rng.integers(1, 3, 60), np.array([22_000, 220]), np.array([20, 9])
    found = NearlyFull(size, pods, room, 4, ENOUGH).sets(waste, 4, ENOUGH)
    assert found is not None
    expected = set()
    for some in combinations_with_replacement(range(60), 4):
        load = size[list(some)].sum(axis=0)
        there = all(some.count(g) <= pods[g] for g in some)
        if there and ((load <= room) & (load >= room - waste)).all():
            expected.add(some)
    four = found.members[(found.members < 60).all(axis=1)]
    assert set(map(tuple, four.tolist())) == expected
    assert len(expected) > 20


@settings(max_examples=500)
@given(few_nodes())
def test_so_many_pods_are_refuted_only_if_no_packing_has_them(given_: Stock) -> None:
    legal = [t for t in packings(given_) if (t.sum(axis=1) >= given_.least).all()]
    top = max((given_.placed(table) for table in legal), default=None)
    everything = given_.placed(given_.total[:, None])
    for rank in range(len(everything)):
        above = top[:rank] if top is not None else everything[:rank]
        for goal in range(everything[rank] + 1):
            if too_many(given_, (*above, goal), ENOUGH).certain:
                assert top is None or goal > top[rank]


def _five_pods() -> Stock:
    """39 of 40: on one of the nodes are two pods, and no two of them are 19 or 20 together."""
    return stock([[9], [6]], [[20], [20]], [3, 2], [0, 0])


def test_pods_don_t_fit_if_no_few_of_them_fill_a_node() -> None:
    assert too_many(_five_pods(), (5,), ENOUGH).certain
    assert not too_many(_five_pods(), (4,), ENOUGH).certain


def test_a_set_is_not_taken_more_often_than_there_are_pods_for_it() -> None:
    # 30 of 30 in seven pods: two nodes with two each, but only 7 + 3 is 10, and that once.
    once = stock([[7], [3], [6], [1], [2], [5]], [[10]] * 3, [1, 1, 2, 1, 1, 1], [0] * 6)
    assert too_many(once, (7,), ENOUGH).certain
    twice = stock([[7], [3], [1], [5]], [[10]] * 3, [2, 2, 5, 1], [0] * 4)
    assert not too_many(twice, (10,), ENOUGH).certain


def test_nothing_is_begun_that_takes_too_much_work() -> None:
    begun = too_many(_five_pods(), (5,), ENOUGH).work
    assert 0 < begun < ENOUGH
    assert too_many(_five_pods(), (5,), begun).certain
    less = too_many(_five_pods(), (5,), begun - 1)
    assert less.work < begun
    assert not less.certain
