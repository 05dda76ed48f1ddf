"""All orders of evictions of a small drain, within budgets.

A pod that may go is evicted at any moment at which its budgets allow it, and lands on any node that
passes every filter then; until it lands it is down, and its budget has one less to give. Pods of a
group are interchangeable, so a state says how many of each group are where. Groups that have
nothing to do with each other, neither rules nor room nor a budget, are searched one after the
other. Whatever kube-scheduler would choose is among what is tried here: if no order lets a pod
leave, none does in the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planner.disruption.budgets import Allowances
from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.sequences.exhaustive import NODE_LIMIT
from planner.sequences.filter_cache import FilterCache
from planner.sequences.group_dependencies import (
    GroupDependencies,
    connected_parts,
    independent_parts,
    pods_to_decide,
)
from planner.sequences.group_moves import GroupStep, pod_steps
from planner.solver.problem.problem import Problem

STATES = 30_000
"""States that are looked at, some two seconds, before the search gives up."""
PODS = 40
"""With more pods to decide about nothing is searched; a count has to fit a byte, too."""


@dataclass(frozen=True)
class Orders:
    """Steps after which the fewest pods are left, and whether no order leaves fewer."""

    steps: tuple[Step, ...]
    complete: bool


def all_orders(problem: Problem, profile: Profile, budgets: Allowances) -> Orders | None:
    """The best order for the movable pods of a problem; None if there are too many of them."""
    if sum(pods_to_decide(problem, group) for group in problem.groups) > PODS or _wide(problem):
        return None
    dependencies = GroupDependencies(problem.cluster, profile)
    parts: tuple[tuple[int, ...], ...] = (problem.groups,)
    if budgets.most is None:
        parts = independent_parts(problem, dependencies, _sharing(budgets))
    steps: list[GroupStep] = []
    complete, states = True, 0
    for part in parts:
        search = _searched(problem, profile, dependencies, budgets, part, STATES - states)
        steps += search.steps()
        complete &= search.complete
        states += search.states
    return Orders(pod_steps(problem, steps), complete)


def least_stuck(problem: Problem, profile: Profile, budgets: Allowances) -> dict[int, int]:
    """By part of the groups, its first one, how many pods no order lets leave; 0s are left out.

    Each part is looked at as if no pod of another one needed room: so it holds whatever becomes of
    the others. A part whose orders are too many is left out, too.
    """
    if _wide(problem):
        return {}
    dependencies = GroupDependencies(problem.cluster, profile)
    found: dict[int, int] = {}
    for part in connected_parts(problem, dependencies, _sharing(budgets)):
        others = [pod for (g, _), pods in problem.movable.items() if g not in part for pod in pods]
        waiting = [pod for g, pods in problem.waiting.items() if g not in part for pod in pods]
        alone = replace(problem.part(part, {}), cluster=problem.cluster.without(others + waiting))
        if sum(pods_to_decide(alone, group) for group in part) <= PODS:
            search = _searched(alone, profile, dependencies, budgets, part, STATES)
            if search.complete and search.left:
                found[part[0]] = search.left
    return found


def _wide(problem: Problem) -> bool:
    return len(problem.cluster.nodes) > NODE_LIMIT


def _sharing(budgets: Allowances) -> list[tuple[int, ...]]:
    """Groups that share a budget."""
    return [each.groups for each in budgets.each if each.budget]


def _searched(
    problem: Problem,
    profile: Profile,
    dependencies: GroupDependencies,
    budgets: Allowances,
    part: tuple[int, ...],
    states: int,
) -> _Search:
    filters = FilterCache(problem, profile, dependencies, part, range(len(problem.cluster.nodes)))
    search = _Search(problem, filters, budgets)
    search.run(states)
    return search


class _Search:
    """One part; a state is the counts of the filter cache, then two more rows of numbers.

    These are, by cell, the movable pods that are still in place; and, by group, how many of its
    evicted pods wait.
    """

    def __init__(self, problem: Problem, filters: FilterCache, budgets: Allowances) -> None:
        self._filters = filters
        self._budgets = budgets
        self._groups, self._size = filters.groups, filters.size
        position = {group: i for i, group in enumerate(self._groups)}
        self._all = [pods_to_decide(problem, group) for group in self._groups]
        self._waited = [len(problem.waiting.get(group, ())) for group in self._groups]
        cells = [cell for cell in problem.movable if cell[0] in position]
        self._cells = [(position[g], n) for g, n in cells]
        self._asks = [self._budgets_over(problem.movable[cell]) for cell in cells]
        self._members = {
            number: [position[g] for g in budgets.each[number].groups if g in position]
            for numbers in self._asks
            for number in numbers
        }
        self._emptied = sorted({node for _, node in self._cells})
        self._stays = len(self._groups) * self._size
        self._evicted = self._stays + len(self._cells)
        moving = bytes(len(problem.movable[cell]) for cell in cells)
        self._start = filters.start + moving + bytes(len(self._groups))
        self._came_from: dict[bytes, tuple[bytes, GroupStep]] = {}
        self._best, self.left = self._start, self._left_in(self._start)
        """The fewest pods that some order leaves."""
        self.complete = False

    @property
    def states(self) -> int:
        """How many states were seen."""
        return len(self._came_from) + 1

    def steps(self) -> list[GroupStep]:
        """The way to the best state."""
        found: list[GroupStep] = []
        state = self._best
        while state != self._start:
            state, step = self._came_from[state]
            found.append(step)
        return found[::-1]

    def run(self, limit: int) -> None:
        """Until nobody is left, all states were seen, or the limit is reached."""
        stack = [self._start]
        while stack and self.left:
            if self.states > limit:
                return
            state = stack.pop()
            stack.extend(self._departures(state))
            stack.extend(self._landings(state))
        self.complete = True

    def _budgets_over(self, pods: Sequence[int]) -> tuple[int, ...]:
        """Budgets that all of the pods ask: who is not ready may go without asking some."""
        asked = set.intersection(*(set(self._budgets.of_pod(pod)) for pod in pods))
        return tuple(sorted(n for n in asked if self._budgets.each[n].budget))

    def _left_in(self, state: bytes) -> int:
        return sum(state[i * self._size + node] for i, node in self._columns())

    def _columns(self) -> Iterator[tuple[int, int]]:
        return ((i, node) for i in range(len(self._groups)) for node in self._emptied)

    def _without_node(self, state: bytes, group: int) -> int:
        return self._all[group] - sum(state[group * self._size : (group + 1) * self._size])

    def _allowed(self, state: bytes, cell: int) -> bool:
        most = self._budgets.most
        if most is not None and sum(state[self._evicted :]) >= most:
            return False
        return all(self._down(state, number) for number in self._asks[cell])

    def _down(self, state: bytes, number: int) -> bool:
        """Whether one more may be down: who waited and has found a node is up again."""
        down = self._budgets.each[number].down
        for i in self._members[number]:
            down += self._without_node(state, i) - self._waited[i]
        return down < self._budgets.each[number].limit

    def _departures(self, state: bytes) -> Iterator[bytes]:
        for cell, (i, node) in enumerate(self._cells):
            if state[self._stays + cell] and self._allowed(state, cell):
                after = bytearray(state)
                after[i * self._size + node] -= 1
                after[self._stays + cell] -= 1
                after[self._evicted + i] += 1
                yield from self._new(state, bytes(after), GroupStep(True, self._groups[i], node))

    def _landings(self, state: bytes) -> Iterator[bytes]:
        for i, group in enumerate(self._groups):
            if not self._without_node(state, i):
                continue
            opened = self._filters.open_nodes(i, state)
            for node in range(self._size):
                if opened >> node & 1:
                    after = bytearray(state)
                    after[i * self._size + node] += 1
                    after[self._evicted + i] = max(0, state[self._evicted + i] - 1)
                    yield from self._new(state, bytes(after), GroupStep(False, group, node))

    def _new(self, state: bytes, after: bytes, step: GroupStep) -> Iterator[bytes]:
        if after in self._came_from or after == self._start:
            return
        self._came_from[after] = (state, step)
        if not any(after[self._evicted :]):
            left = self._left_in(after)
            if left < self.left:
                self._best, self.left = after, left
        yield after
