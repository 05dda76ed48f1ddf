"""Room for pods that fit nowhere: the node where the fewest pods have to leave.

Pods that the closed form sends away anyway (`credit`) leave for nothing; every other eviction costs
one move. Of equally cheap nodes the one whose evicted pods are smallest wins, since these have to
find room themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.greedy import cap_room, fits
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.state import State


@dataclass(frozen=True, eq=False)
class Table:
    """Per cell: what a pod requests and how big it is; whether it counts as credit, per moment."""

    request: IntArray
    size: NDArray[np.float64]
    domain: IntArray
    ruled: BoolArray
    due: tuple[int, ...]

    @classmethod
    def of(cls, state: State) -> Table:
        """The cells of a state; groups that were left aside are in it with nothing to evict."""
        groups = state.cells.group
        known = np.array([g in state.tasks for g in groups.tolist()], np.bool_)
        size = np.array([state.tasks[g].size if g in state.tasks else 0.0 for g in groups.tolist()])
        domain = np.full(len(groups), -1)
        for g in np.unique(groups[known]).tolist():
            task = state.tasks[g]
            if len(task.leave):
                rule = task.rules[task.main or 0]
                at = slice(*np.searchsorted(groups, (g, g + 1)))
                domain[at] = rule.domain_of[state.cells.node[at]]
        due = tuple(task.group for task in state.tasks.values() if task.leave.any())
        return cls(state.problem.requests[groups], size, domain, known, due)


def credit(state: State, table: Table) -> IntArray:
    """Per cell: how many of its pods may leave as part of what has to leave their domain."""
    found = np.zeros(len(table.size), np.int64)
    for g in table.due:
        task = state.tasks[g]
        if task.counts:
            i = task.main or 0
            high = task.low[i] + task.rules[i].skew
            due = np.minimum(task.leave, np.maximum(task.counts[i] - high, 0))
            at = slice(*np.searchsorted(state.cells.group, (task.group, task.group + 1)))
            found[at] = np.minimum(state.left[at], due[table.domain[at]])
    return found


def place_one(
    state: State, table: Table, task: PlainGroup, most: int = tuning.MOST_EVICTIONS
) -> bool:
    """Lands one pod of the task where it costs least; False if nowhere with `most` evictions."""
    open_ = state.landing(task) & admissible(task, len(state.free))
    if not open_.any():
        return False
    nodes = np.flatnonzero(open_)
    inside = nodes[fits(state, task, nodes)]
    if len(inside):
        room = (state.free[inside][:, task.needs] * state.scale[task.needs]).sum(axis=1)
        state.land(task, int(inside[np.lexsort((inside, room))[0]]))
        return True
    free_to_go = credit(state, table)
    gain = np.zeros_like(state.free)
    np.add.at(gain, state.cells.node, table.request * free_to_go[:, None])
    short = np.maximum(task.request - state.free - gain, 0)
    short[:, task.request == 0] = 0
    found = _cheapest(state, table, task, open_, short, free_to_go, most)
    if found is None:
        return False
    node, cells = found
    for cell in cells:
        _evict_cell(state, cell)
    _use_credit(state, table, task, node, free_to_go)
    state.land(task, node)
    return True


def admissible(task: PlainGroup, nodes: int) -> BoolArray:
    """Nodes where one more pod stays within every rule of the group at this moment."""
    found = np.ones(nodes, np.bool_)
    for i, rule in enumerate(task.rules):
        if i != task.main:
            found &= cap_room(task, i, np.arange(nodes)) > 0
            continue
        counts, low = task.counts[i], task.low[i]
        lacking = int(np.maximum(low - counts, 0).sum())
        most = counts < low if lacking >= task.hand else counts < low + rule.skew
        least = np.array([np.delete(counts, d).min(initial=1 << 40) for d in range(rule.size)])
        most &= counts + 1 <= np.minimum(least, counts + 1) + rule.skew
        found &= np.where(rule.domain_of >= 0, most[rule.domain_of], False)
    return found


def _evict_cell(state: State, cell: int) -> None:
    state.evict(state.tasks[int(state.cells.group[cell])], int(state.cells.node[cell]))


def _cheapest(
    state: State,
    table: Table,
    task: PlainGroup,
    open_: BoolArray,
    short: IntArray,
    free_to_go: IntArray,
    most: int,
) -> tuple[int, list[int]] | None:
    """(node, cells to evict one pod each from) with the fewest evictions that cost a move."""
    enough = open_ & (short == 0).all(axis=1)
    if enough.any():
        over = (np.maximum(task.request - state.free, 0) * state.scale).sum(axis=1)
        nodes = np.flatnonzero(enough)
        return int(nodes[np.lexsort((nodes, over[nodes]))[0]]), []
    pods = (state.left - free_to_go > 0) & table.ruled & open_[state.cells.node]
    pods &= state.cells.group != task.group
    one = np.flatnonzero(pods & (table.request >= short[state.cells.node]).all(axis=1))
    if len(one):
        best = int(one[np.lexsort((one, table.size[one]))[0]])
        return int(state.cells.node[best]), [best]
    return _several(state, table, np.flatnonzero(pods), short, free_to_go, most)


def _several(
    state: State,
    table: Table,
    cells: IntArray,
    short: IntArray,
    free_to_go: IntArray,
    most: int,
) -> tuple[int, list[int]] | None:
    """Two or more evictions: nodes in order of a lower bound on their number, each covered."""
    best: tuple[int, float, int, list[int]] | None = None
    order = np.argsort(state.cells.node[cells], kind="stable")
    cells = cells[order]
    nodes, first = np.unique(state.cells.node[cells], return_index=True)
    fewest = _fewest(state, table, cells, nodes, short, free_to_go)
    parts = np.split(cells, first[1:])
    for at in np.argsort(fewest, kind="stable").tolist():
        node, group = int(nodes[at]), parts[at]
        limit = best[0] if best else most
        if fewest[at] > limit:
            break
        found = _cover(table, group, short[node], (state.left - free_to_go)[group], limit)
        if found is not None:
            key = (len(found), float(table.size[found].max()), node, found)
            if best is None or key[:3] < best[:3]:
                best = key
    return None if best is None else (best[2], best[3])


def _fewest(
    state: State,
    table: Table,
    cells: IntArray,
    nodes: IntArray,
    short: IntArray,
    free_to_go: IntArray,
) -> IntArray:
    """Per node a lower bound on the evictions that cover its shortage, by resource."""
    each = np.repeat(cells, (state.left - free_to_go)[cells])
    row = np.searchsorted(nodes, state.cells.node[each])
    fewest = np.zeros(len(nodes), np.int64)
    for r in np.flatnonzero(short.any(axis=0)):
        amount = table.request[each, r]
        order = np.lexsort((-amount, row))
        total = np.cumsum(amount[order])
        first = np.searchsorted(row[order], np.arange(len(nodes)))
        before = np.where(first > 0, total[first - 1], 0)
        reached = total - before[row[order]] >= short[nodes, r][row[order]]
        missing = np.bincount(row[order], ~reached, minlength=len(nodes)).astype(np.int64)
        last = np.bincount(row[order], minlength=len(nodes))
        needed = np.where(missing == last, 1 << 20, missing + 1)
        fewest = np.maximum(fewest, np.where(short[nodes, r] > 0, needed, 0))
    return fewest


def _cover(
    table: Table, cells: IntArray, short: IntArray, left: IntArray, most: int
) -> list[int] | None:
    """A small set of pods that covers the shortage: largest relative gain first, then trimmed."""
    each = np.repeat(cells, left)
    request = table.request[each]
    if (request.sum(axis=0) < short).any():
        return None
    gone: list[int] = []
    need = short.copy()
    alive = np.ones(len(each), np.bool_)
    while (need > 0).any():
        if len(gone) == most:
            return None
        gain = np.minimum(request, np.maximum(need, 0)) / np.maximum(short, 1)
        score = np.where(alive, gain.sum(axis=1), -1.0)
        pick = int(score.argmax())
        if score[pick] <= 0:
            return None
        alive[pick] = False
        gone.append(pick)
        need = need - request[pick]
    for pick in sorted(gone, key=lambda i: table.size[each[i]]):
        if (need + request[pick] <= 0).all():
            need = need + request[pick]
            gone.remove(pick)
    return [int(each[i]) for i in gone]


def _use_credit(
    state: State, table: Table, task: PlainGroup, node: int, free_to_go: IntArray
) -> None:
    """Pods on credit leave until there is room: those that help most first."""
    cells = np.flatnonzero((state.cells.node == node) & (free_to_go > 0))
    each = np.repeat(cells, free_to_go[cells]).tolist()
    while not bool(fits(state, task, np.array([node]))[0]):
        need = np.maximum(task.request - state.free[node], 0)
        need[task.request == 0] = 0
        gain = np.minimum(table.request[each], need) * state.scale
        pick = int(gain.sum(axis=1).argmax())
        _evict_cell(state, each.pop(pick))
