"""Carries out columns: priced pods leave their nodes, then the fewest others; then pods land."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.covers import fewest
from planner.solver.large.greedy import cap_room, fits
from planner.solver.large.master_problem import Column
from planner.solver.large.node_states import domain_on
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.prices import Market
from planner.solver.large.state import State


def _wanted(task: PlainGroup, node: int) -> bool:
    """Whether the group has a pod to land, now or after its departures, and room in the domain."""
    if task.main is None:
        return task.hand > 0
    counts, rule, low = task.counts[task.main], task.rules[task.main], task.low[task.main]
    here = int(counts[rule.domain_of[node]])
    coming = task.hand + int(np.maximum(counts - low - rule.skew, 0).sum())
    if here < low:
        return coming > 0
    return here < low + rule.skew and coming > int(np.maximum(low - counts, 0).sum())


def carry_out(state: State, market: Market, columns: list[Column]) -> None:
    """All evictions, then all landings; what does not fit after all stays in hand."""
    for column in columns:
        _evict(state, market, column)
    for column in columns:
        for h, pods in column.lands:
            members = sorted(market.big[h].members, key=lambda task: (-task.size, task.group))
            for _ in range(pods):
                _land(state, [state.tasks[task.group] for task in members], column.node)


def _evict(state: State, market: Market, column: Column) -> None:
    """Makes the room that the column promises."""
    room, node = market.room, column.node
    request = sum(
        (market.big[h].request * pods for h, pods in column.lands), np.zeros_like(state.free[0])
    )
    for pair in room.unit_pair[column.state].tolist():
        if pair >= 0:
            task = state.tasks[room.pairs.all[pair][0]]
            if state.remaining(task, node):
                state.evict(task, node)
    short = np.where(request > 0, request - state.free[node], 0)
    if (short > 0).any():
        for group in smallest_cover(state, market, node, short):
            state.evict(state.tasks[group], node)


def _land(state: State, members: list[PlainGroup], node: int) -> None:
    """One pod of the first member that fits there and breaks no rule by it."""
    at = np.array([node])
    for task in members:
        within = all(cap_room(task, i, at)[0] > 0 for i in task.caps)
        if within and fits(state, task, at)[0] and _wanted(task, node):
            state.land(task, node)
            return


def smallest_cover(state: State, market: Market, node: int, short: IntArray) -> list[int]:
    """Groups of the fewest pods that cover the shortage; among these, whose largest is smallest."""
    groups = _evictable(state, market, node)
    sizes = np.array([state.tasks[g].size for g in groups])
    request = state.problem.requests[groups]
    for count in range(1, min(tuning.COVERS, len(groups)) + 1):
        sets = np.array(list(combinations(range(len(groups)), count)))
        enough = (request[sets].sum(axis=1) >= short).all(axis=1)
        if enough.any():
            sets = sets[enough]
            best = np.lexsort((sizes[sets].sum(axis=1), sizes[sets].max(axis=1)))[0]
            return [groups[i] for i in sets[best].tolist()]
    return [groups[i] for i in fewest(request, short)]


def _evictable(state: State, market: Market, node: int) -> list[int]:
    """One entry per pod that is no unit; several of a group if it has several here."""
    found: list[int] = []
    for cell in state.on_node(node).tolist():
        group = int(state.cells.group[cell])
        task = state.tasks.get(group)
        if task is None:
            continue
        if (group, domain_on(task, node)) not in market.room.pairs.index:
            found.extend([group] * int(state.left[cell]))
    return found
