"""What it takes to make room on a node: which pods leave at a price, and how many others.

A *due* pair is a (group, domain) from which the closed form wants departures. A *promoted* group is
one whose pods are themselves hard to land again. The pods of both are *units*: their departure has
a price (see `prices`). All other movable pods cost one move each. A *state* is a node with some of
its units gone. A limited number of them is told apart; further due pods count as room for nothing
and further promoted ones as one move, which only weakens the bound.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.room_by_evictions import Fronts, fronts_of
from planner.solver.large.state import State
from planner_models.resources import CPU, MEMORY

Pair = tuple[int, int]
"""(group, domain of its main rule; 0 without one)."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs whose departures have a price; `due[i]` tells the two sorts apart."""

    index: dict[Pair, int]
    all: list[Pair]
    due: BoolArray


@dataclass(frozen=True, eq=False)
class Room:
    """States by node: `node[s]`, what is `free[s]` in it.

    `unit_pair[s, u]` are the pairs of the units that are gone in state s, -1 where there are fewer.
    `first[n]` is the first state of node n: the one in which nothing is gone. `host[n]` is its
    number in the cluster, which is the same unless nodes are looked at several times.
    """

    columns: IntArray
    pairs: Pairs
    host: IntArray
    node: IntArray
    free: IntArray
    unit_pair: IntArray
    first: IntArray
    fronts: Fronts

    def evictions(self, states: IntArray, request: IntArray) -> IntArray:
        """How many other pods have to leave before `request` fits, one for all states or each."""
        asked = request[..., self.columns]
        short = np.where(asked > 0, asked - self.free[states], 0)
        return self.fronts.evictions(self.node[states], short)

    def exactly(self, state: int, request: IntArray) -> int:
        """The same for one state, beyond what is known without a search."""
        asked = request[self.columns]
        short = np.where(asked > 0, asked - self.free[state], 0)
        return self.fronts.exactly(int(self.node[state]), short)

    def roomier(self, nodes: IntArray, more: IntArray) -> tuple[Room, IntArray]:
        """These nodes, some maybe several times, with so much more room; and the states' origin."""
        ends = np.append(self.first, len(self.node))[nodes + 1]
        sizes = ends - self.first[nodes]
        first = np.cumsum(sizes) - sizes
        node = np.repeat(np.arange(len(nodes)), sizes)
        origin = np.arange(len(node)) - first[node] + self.first[nodes][node]
        room = replace(
            self,
            host=self.host[nodes],
            node=node,
            free=self.free[origin] + more[node],
            unit_pair=self.unit_pair[origin],
            first=first,
            fronts=self.fronts.of(nodes),
        )
        return room, origin


def gratis(task: PlainGroup) -> bool:
    """Whether another rule than the main one decides the bound: its pods leave for nothing."""
    return task.bound > task.alone


def domain_on(task: PlainGroup, node: int) -> int:
    """The domain of a node in the task's main rule; 0 without one."""
    return 0 if task.main is None else int(task.rules[task.main].domain_of[node])


def pairs_of(state: State, promoted: Collection[int]) -> Pairs:
    """Due pairs: domains from which some L wants departures; and all domains of promoted groups.

    Due has to mean every L and not only the best one, or a departure that the group's own bound
    counts already would be paid for a second time on its node.
    """
    index: dict[Pair, int] = {}
    due: list[bool] = []
    for task in state.tasks.values():
        if gratis(task):
            continue
        wanted = _wanted(task) if task.bound else np.zeros(1, np.bool_)
        found = set(np.flatnonzero(wanted).tolist())
        if task.group in promoted:
            found.update(domain_on(task, n) for n in task.start)
        for domain in sorted(found):
            index[task.group, domain] = len(index)
            due.append(bool(task.bound and wanted[domain]))
    return Pairs(index, list(index), np.array(due, np.bool_))


def _wanted(task: PlainGroup) -> BoolArray:
    rule, now = task.rules[task.main or 0], task.counts[task.main or 0]
    forced = np.zeros(rule.size, np.int64)
    for node, count in task.forced.items():
        forced[rule.domain_of[node]] += count
    found = np.zeros(rule.size, np.bool_)
    for low in task.lows:
        leave = np.maximum(np.maximum(forced, now - low - rule.skew), 0)
        fill = int(np.maximum(0, low - now + leave).sum())
        found |= leave > 0
        if fill > task.waiting + int(leave.sum()):
            found |= now - leave > low
    return found


@dataclass(eq=False)
class _Pods:
    """The movable pods of every node, sorted into units and others; what leaves for nothing."""

    free: IntArray
    units: list[list[Pair]]
    node: list[int]
    group: list[int]


def room_of(state: State, promoted: Collection[int] = ()) -> Room:
    """The states of all nodes, before anything moves."""
    names = state.problem.cluster.resources
    columns = np.array([names.column(CPU), names.column(MEMORY)])
    pairs = pairs_of(state, promoted)
    request = state.problem.requests[:, columns]
    pods = _sorted_pods(state, columns, pairs)
    most = _told_apart(pods)
    _overflow(pods, most, pairs, request)
    amounts = request[np.array(pods.group, np.int64)].reshape(-1, 2)
    fronts = fronts_of(len(state.free), np.array(pods.node, np.int64), amounts)
    return _states(pods, most, request, columns, pairs, fronts)


def _sorted_pods(state: State, columns: IntArray, pairs: Pairs) -> _Pods:
    found = _Pods(state.free[:, columns].copy(), [[] for _ in range(len(state.free))], [], [])
    for (g, n), pods in state.problem.movable.items():
        task = state.tasks.get(g)
        pair = None if task is None else pairs.index.get((g, domain_on(task, n)))
        if task is not None and gratis(task):
            found.free[n] += len(pods) * state.problem.requests[g, columns]
        elif pair is None:
            found.node.extend([n] * len(pods))
            found.group.extend([g] * len(pods))
        else:
            found.units[n].extend([(pair, g)] * len(pods))
    return found


def _told_apart(pods: _Pods) -> int:
    """How many units of a node: more where so few nodes have them that there are few states."""
    units = np.array([len(each) for each in pods.units], np.int64)
    few = tuning.STATES_OF_A_NODE * len(units)
    return next(
        (
            most
            for most in range(tuning.MOST_UNITS, tuning.UNITS, -1)
            if (1 << np.minimum(units, most)).sum() <= few
        ),
        tuning.UNITS,
    )


def _overflow(pods: _Pods, most: int, pairs: Pairs, request: IntArray) -> None:
    """Units beyond `most`, the smallest ones, lose their price in the direction that is safe."""
    for n, units in enumerate(pods.units):
        units.sort(key=lambda unit: (-int(request[unit[1]].sum()), unit))
        for pair, g in units[most:]:
            if pairs.due[pair]:
                pods.free[n] += request[g]
            else:
                pods.node.append(n)
                pods.group.append(g)
        del units[most:]


def _states(
    pods: _Pods,
    most: int,
    request: IntArray,
    columns: IntArray,
    pairs: Pairs,
    fronts: Fronts,
) -> Room:
    node: list[int] = []
    rows: list[IntArray] = []
    gone_pairs: list[list[int]] = []
    first: list[int] = []
    for n, units in enumerate(pods.units):
        first.append(len(node))
        seen: set[tuple[int, ...]] = set()
        for chosen in range(1 << len(units)):
            gone = [unit for i, unit in enumerate(units) if chosen >> i & 1]
            key = tuple(sorted(g for _, g in gone))
            if key not in seen:
                seen.add(key)
                node.append(n)
                rows.append(pods.free[n] + request[[g for _, g in gone]].sum(axis=0))
                gone_pairs.append([pair for pair, _ in gone] + [-1] * (most - len(gone)))
    return Room(
        columns=columns,
        pairs=pairs,
        host=np.arange(len(first)),
        node=np.array(node, np.int64),
        free=np.stack(rows),
        unit_pair=np.array(gone_pairs, np.int64).reshape(-1, most),
        first=np.array(first, np.int64),
        fronts=fronts,
    )
