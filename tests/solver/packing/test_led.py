"""Nodes filled by sets that are given, led by what pods are worth: legal, or nothing is found."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings

from planner.cluster.topology import IntArray
from planner.solver.packing.enumeration import Effort, completed, led
from planner.solver.packing.question import Stock
from tests.solver.packing.test_packing import few_nodes

PLENTY = Effort(10_000, 1_000, 10**8)


def _all_sets(given_: Stock) -> IntArray:
    """A row of groups for each set that fits on a node."""
    each = product(*(range(total + 1) for total in given_.total.tolist()))
    fit = [pods for pods in each if (np.array(pods) @ given_.size <= given_.room[0]).all()]
    groups = len(given_.total)
    depth = max(1, int(given_.total.sum()))
    rows = [np.repeat(np.arange(groups), pods).tolist() for pods in fit]
    return np.array([row + [groups] * (depth - len(row)) for row in rows])


@settings(max_examples=200)
@given(few_nodes())
def test_with_all_sets_and_all_remainders_it_finds_what_all_ways_find(given_: Stock) -> None:
    nodes, room, sets = len(given_.room), given_.room[0], _all_sets(given_)
    worth = given_.size.sum(axis=1)
    size = np.column_stack([given_.size, worth])
    dearest = int(np.append(worth, 0)[sets].sum(axis=1).max())
    found = led(size, given_.total, np.append(room, dearest), nodes, sets, PLENTY)
    every = completed(given_.size, given_.total, room, nodes, PLENTY)
    assert not found.complete
    assert (found.counts is None) == (every.counts is None)
    if found.counts is not None:
        assert (found.counts.sum(axis=1) == given_.total).all()
        assert (found.counts.T @ given_.size <= given_.room).all()


def test_without_sets_nothing_is_found() -> None:
    size, pods, room = np.array([[1, 1]]), np.array([2]), np.array([1, 1])
    found = led(size, pods, room, 2, np.zeros((0, 1), np.int64), PLENTY)
    assert found.counts is None
    assert not found.complete
