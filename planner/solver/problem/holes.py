"""How many pods have to leave their nodes so that those that wait find room at all.

A pod that fits nowhere needs a hole, and a hole costs evictions on its node: for `j` pods of a size
at least as many as the fewest whose requests are lacking there. So the cheapest way to share the
waiting pods among the nodes bounds all moves, whatever becomes of the pods that leave.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.problem.problem import Problem

MOST_PODS = 500
"""More pods than this are not counted: the bound for fewer of them holds, too."""
NEVER = 1 << 40


def fewest_for_holes(problem: Problem, arriving: dict[int, int]) -> int:
    """A bound on moves if these many waiting pods of each group get a node.

    Pods that are no smaller than those of a group in anything need no smaller holes, so they count
    with it.
    """
    groups = [group for group, pods in arriving.items() if pods > 0]
    leaving = _leaving(problem)
    found = 0
    for group in groups:
        size = problem.requests[group]
        larger = [each for each in groups if (problem.requests[each] >= size).all()]
        landing = np.logical_or.reduce([problem.landing(each) for each in larger])
        pods = min(sum(arriving[each] for each in larger), MOST_PODS)
        found = max(found, _fewest(problem, size, landing, pods, leaving))
    return found


def _leaving(problem: Problem) -> dict[int, IntArray]:
    """By node, what each pod that may leave it requests."""
    rows: dict[int, list[IntArray]] = defaultdict(list)
    for (group, node), pods in problem.movable.items():
        rows[node].append(np.tile(problem.requests[group], (len(pods), 1)))
    return {node: np.concatenate(each) for node, each in rows.items()}


def _fewest(
    problem: Problem, size: IntArray, landing: BoolArray, pods: int, leaving: dict[int, IntArray]
) -> int:
    """The least that so many pods of a size cost, over all ways to share them among nodes."""
    asked = np.flatnonzero(size)
    if not len(asked):
        return 0
    nobody = np.zeros((0, len(size)), np.int64)
    best = np.full(pods + 1, NEVER)
    best[0] = 0
    for node in np.flatnonzero(landing).tolist():
        there = leaving.get(node, nobody)
        room = problem.allocatable[node] - problem.fixed_used[node] - there.sum(axis=0)
        costs = _hole_costs(size[asked], np.maximum(room[asked], 0), there[:, asked], pods)
        if len(costs) == pods and costs[-1] == 0:
            return 0
        after = best.copy()
        for count, cost in enumerate(costs, start=1):
            after[count:] = np.minimum(after[count:], best[:-count] + cost)
        best = after
    return int(best[-1]) if best[-1] < NEVER else 0


def _hole_costs(size: IntArray, room: IntArray, there: IntArray, pods: int) -> list[int]:
    """For 1, 2, ... pods on a node, how many others have to leave it; as many as can ever fit."""
    freed = np.cumsum(-np.sort(-there, axis=0), axis=0)
    found: list[int] = []
    for count in range(1, pods + 1):
        lacking = count * size - room
        if (lacking > (freed[-1] if len(freed) else 0)).any():
            break
        needed = [
            int(np.searchsorted(freed[:, r], lack)) + 1 if lack > 0 else 0
            for r, lack in enumerate(lacking.tolist())
        ]
        found.append(max(needed))
    return found
