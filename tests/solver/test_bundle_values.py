from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.bundles import UNIT, Offer, bundles
from planner.solver.large.node_states import Pairs, Room
from planner.solver.large.room_by_evictions import fronts_of

Amount = tuple[int, int]
amount = st.tuples(st.integers(0, 12), st.integers(0, 12))


def room(free: Amount, pods: list[Amount]) -> Room:
    """One node with nothing but pods that cost a move each."""
    request: IntArray = np.array(pods, np.int64).reshape(-1, 2)
    return Room(
        columns=np.array([0, 1]),
        pairs=Pairs({}, [], np.zeros(0, np.bool_)),
        host=np.array([0]),
        node=np.array([0]),
        free=np.array([free]),
        unit_pair=np.full((1, tuning.UNITS), -1),
        first=np.array([0]),
        fronts=fronts_of(1, np.zeros(len(pods), np.int64), request),
    )


def least(free: Amount, pods: list[Amount], offers: list[tuple[int, Amount]], most: int) -> int:
    """By brute force: every bundle of two to four pods, every set of evictions."""
    best = 0
    for size in range(2, 5):
        for bundle in combinations_with_replacement(range(len(offers)), size):
            if max(bundle.count(i) for i in bundle) > most:
                continue
            need = [sum(offers[i][1][r] for i in bundle) - free[r] for r in range(2)]
            for gone in range(len(pods) + 1):
                covered = any(
                    all(sum(p[r] for p in chosen) >= need[r] for r in range(2))
                    for chosen in combinations(pods, gone)
                )
                if covered:
                    best = min(best, UNIT * gone - sum(offers[i][0] for i in bundle))
    return best


@given(
    amount,
    st.lists(amount, max_size=4),
    st.lists(
        st.tuples(st.integers(1, 3), st.tuples(st.integers(2, 9), st.integers(2, 9))), max_size=3
    ),
    st.integers(1, 2),
)
def test_no_bundle_is_worth_more_than_the_table_says(
    free: Amount, pods: list[Amount], asked: list[tuple[int, Amount]], most: int
) -> None:
    offers = [(pay * UNIT // 2, request) for pay, request in asked]
    offer = Offer(
        nodes=np.array([0]),
        task=np.arange(len(offers)),
        pay=np.array([pay for pay, _ in offers], np.int64),
        most=np.full(len(offers), most),
        request=np.array([request for _, request in offers], np.int64).reshape(-1, 2),
    )
    found = bundles(room(free, pods), [offer], np.zeros(1, np.int64))
    assert found.value[0] <= least(free, pods, offers, most)
    if found.value[0] < 0:
        assert len(found.pods[0]) >= 2
