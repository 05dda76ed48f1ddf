"""The bound on evictions, against all ways to put pods on few nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.evictions.room_bound import fewest_evictions, most_held
from tests.objects import Json, cluster_of, node, owned, pod


def asking(cpu: int, memory: int) -> Json:
    requests = {"cpu": str(cpu), "memory": f"{memory}Gi"}
    return {"containers": [{"name": "c", "image": "x", "resources": {"requests": requests}}]}


def cluster_with(rooms: list[tuple[int, int]], running: list[tuple[int, int, int]]) -> Cluster:
    nodes = [
        node(f"n{i}", status={"allocatable": {"cpu": str(c), "memory": f"{m}Gi", "pods": "9"}})
        for i, (c, m) in enumerate(rooms)
    ]
    pods = [
        pod(f"p{i}", f"n{at}", spec=asking(c, m), metadata=owned("ReplicaSet", f"r{i}"))
        for i, (at, c, m) in enumerate(running)
    ]
    return cluster_of(*nodes, *pods)


def bound(
    rooms: list[tuple[int, int]], running: list[tuple[int, int, int]], size: tuple[int, int], n: int
) -> int:
    cluster = cluster_with(rooms, running)
    request = np.zeros(len(cluster.resources.names), np.int64)
    for name, amount in (("cpu", size[0] * 1000), ("memory", size[1] * 2**30), ("pods", 1)):
        if name in cluster.resources.names:
            request[cluster.resources.names.index(name)] = amount
    return fewest_evictions(cluster, np.ones(len(rooms), np.bool_), request, n)


def by_all_ways(
    rooms: list[tuple[int, int]], running: list[tuple[int, int, int]], size: tuple[int, int], n: int
) -> int | None:
    """The fewest pods that change their node in any arrangement of all of them."""
    sizes = [(c, m) for _, c, m in running] + [size] * n
    homes = [at for at, _, _ in running]
    best: int | None = None
    for places in product(range(len(rooms)), repeat=len(sizes)):
        used = [[0, 0] for _ in rooms]
        for at, (c, m) in zip(places, sizes, strict=True):
            used[at][0] += c
            used[at][1] += m
        if all(u[0] <= r[0] and u[1] <= r[1] for u, r in zip(used, rooms, strict=True)):
            moves = sum(a != b for a, b in zip(places, homes, strict=False))
            best = moves if best is None else min(best, moves)
    return best


sizes = st.tuples(st.integers(1, 4), st.integers(1, 4))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(3, 6), st.integers(3, 6)), min_size=2, max_size=3),
    st.lists(sizes, max_size=4),
    sizes,
    st.integers(1, 2),
)
def test_no_arrangement_takes_fewer(
    rooms: list[tuple[int, int]], pods: list[tuple[int, int]], size: tuple[int, int], n: int
) -> None:
    free, running = [list(room) for room in rooms], list[tuple[int, int, int]]()
    for c, m in pods:
        at = next((i for i, f in enumerate(free) if f[0] >= c and f[1] >= m), None)
        if at is not None:
            free[at][0] -= c
            free[at][1] -= m
            running.append((at, c, m))
    found = by_all_ways(rooms, running, size, n)
    if found is not None:
        assert bound(rooms, running, size, n) <= found


def test_each_of_several_pods_needs_a_hole_of_its_own() -> None:
    rooms, running = [(4, 8)] * 6, [(i, 2, 1) for i in range(6)]
    assert [bound(rooms, running, (3, 1), n) for n in range(1, 7)] == [1, 2, 3, 4, 5, 6]


def test_one_large_pod_makes_room_for_two() -> None:
    assert bound([(4, 8), (4, 8)], [(0, 4, 1), (1, 3, 1)], (2, 1), 2) == 1


def test_free_room_needs_no_eviction() -> None:
    assert bound([(4, 8)], [], (2, 1), 2) == 0


def test_as_many_are_held_as_evictions_make_room_for() -> None:
    """Two nodes of 4 CPU with a pod of 1 CPU each: a whole node takes one eviction."""
    cluster = cluster_with([(4, 8), (4, 8)], [(0, 1, 1), (1, 1, 1)])
    request = np.zeros(len(cluster.resources.names), np.int64)
    request[cluster.resources.names.index("cpu")] = 4000
    usable = np.ones(2, np.bool_)
    assert [most_held(cluster, usable, request, 3, n) for n in range(4)] == [0, 1, 2, 2]
