"""Drains against all orders of evictions, one pod and one node at a time.

`PLANNER_HYPOTHESIS_PROFILE=long` tries 300 random clusters.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest

from planner.cluster import PENDING, Cluster
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.replay.cordons import cordoned_node
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from tests.drain.random_drains import random_drain

LONG = os.environ.get("PLANNER_HYPOTHESIS_PROFILE") == "long"
NUMBERS = range(300 if LONG else 60)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_drain_is_possible_if_and_only_if_some_order_of_evictions_is(number: int) -> None:
    cluster, nodes = random_drain(number)
    found = find_drain(cluster, DrainOptions(nodes, seeds=4, time_limit=5.0), default_profile())
    expected = NaiveOrders(cluster, nodes).exists()
    if found.status == "undecided":  # an order that kube-scheduler itself never takes
        assert expected
        assert not found.stuck
    else:
        assert (found.status == "possible") == expected


def test_most_random_drains_are_not_trivial() -> None:
    statuses = Counter[str]()
    for number in NUMBERS[:60]:
        cluster, nodes = random_drain(number)
        options = DrainOptions(nodes, seeds=2, time_limit=5.0)
        found = find_drain(cluster, options, default_profile())
        statuses[found.status if found.leaving.number else "nothing leaves"] += 1
    assert min(statuses["possible"], statuses["impossible"]) >= 10


class NaiveOrders:
    """Every order of evictions and landings, with budgets counted from scratch each time."""

    def __init__(self, cluster: Cluster, nodes: tuple[int, ...]) -> None:
        cordoned = list(cluster.nodes)
        for each in nodes:
            cordoned[each] = cordoned_node(cordoned[each], True)
        self._cluster = replace(cluster, nodes=tuple(cordoned))
        self._leaving = [p for each in nodes for p in cluster.pods_on(each).tolist()]
        self._drained = nodes

    def exists(self) -> bool:
        """Whether some order leaves nobody behind and nobody waiting."""
        start = tuple(int(self._cluster.node_of[pod]) for pod in self._leaving)
        seen, stack = {start}, [start]
        while stack:
            state = stack.pop()
            if all(place != PENDING and place not in self._drained for place in state):
                return True
            for after in self._next(state):
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
        return False

    def _next(self, state: tuple[int, ...]) -> list[tuple[int, ...]]:
        now = self._cluster.with_placement(dict(zip(self._leaving, state, strict=True)))
        found = []
        for i, (pod, place) in enumerate(zip(self._leaving, state, strict=True)):
            if place == PENDING:
                scheduler = Scheduler(SchedulingState(now), default_profile())
                landings = scheduler.evaluate(pod).feasible.tolist()
                found += [(*state[:i], node, *state[i + 1 :]) for node in landings]
            elif place in self._drained and self._lets_go(now, pod):
                found.append((*state[:i], PENDING, *state[i + 1 :]))
        return found

    def _lets_go(self, now: Cluster, pod: int) -> bool:
        for budget in now.budgets:
            assert budget.spec.selector is not None
            selected = [
                i for i, each in enumerate(now.pods) if budget.spec.selector.matches(each.labels)
            ]
            if pod not in selected:
                continue
            healthy = sum(int(now.node_of[each]) >= 0 for each in selected)
            most, least = budget.spec.max_unavailable, budget.spec.min_available
            desired = len(selected) - most if isinstance(most, int) else least
            assert isinstance(desired, int)
            if healthy - 1 < desired:
                return False
        return True
