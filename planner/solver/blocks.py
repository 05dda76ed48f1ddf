"""A good state to begin with, block by block.

Groups that count for the same spread constraint form a block; blocks are small, and each is solved
while all others stay as they are by then. Where room is not scarce this is already the best there
is; where it is, the search over all groups has a state to start from that it would not find by
itself in time. Blocks with the highest priority that waits come first, then those with big pods.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planner.solver.lexicographic import Search
from planner.solver.problem import Cell, Problem
from planner.solver.progress import Report

BLOCK_CELLS = 1_500
"""Small components share a block up to this size."""
SHARE = 0.1
"""The part of the time limit that a block gets at the most."""


def block_by_block(
    problem: Problem, report: Report, limit: float
) -> tuple[dict[Cell, int] | None, float]:
    """A state in which every block was solved once, and the time it took."""
    state: Mapping[Cell, int] = problem.current
    spent = 0.0
    for block in blocks(problem):
        search = Search(problem.part(block, state), (), report, limit * SHARE)
        search.judge_rules({cell: n for cell, n in state.items() if cell[0] in block})
        spent += search.time
        if search.interrupted or spent > limit:
            return None, spent
        if search.levels:
            others = {cell: n for cell, n in state.items() if cell[0] not in block}
            state = {**others, **search.state}
    return dict(sorted(state.items())), spent


def blocks(problem: Problem) -> list[frozenset[int]]:
    """The groups to decide about, those that belong together in one block."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(problem.groups)
    for spread in problem.spreads:
        members = {*spread.matching.tolist(), *(carrier.group for carrier in spread.carriers)}
        nx.add_path(graph, sorted(members.intersection(problem.groups)))
    cells = {g: int(problem.landing(g).sum()) for g in problem.groups}
    found: list[set[int]] = []
    size = 0
    for component in sorted(nx.connected_components(graph), key=lambda c: _urgency(problem, c)):
        more = sum(cells[g] for g in component)
        if not found or size + more > BLOCK_CELLS:
            found.append(set())
            size = 0
        found[-1] |= component
        size += more
    return [frozenset(block) for block in found]


def _urgency(problem: Problem, component: set[int]) -> tuple[int, float, int]:
    """The highest waiting priority first, then the largest pods, then the order of the input."""
    groups = problem.cluster.groups
    waiting = [groups[g].priority for g in component if g in problem.waiting]
    offered = np.maximum(problem.allocatable.max(axis=0, initial=0), 1)
    largest = max(float((problem.requests[g] / offered).max()) for g in component)
    return (-max(waiting, default=-(2**31)), -largest, min(component))
