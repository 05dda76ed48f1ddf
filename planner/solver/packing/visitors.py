"""Pods that could be elsewhere make way on the few nodes of those that could not.

A group of pods that few nodes can hold competes for these with others that have few nodes, too. How
all of them fit there is a small question, if nobody asks where the rest is to go: the visitors,
which could be on many other nodes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.packing.question import Stock
from planner.solver.packing.window import Refilled, refill_window


def without_visitors(
    stock: Stock, counts: IntArray, may_hold: BoolArray, group: int, seed: int
) -> Refilled:
    """As many pods as possible of those that are confined there, then as many visitors.

    Visitors may lose their node, also those that have to have one: it is for the caller to find
    another one.
    """
    nodes = _competed_for(counts, may_hold, group)
    confined = ~may_hold[:, ~nodes].any(axis=1)
    here = counts[:, nodes].sum(axis=1)
    elsewhere = counts.sum(axis=1) - here
    part = replace(
        stock,
        priorities=(*stock.priorities, min(stock.priorities) - 1),
        rank=np.where(confined, stock.rank, len(stock.priorities)),
        least=np.where(confined, stock.least, np.minimum(elsewhere, stock.least)),
    )
    joining = confined & may_hold.any(axis=1) & (stock.total > here + elsewhere)
    return refill_window(part, counts, np.flatnonzero(nodes), joining, tuning.VISITORS_WORK, seed)


def _competed_for(counts: IntArray, may_hold: BoolArray, group: int) -> BoolArray:
    """The nodes of the group and of those that keep it out, which have few nodes themselves."""
    nodes: BoolArray = may_hold[group].copy()
    there = np.flatnonzero(counts[:, nodes].any(axis=1))
    for other in there[np.argsort(may_hold[there].sum(axis=1), kind="stable")].tolist():
        more = nodes | may_hold[other]
        if more.sum() > tuning.COMPETED_FOR_NODES:
            break
        nodes = more
    return nodes
