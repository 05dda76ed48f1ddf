"""The state that the greedy step changes: room on nodes, counts per domain, pods in hand.

A pod is *in hand* from its eviction, or its creation, until it lands. Only plain groups (see
`plain_groups`) take part; everything else is load that stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import SpreadConstraint, counts_by_domain, excess
from planner.cluster.topology import IntArray
from planner.solver.large.plain_group import PlainGroup, Rule, by_domain
from planner.solver.large.plain_groups import Places, reach_of
from planner.solver.problem.closed_form import AT_ONCE, IMPOSSIBLE, targets
from planner.solver.problem.problem import Cell, Problem


@dataclass(frozen=True, eq=False)
class Cells:
    """Movable pods of plain groups as flat arrays, sorted by group, then node."""

    index: Mapping[Cell, int]
    group: IntArray
    node: IntArray

    @cached_property
    def by_node(self) -> IntArray:
        """Cells in order of their nodes."""
        return np.argsort(self.node, kind="stable")


@dataclass(eq=False)
class State:
    """Room on nodes, and the tasks by group."""

    problem: Problem
    free: IntArray
    tasks: dict[int, PlainGroup]
    scale: NDArray[np.float64]
    """What the room of a node is worth, by resource: one over the mean allocatable."""
    cells: Cells
    places: Places
    pressure: IntArray
    """Per node: how much of the room is wanted by groups that have few other nodes, in quarters."""
    touched: set[int]
    """Groups that have changed anything."""
    left: IntArray
    """`left[i]`: pods of cell i that have not been evicted; landed pods are never evicted again."""

    def copy(self) -> State:
        """A state of its own; what never changes is shared."""
        tasks = {g: task.copy() for g, task in self.tasks.items()}
        return replace(
            self,
            free=self.free.copy(),
            left=self.left.copy(),
            tasks=tasks,
            touched=set(self.touched),
        )

    def landing(self, task: PlainGroup) -> BoolArray:
        """Nodes that static rules and topology keys admit."""
        return self.places.landing(task.group)

    def on_node(self, node: int) -> IntArray:
        """The cells of a node."""
        order = self.cells.by_node
        first, last = np.searchsorted(self.cells.node[order], (node, node + 1))
        return order[first:last]

    def remaining(self, task: PlainGroup, node: int) -> int:
        """Pods of the group on the node that have not been evicted and could be."""
        return int(self.left[self.cells.index[task.group, node]])

    def evict(self, task: PlainGroup, node: int, pods: int = 1) -> None:
        """Takes running pods off a node into the hand."""
        self.left[self.cells.index[task.group, node]] -= pods
        self._change(task, node, -pods)

    def land(self, task: PlainGroup, node: int, pods: int = 1) -> None:
        """Puts pods in hand on a node."""
        self._change(task, node, pods)

    def put(self, task: PlainGroup, pods: Mapping[int, int]) -> None:
        """Puts a group onto these nodes; the difference is in hand."""
        nodes = {*task.start, *pods}
        self.restate(task, {n: pods.get(n, 0) - task.start.get(n, 0) for n in nodes})

    def restate(self, task: PlainGroup, change: Mapping[int, int]) -> None:
        """Puts a group where it was at first, but for the change; the difference is in hand."""
        for node in sorted({*task.start, *task.now, *change}):
            pods = task.start.get(node, 0) + change.get(node, 0)
            more = pods - task.now.get(node, 0)
            if more:
                cell = self.cells.index.get((task.group, node))
                if cell is not None:
                    self.left[cell] = min(pods, task.start[node])
                self._change(task, node, more)

    def _change(self, task: PlainGroup, node: int, pods: int) -> None:
        self.touched.add(task.group)
        task.now[node] = task.now.get(node, 0) + pods
        task.hand -= pods
        self.free[node] -= pods * task.request
        for rule, counts in zip(task.rules, task.counts, strict=True):
            if rule.domain_of[node] >= 0:
                counts[rule.domain_of[node]] += pods


def start(problem: Problem) -> State:
    """The state before anything moves, with the closed form's targets for every plain group."""
    reach = reach_of(problem)
    cluster = problem.cluster
    rules = _Rules()
    cells: dict[int, dict[int, int]] = {}
    for (g, n), pods in problem.movable.items():
        if g in reach.plain:
            cells.setdefault(g, {})[n] = len(pods)
    tasks: dict[int, PlainGroup] = {}
    alloc = np.maximum(problem.allocatable.mean(axis=0), 1.0)
    for g in sorted(reach.plain):
        now = cells.get(g, {})
        request, broken = problem.requests[g], _broken(problem, g, now)
        tasks[g] = PlainGroup(
            group=g,
            request=request,
            needs=np.flatnonzero(request > 0),
            priority=cluster.groups[g].priority,
            rules=tuple(rules.of(spread) for spread in reach.rules.get(g, ())),
            counts=[],
            low=[],
            leave=np.empty(0, np.int64),
            bound=0,
            alone=0,
            waiting=len(problem.waiting.get(g, ())),
            now=now,
            start=dict(now),
            forced={n: now[n] for n in broken},
            broken=broken,
            size=float((request / alloc).max()),
        )
    free = problem.allocatable - cluster.used
    found = _cells(tasks)
    left = np.fromiter((c for t in tasks.values() for c in t.start.values()), np.int64)
    state = State(
        problem, free, tasks, 1.0 / alloc, found, Places(problem), _none(free), set(), left
    )
    _aim(state)
    state.pressure = _pressure(state)
    return state


def _none(free: IntArray) -> IntArray:
    return np.zeros(len(free), np.int64)


def _pressure(state: State) -> IntArray:
    """Demand over room, for each set of nodes that groups are confined to; the worst counts."""
    wanted: dict[int, tuple[BoolArray, IntArray]] = {}
    for task in state.tasks.values():
        if task.bound or task.waiting:
            landing = state.landing(task)
            before = wanted.get(id(landing), (landing, np.zeros_like(task.request)))[1]
            wanted[id(landing)] = landing, before + task.request * (task.bound + task.waiting)
    found = _none(state.free)
    for landing, demand in wanted.values():
        if not landing.all():
            room = np.maximum(state.free[landing], 0).sum(axis=0)
            quarters = int((4 * demand / np.maximum(room, 1)).max(initial=0))
            found[landing] = np.maximum(found[landing], min(quarters, 4))
    return found


def _cells(tasks: Mapping[int, PlainGroup]) -> Cells:
    keys = [(g, n) for g, task in tasks.items() for n in task.start]
    flat = np.array(keys, np.int64).reshape(-1, 2)
    return Cells({key: i for i, key in enumerate(keys)}, flat[:, 0].copy(), flat[:, 1].copy())


def _broken(problem: Problem, g: int, nodes: Iterable[int]) -> dict[int, int]:
    """Nodes that node affinity, taints or both refuse, with how many of them do; cordons do not."""
    affinity, taints = problem.static.standing(problem.cluster.groups[g].spec)
    counts = ((n, int(not affinity[n]) + int(not taints[n])) for n in nodes)
    return {n: count for n, count in counts if count}


class _Rules:
    """Rules by scope and skew: equal ones are one object."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], Rule] = {}

    def of(self, spread: SpreadConstraint) -> Rule:
        scope, skew = spread.scope, spread.constraint.max_skew
        key = (id(scope), skew)
        if key not in self._found:
            index = np.cumsum(scope.domains) - 1
            of = np.where(scope.eligible, index[scope.topology.domain_of], -1)
            self._found[key] = Rule(of, int(np.count_nonzero(scope.domains)), skew)
        return self._found[key]


class _Aimed(NamedTuple):
    """A rule of a group: the pods that may move by domain, and those that stay by node."""

    task: PlainGroup
    number: int
    counts: IntArray
    fixed: Mapping[int, int]

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return self.task.rules[self.number]


def _aim(state: State) -> None:
    """Counts per domain, and the closed form for all rules of equal size at once.

    A group whose excess can't go away, or that has pods on nodes outside of its rule, is left to
    the exact search: nothing is claimed for it here.
    """
    fixed = _fixed_by_group(state.problem)
    batches: dict[int, list[_Aimed]] = {}
    beyond: set[int] = set()
    for task in state.tasks.values():
        task.bound = sum(task.forced.values())
        for i, rule in enumerate(task.rules):
            counts = by_domain(rule, task.now)
            if counts.sum() != sum(task.now.values()):
                beyond.add(task.group)
            still = fixed.get(task.group, {})
            task.counts.append(counts + by_domain(rule, still) if still else counts)
            task.low.append(0)
            batches.setdefault(rule.size, []).append(_Aimed(task, i, counts, still))
    for size, batch in batches.items():
        most = max(1, AT_ONCE // max(1, size))
        for first in range(0, len(batch), most):
            beyond.update(_aim_batch(batch[first : first + most]))
    for g in beyond:
        del state.tasks[g]


def _aim_batch(batch: Sequence[_Aimed]) -> set[int]:
    found = targets(
        np.stack([each.counts for each in batch]),
        np.stack([by_domain(each.rule, each.fixed) for each in batch]),
        np.stack([by_domain(each.rule, each.task.forced) for each in batch]),
        np.array([each.task.waiting for each in batch]),
        np.array([each.rule.skew for each in batch]),
    )
    beyond: set[int] = set()
    for row, (task, i, *_) in enumerate(batch):
        if found.moves[row] == IMPOSSIBLE:
            beyond.add(task.group)
        task.low[i] = int(found.low[row])
        task.bound = max(task.bound, int(found.moves[row]))
        if i == task.main:
            task.leave = found.leave[row]
            task.alone = int(found.moves[row])
    return beyond


def excess_of_others(problem: Problem) -> int:
    """Rules that pods break which nobody may move: there is nothing to be done."""
    fixed = _fixed_by_group(problem)
    about_nodes = sum(
        broken * there[node]
        for group, there in fixed.items()
        for node, broken in _broken(problem, group, there).items()
    )
    decided = np.zeros(len(problem.cluster.groups), np.bool_)
    decided[list(problem.groups)] = True
    alone = (each for each in problem.spreads if not decided[each.matching].any())
    return about_nodes + sum(_spread_excess(each, fixed) for each in alone)


def _spread_excess(spread: SpreadConstraint, fixed: Mapping[int, Mapping[int, int]]) -> int:
    there = [fixed.get(group, {}) for group in spread.matching.tolist()]
    nodes = np.array([n for each in there for n, count in each.items() for _ in range(count)], int)
    return int(excess(counts_by_domain(nodes, spread), spread).sum()) if len(nodes) else 0


def _fixed_by_group(problem: Problem) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (g, n), count in problem.fixed_counts.items():
        found.setdefault(g, {})[n] = count
    return found
