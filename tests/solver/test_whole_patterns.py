"""Patterns over places: knapsacks and whole sets, against all that there are."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.solver.model.knapsack import Nodes, value_of
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.places import Places, Row
from planner.solver.scale_up.whole_bound import WholeBound

DRAWN = st.integers(0, 1 << 32)


@given(DRAWN)
def test_no_pods_of_a_node_are_worth_more_than_the_bounds_say(seed: int) -> None:
    draw = random.Random(seed)
    groups, resources, count = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 3)
    request = np.array([[draw.randint(0, 5) for _ in range(resources)] for _ in range(groups)])
    request[:, 0] += 1
    free = np.array([[draw.randint(1, 12) for _ in range(resources)] for _ in range(count)])
    cap = np.array([[draw.randint(0, 3) for _ in range(groups)] for _ in range(count)])
    values = np.array([[draw.randint(-3, 40) for _ in range(groups)] for _ in range(count)])
    nodes = Nodes(request, free, cap)
    bounds, ways = nodes.at_most(values), nodes.quickly(values)
    for i in range(count):
        every = np.array(list(product(*(range(n + 1) for n in cap[i]))))
        best = max(int(n @ values[i]) for n in every if (n @ request <= free[i]).all())
        exact = nodes.exactly(i, values[i])
        assert (exact.value, exact.most) == (best, best)
        assert bounds[i] >= best
        for pods in ways[i]:
            taken = np.array([dict(pods).get(g, 0) for g in range(groups)])
            assert (taken @ request <= free[i]).all()
            assert (taken <= cap[i]).all()
            assert value_of(pods, values[i]) <= best


def places_of(draw: random.Random) -> Places:
    """Two groups for up to three kinds of nodes, the last of which is there and free."""
    groups, kinds = draw.randint(1, 2), draw.randint(1, 2)
    request = np.array([[draw.randint(1, 4), draw.randint(0, 3)] for _ in range(groups)])
    free = np.array([[draw.randint(4, 9), draw.randint(3, 6)] for _ in range(kinds + 1)])
    demand = [draw.randint(1, 4) for _ in range(groups)]
    cap = np.array([[draw.randint(1, 3) for _ in range(groups)] for _ in range(kinds + 1)])
    fitting = (free[:, None, :] // np.maximum(request, 1)).min(axis=2, where=request > 0, initial=9)
    everywhere = np.ones(kinds + 1, np.bool_)
    rows = [Row(np.array([g]), everywhere, demand[g], demand[g]) for g in range(groups)]
    if draw.random() < 0.5:
        first = np.arange(kinds + 1) == 0
        rows.append(Row(np.array([0]), first, None, draw.randint(0, 2)))
    return Places(
        groups=tuple(range(groups)),
        request=request,
        cost=np.array([*(draw.randint(2, 9) for _ in range(kinds)), 0]),
        least=np.array([*(draw.choice([0, 0, 1]) for _ in range(kinds)), 0]),
        most=(*(draw.choice([None, None, 2]) for _ in range(kinds)), draw.randint(0, 1)),
        free=free,
        cap=np.minimum(cap, fitting),
        rows=tuple(rows),
        offers=kinds,
    )


def cheapest_places(places: Places) -> int | None:
    """All sets of nodes by rising cost, until pods can be put into one, node by node."""
    most = [8 if n is None else n for n in places.most]
    every = product(
        *(range(int(least), n + 1) for least, n in zip(places.least, most, strict=True))
    )
    for counts in sorted(every, key=lambda each: int(np.dot(each, places.cost))):
        if _placed(places, counts):
            return int(np.dot(counts, places.cost))
    return None


def _placed(places: Places, counts: tuple[int, ...]) -> bool:
    """Whether pods can be put on these nodes, by all sums of rows that can be reached."""
    sums = {(0,) * len(places.rows)}
    for p in (p for p, n in enumerate(counts) for _ in range(n)):
        sums = {
            tuple(a + b for a, b in zip(known, more, strict=True))
            for known in sums
            for more in _ways(places, p)
        }
        sums = {each for each in sums if _below(places, each)}
    ends = [row.lower or 0 for row in places.rows]
    return any(all(n >= end for n, end in zip(each, ends, strict=True)) for each in sums)


def _below(places: Places, sums: tuple[int, ...]) -> bool:
    return all(
        row.upper is None or n <= row.upper for n, row in zip(sums, places.rows, strict=True)
    )


def _ways(places: Places, p: int) -> set[tuple[int, ...]]:
    """What the pods of one node can add to each row."""
    every = product(*(range(n + 1) for n in places.cap[p].tolist()))
    return {
        tuple(sum(pods[g] for g in row.groups) if row.places[p] else 0 for row in places.rows)
        for pods in every
        if (np.array(pods) @ places.request <= places.free[p]).all()
    }


@given(DRAWN)
def test_whole_patterns_find_the_cheapest_of_all_sets(seed: int) -> None:
    places = places_of(random.Random(seed))
    best = cheapest_places(places)
    patterns = Patterns(places)
    patterns.generate(5.0)
    if best is None:
        return
    whole = WholeBound(patterns)
    while not whole.ended:
        assert patterns.bound <= best
        whole.step(5.0, None)
    assert patterns.bound == best
    assert whole.best is not None
    assert int(np.dot(whole.best, places.cost[: places.offers])) == best
