"""How many nodes have to stay, by counting: never more than really do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.drain.empty_nodes import EmptyingNodes
from planner.drain.options import DrainOptions
from planner.scheduler.profile import default_profile
from planner.solver.emptying.usable_room import slots, usable
from tests.drain.small_clusters import small_cluster

AMOUNTS = st.lists(st.integers(0, 6), min_size=2, max_size=2)
PODS = st.lists(AMOUNTS.filter(any), min_size=1, max_size=5)


@given(PODS, AMOUNTS)
def test_no_pods_side_by_side_use_more_than_is_usable_or_are_more_than_there_are_slots(
    pods: list[list[int]], room: list[int]
) -> None:
    requests, rooms = np.array(pods, np.int64), np.array([room], np.int64)
    fitting = [
        requests[list(chosen)]
        for size in range(len(pods) + 1)
        for chosen in combinations(range(len(pods)), size)
        if (requests[list(chosen)].sum(axis=0) <= rooms[0]).all()
    ]
    assert (usable(requests, rooms)[0] >= np.max([each.sum(axis=0) for each in fitting], 0)).all()
    assert slots(requests, rooms)[0] >= max(map(len, fitting))


def test_cpu_is_of_no_use_beside_no_memory() -> None:
    assert usable(np.array([[1, 2]]), np.array([[8, 4], [8, 1]])).tolist() == [[2, 4], [0, 0]]


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_no_set_of_nodes_that_all_rules_allow_exceeds_the_bound(seed: int) -> None:
    cluster = small_cluster(seed, most_nodes=6)
    emptying = EmptyingNodes(cluster, default_profile(), DrainOptions((), time_limit=20.0))
    prices = {node: 1 for node in range(len(cluster.nodes)) if node not in emptying.stuck}
    if not prices:
        return
    found = emptying.best_sets(prices, removed=False).best()
    assert found is not None
    assert emptying.counting().most(prices, 10.0).bound >= found.price
