"""The scheduler's filters over counts of pods, each question asked once.

A search visits thousands of states that differ in a pod or two. What the filters say of a group on
a node depends on a small part of a state: on the pods of that node, and on the pods that the
group's rules about other pods look at. Answers are kept by exactly that part.

A state is a table of counts, group by node, as bytes: `counts[g * size + n]` pods of the g-th group
on the n-th node, of those that take part. All other pods are in the snapshot and not in the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.cluster import PENDING
from planner.cluster.topology import IntArray
from planner.rules import LOCAL_PLUGINS
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import PASS
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.profile import Profile
from planner.sequences.group_dependencies import GroupDependencies
from planner.solver.problem.problem import Problem

HIGHEST_COUNT = 255
"""A count is a byte."""


class FilterCache:
    """Which nodes take one more pod of a group, in any state of the groups that take part."""

    def __init__(
        self,
        problem: Problem,
        profile: Profile,
        dependencies: GroupDependencies,
        groups: Sequence[int],
        nodes: Sequence[int],
    ) -> None:
        self.groups = tuple(groups)
        self.nodes = tuple(nodes)
        self.size = len(self.nodes)
        self._state = SchedulingState(problem.cluster)
        self._scheduler = Scheduler(self._state, profile)
        self._pods = [_pods_of(problem, group, self.nodes) for group in self.groups]
        self.start = bytes(
            len(problem.movable.get((group, node), ()))
            for group in self.groups
            for node in self.nodes
        )
        self._column = {node: column for column, node in enumerate(self.nodes)}
        self._now = bytearray(self.start)
        self._rows = [
            _rows(dependencies.of(group), self.groups, self.size) for group in self.groups
        ]
        self._by_node: dict[tuple[int, bytes], int] = {}
        self._by_group: dict[tuple[int, bytes], int] = {}

    def open_nodes(self, group: int, counts: bytes) -> int:
        """The nodes that pass every filter for one more pod; bit n is the n-th node."""
        key = (group, b"".join([counts[row] for row in self._rows[group]]))
        found = self._by_group.get(key)
        if found is None:
            found = self._by_group[key] = self._ask_about_other_nodes(group, counts)
        opened = 0
        end = len(self.groups) * self.size
        for column in range(self.size):
            if found >> column & 1 and self._groups_at(column, counts, end) >> group & 1:
                opened |= 1 << column
        return opened

    def _groups_at(self, column: int, counts: bytes, end: int) -> int:
        key = (column, counts[column : end : self.size])
        found = self._by_node.get(key)
        if found is None:
            found = self._by_node[key] = self._ask_about_node(self.nodes[column], counts)
        return found

    def _ask_about_other_nodes(self, group: int, counts: bytes) -> int:
        """Nodes that the filters about other nodes' pods pass."""
        self._show(counts)
        cycle = self._cycle(group)
        if cycle.rejection is not None:
            return 0
        filters = [each for name, each in cycle.filters if name not in LOCAL_PLUGINS]
        return sum(
            1 << column
            for column, node in enumerate(self.nodes)
            if all(each.verdict_at(node) == PASS for each in filters)
        )

    def _ask_about_node(self, node: int, counts: bytes) -> int:
        """Groups that the filters about this node and its pods pass."""
        self._show(counts)
        name = self._state.cluster.nodes[node].name
        found = 0
        for index in range(len(self.groups)):
            cycle = self._cycle(index)
            limited = cycle.limit is not None and name not in cycle.limit.nodes
            local = (each for name, each in cycle.filters if name in LOCAL_PLUGINS)
            if not limited and all(each.verdict_at(node) == PASS for each in local):
                found |= 1 << index
        return found

    def _cycle(self, group: int) -> GroupCycle:
        return self._scheduler.cycle(self._pods[group][0])

    def _show(self, counts: bytes) -> None:
        """Put the pods of the scheduler's state where the counts have them."""
        now, size = self._now, self.size
        for group, pods in enumerate(self._pods):
            row = slice(group * size, group * size + size)
            if now[row] == counts[row]:
                continue
            node_of: IntArray = self._state.node_of
            missing = [after - before for after, before in zip(counts[row], now[row], strict=True)]
            for pod in pods:
                node = int(node_of[pod])
                if node != PENDING and missing[self._column[node]] < 0:
                    missing[self._column[node]] += 1
                    self._state.remove(pod)
            waiting = iter([pod for pod in pods if node_of[pod] == PENDING])
            for node, number in zip(self.nodes, missing, strict=True):
                for _ in range(number):
                    self._state.place(next(waiting), node)
            now[row] = counts[row]


def _pods_of(problem: Problem, group: int, nodes: Sequence[int]) -> tuple[int, ...]:
    moving = (problem.movable.get((group, node), ()) for node in nodes)
    return (*(pod for pods in moving for pod in pods), *problem.waiting.get(group, ()))


def _rows(wanted: frozenset[int], groups: Sequence[int], size: int) -> list[slice]:
    """Where the wanted groups stand in a state."""
    return [slice(i * size, i * size + size) for i, group in enumerate(groups) if group in wanted]
