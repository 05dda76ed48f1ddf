"""The best plan over all sequences of steps, for small problems.

A sequence evicts movable pods, each at most once, and binds waiting ones, each to a node that
passes every filter at that moment; in the end every evicted pod runs again, except those that
`--preempt` lets lose their place. Pods of a group are interchangeable, so a state says only how
many of each group are where. States are visited in the order of what their evictions cost, and the
first that nothing can beat is the answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.replay import Step, total, violations
from planner.scheduler.profile import Profile
from planner.sequences.filter_cache import HIGHEST_COUNT, FilterCache
from planner.sequences.group_dependencies import (
    GroupDependencies,
    independent_parts,
    pods_to_decide,
)
from planner.sequences.group_moves import GroupStep, pod_steps
from planner.sequences.value import Value, levels
from planner.sequences.violation_total import ViolationTotal
from planner.solver.problem.problem import Problem

STATE_LIMIT = 100_000
"""States that are seen before the search gives up; a second holds some 30,000."""
NODE_LIMIT = 64
"""On more nodes than that nothing is searched."""


@dataclass(frozen=True)
class BestSequence:
    """The best that was found; proven to be the best of all if `complete`."""

    value: Value
    steps: tuple[Step, ...]
    complete: bool
    states: int


def search(
    problem: Problem,
    profile: Profile,
    *,
    state_limit: int = STATE_LIMIT,
    bound: Value | None = None,
    weights: Mapping[int, int] | None = None,
) -> BestSequence:
    """The best plan, one independent part of the groups after the other.

    `bound` is a value that no plan exceeds: a plan that reaches it ends the search. `weights` say
    what evicting a pod of a group costs, if not 1. Hard rules hold for every landing: there is no
    relaxed mode here. With `preempt` displaceable pods may end without a node, and `placed` counts
    all movable pods together with the waiting ones.
    """
    now = total(violations(problem.cluster, profile))
    if not _small(problem):
        return BestSequence(Value(_placed_now(problem), now, 0), (), complete=False, states=0)
    dependencies = GroupDependencies(problem.cluster, profile)
    parts = independent_parts(problem, dependencies)
    if problem.options.max_moves is not None and len(parts) > 1:
        parts = (problem.groups,)
    value = Value((0,) * len(levels(problem)), now, 0)
    steps: list[GroupStep] = []
    complete, states = True, 0
    for part in parts:
        broken = ViolationTotal(problem, profile, dependencies, part, now)
        nodes = range(len(problem.cluster.nodes))
        filters = FilterCache(problem, profile, dependencies, part, nodes)
        found = _AllSequences(problem, filters, broken, weights or {})
        found.run(state_limit - states, bound if len(parts) == 1 else None)
        value += replace(found.value, violations=found.violations - now)
        steps += found.steps()
        complete &= found.complete
        states += found.states
    reached = bound is not None and _key(problem, value) >= _key(problem, bound)
    return BestSequence(value, pod_steps(problem, steps), complete or reached, states)


def _small(problem: Problem) -> bool:
    most = max((pods_to_decide(problem, group) for group in problem.groups), default=0)
    return len(problem.cluster.nodes) <= NODE_LIMIT and most <= HIGHEST_COUNT


def _placed_now(problem: Problem) -> tuple[int, ...]:
    """What `placed` counts before anything has happened."""
    groups = problem.cluster.groups
    moving = problem.movable.items() if problem.options.preempt else ()
    return tuple(
        sum(len(pods) for (group, _), pods in moving if groups[group].priority == level)
        for level in levels(problem)
    )


def _key(problem: Problem, value: Value) -> tuple[tuple[int, ...], int, int]:
    """Violations count only if running pods may move to repair them."""
    return (value if problem.options.rebalance else replace(value, violations=0)).key


class _AllSequences:
    """One search; a state is the counts of the filter cache, then two more rows of numbers.

    These are, by cell, the movable pods that are still in place; and, by group, how many of its
    evicted pods wait: a landing is of one of those, unless no controller brings them back.
    """

    def __init__(
        self,
        problem: Problem,
        filters: FilterCache,
        broken: ViolationTotal,
        weights: Mapping[int, int],
    ) -> None:
        self._problem = problem
        self._filters = filters
        self._broken = broken
        self._groups = groups = filters.groups
        self._size = filters.size
        position = {group: i for i, group in enumerate(groups)}
        self._cells = [(position[g], n) for g, n in problem.movable if g in position]
        self._moving = [len(pods) for (g, _), pods in problem.movable.items() if g in position]
        self._all = [pods_to_decide(problem, group) for group in groups]
        waiting = [len(problem.waiting.get(group, ())) for group in groups]
        self._counted = self._all if problem.options.preempt else waiting
        """How many pods of each group count as placed if all get a node."""
        self._weights = [weights.get(group, 1) for group in groups]
        self._may_be_lost = [problem.displaceable.get(group, 0) for group in groups]
        self._returns = [group not in problem.no_return for group in groups]
        self._levels = levels(problem)
        priorities = [problem.cluster.groups[group].priority for group in groups]
        self._level_of = [self._levels.index(p) if p in self._levels else 0 for p in priorities]
        self._stays = len(groups) * self._size
        self._evicted = self._stays + len(self._cells)
        self._start = filters.start + bytes(self._moving) + bytes(len(groups))
        self._came_from: dict[bytes, tuple[bytes, GroupStep]] = {}
        self._best = self._start
        self.value = self._worth(self._start, self._placed(self._start), 0)
        self.complete = False

    @property
    def states(self) -> int:
        """How many states were seen."""
        return len(self._came_from) + 1

    @property
    def violations(self) -> int:
        """What is broken in the best state."""
        return self._broken.of(self._best)

    def steps(self) -> list[GroupStep]:
        """The way to the best state."""
        steps: list[GroupStep] = []
        state = self._best
        while state != self._start:
            state, step = self._came_from[state]
            steps.append(step)
        return steps[::-1]

    def run(self, state_limit: int, bound: Value | None) -> None:
        """Visit states until the best is certain or the limit is reached.

        Costs only grow, so among states of equal aims the first one is the cheapest.
        """
        ceiling = self._aims(self._ceiling())
        if bound is not None:
            ceiling = min(ceiling, self._aims(bound))
        buckets = {0: [self._start]}
        costs = [0]
        while costs:
            cost = heapq.heappop(costs)
            stack = buckets.pop(cost)
            while stack:
                state = stack.pop()
                self._judge(state, cost)
                if self._aims(self.value) >= ceiling:
                    self.complete = True
                    return
                if self.states > state_limit:
                    return
                stack.extend(self._landings(state))
                for weight, after in self._departures(state):
                    if cost + weight not in buckets:
                        buckets[cost + weight] = []
                        heapq.heappush(costs, cost + weight)
                    buckets[cost + weight].append(after)
        self.complete = True

    def _aims(self, value: Value) -> tuple[tuple[int, ...], int]:
        """What comes before the cost."""
        return _key(self._problem, value)[:2]

    def _ceiling(self) -> Value:
        """No plan places more than the nodes have slots for, and at best nothing is broken."""
        counted = self._counted
        if not self._problem.options.preempt:
            rows = zip(self._groups, counted, strict=True)
            counted = [min(pods, slots(self._problem, group)) for group, pods in rows]
        return Value(self._by_priority(counted), 0, 0)

    def _judge(self, state: bytes, cost: int) -> None:
        """Remember the state if a plan may end there and none that is better was seen."""
        evicted = zip(state[self._evicted :], self._may_be_lost, strict=True)
        if any(waiting > may_be_lost for waiting, may_be_lost in evicted):
            return
        placed = self._placed(state)
        if placed < self.value.placed:
            return
        value = self._worth(state, placed, cost)
        if value.key > self.value.key:
            self._best, self.value = state, value

    def _worth(self, state: bytes, placed: tuple[int, ...], cost: int) -> Value:
        rebalance = self._problem.options.rebalance
        return Value(placed, self._broken.of(state) if rebalance else 0, cost)

    def _placed(self, state: bytes) -> tuple[int, ...]:
        """Pods that got a node, by priority; with `preempt` all that have one."""
        return self._by_priority(
            [
                counted - self._without_node(state, i) if counted else 0
                for i, counted in enumerate(self._counted)
            ]
        )

    def _by_priority(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Numbers by group, added up for each priority."""
        found = [0] * len(self._levels)
        for level, number in zip(self._level_of, numbers, strict=True):
            if number:
                found[level] += number
        return tuple(found)

    def _without_node(self, state: bytes, group: int) -> int:
        """Pods of the group without a node."""
        return self._all[group] - sum(state[group * self._size : (group + 1) * self._size])

    def _may_land(self, state: bytes, group: int) -> int:
        """Pods of the group that may land: all without a node, or those that waited already."""
        gone = 0 if self._returns[group] else state[self._evicted + group]
        return self._without_node(state, group) - gone

    def _landings(self, state: bytes) -> Iterator[bytes]:
        """States that one more landing leads to and that were not seen before."""
        for i, group in enumerate(self._groups):
            if not self._may_land(state, i):
                continue
            opened = self._filters.open_nodes(i, state)
            for node in range(self._size):
                if opened >> node & 1:
                    after = bytearray(state)
                    after[i * self._size + node] += 1
                    if self._returns[i]:
                        after[self._evicted + i] = max(0, state[self._evicted + i] - 1)
                    yield from self._new(state, bytes(after), GroupStep(False, group, node))

    def _departures(self, state: bytes) -> Iterator[tuple[int, bytes]]:
        """The same for evictions, with what they cost."""
        limit = self._problem.options.max_moves
        if (
            limit is not None
            and sum(self._moving) - sum(state[self._stays : self._evicted]) >= limit
        ):
            return
        for cell, (i, node) in enumerate(self._cells):
            if state[self._stays + cell]:
                after = bytearray(state)
                after[i * self._size + node] -= 1
                after[self._stays + cell] -= 1
                after[self._evicted + i] += 1
                step = GroupStep(True, self._groups[i], node)
                for new in self._new(state, bytes(after), step):
                    yield self._weights[i], new

    def _new(self, state: bytes, after: bytes, step: GroupStep) -> Iterator[bytes]:
        if after not in self._came_from and after != self._start:
            self._came_from[after] = (state, step)
            yield after


def slots(problem: Problem, group: int) -> int:
    """How many pods of a group the nodes that admit it can take beside the pods that stay."""
    request = problem.requests[group]
    asked = request > 0
    free = (problem.allocatable - problem.fixed_used)[problem.allowed(group)][:, asked]
    return int(np.maximum(free // request[asked], 0).min(axis=1).sum())
