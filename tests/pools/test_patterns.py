"""Patterns of pods on nodes: their bound is below every set that is filled."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.pools.question import question_of
from planner.solver.scale_up.knapsack import Node, value_of
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.places import every_places
from tests.pools.test_naive_twin import EXAMPLES, SEEDS, cheapest, filling_of
from tests.pools.test_scale_up import searching


@settings(max_examples=EXAMPLES)
@given(SEEDS)
def test_the_bound_is_never_above_the_cheapest_set_that_is_filled(seed: int) -> None:
    filling = filling_of(seed)
    question = question_of(filling, (1,) * len(filling.offers))
    if not filling.goal or question is None:
        return
    best = cheapest(searching(filling))
    every = [Patterns(places) for places in every_places(question)]
    for patterns in every:
        patterns.generate(5.0)
    if best is not None:
        assert min(patterns.bound(best[0]) for patterns in every) <= best[0]


@given(st.integers(0, 1 << 32))
def test_no_pods_of_a_node_are_worth_more_than_the_bounds_say(seed: int) -> None:
    draw = random.Random(seed)
    groups, resources = draw.randint(1, 4), draw.randint(1, 3)
    request = np.array([[draw.randint(0, 5) for _ in range(resources)] for _ in range(groups)])
    request[:, 0] += 1
    free = np.array([draw.randint(1, 12) for _ in range(resources)])
    cap = np.array([draw.randint(0, 3) for _ in range(groups)])
    values = np.array([draw.randint(-3, 40) for _ in range(groups)])
    node = Node(request, free, cap)
    every = np.array(list(product(*(range(n + 1) for n in cap))))
    best = max(int(n @ values) for n in every if (n @ request <= free).all())
    exact = node.exactly(values)
    assert (exact.value, exact.most) == (best, best)
    assert node.at_most(values) >= best
    assert all(value_of(pods, values) <= best for pods in node.quickly(values))
