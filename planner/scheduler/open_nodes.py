"""The best nodes for a pod, found among those that its rules leave open to it.

Rules about nodes never change, and rules over few domains leave whole domains: where a zone has
come back empty, all that is missing there goes there. What is left is looked at in a table that
groups share. What is found is what a look at all nodes, filter by filter, would have found.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.scheduler.choice import Choice, FromAll
from planner.scheduler.framework.node_table import NodeTable
from planner.scheduler.framework.plugin import Filter
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.group_rules import GroupRules

_NEVER = -np.inf
MOST_TABLES = 64
"""So many are kept; with more kinds of open nodes than that, they are made anew."""


Left = tuple[tuple[Topology, tuple[int, ...]], ...]
"""Domains to which filters leave a pod, for each filter that leaves few; nothing: all of them."""


class NodeTables:
    """The tables of a state."""

    def __init__(self, state: SchedulingState) -> None:
        self._state = state
        self._kept: dict[Hashable, NodeTable] = {}

    def of(self, key: Hashable, open_: BoolArray, left: Left) -> NodeTable | None:
        """The nodes of `open_`, which `key` stands for, in the domains that are left."""
        key = (key, *((topology.key, domains) for topology, domains in left))

        def made() -> NodeTable:
            nodes = open_.copy()
            for topology, domains in left:
                nodes &= np.isin(topology.domain_of, domains)
            return NodeTable(self._state, np.flatnonzero(nodes))

        if not all(domains for _, domains in left):
            return None
        table = self._state.shared(("nodes", key), made)
        if self._kept.get(key) is not table:
            if len(self._kept) >= MOST_TABLES:
                self._kept.clear()
            self._kept[key] = table
        return table if len(table.nodes) else None


class OpenNodes:
    """What one group finds; good for as long as its cycle is."""

    def __init__(self, state: SchedulingState, cycle: GroupCycle, tables: NodeTables) -> None:
        self.rules = GroupRules(cycle)
        self._cycle = cycle
        self._tables = tables
        self._filters = [*self.rules.local, *self.rules.filters]
        self._open = ~cycle.never
        if state.cluster.ghosts:
            self._open[list(state.cluster.ghosts)] = False
        self._key = self._open.tobytes()

    def left(self) -> Left:
        """The domains that are left now."""
        found = [each.leaves() for each in self.rules.filters]
        return tuple(each for each in found if each is not None)

    def table(self, left: Left) -> NodeTable | None:
        """The nodes there that no rule about nodes refuses; None if there are none."""
        return self._tables.of(self._key, self._open, left)

    def choice(self, hidden: Collection[int]) -> Choice | None:
        """The best nodes now but for the `hidden` ones; None if no node passes."""
        table = self.table(self.left())
        if table is None:
            return None
        passing = passing_all(self._filters, table)
        if hidden:
            passing[table.places_of(hidden)] = False
        feasible = int(np.count_nonzero(passing))
        if feasible <= 1:
            return FromAll(1, table.nodes[passing]) if feasible else None
        totals = self.rules.own_scores(table)
        if self.rules.shared:
            totals[passing] += self._beside_others(table.nodes[passing])
        np.copyto(totals, _NEVER, where=~passing)
        return FromAll(feasible, table.nodes[np.flatnonzero(totals == totals.max())])

    def _beside_others(self, nodes: IntArray) -> IntArray:
        """What these nodes get by rules that look at all of them."""
        self._cycle.score_catch_up()
        total = np.zeros(len(nodes), np.int64)
        for weight, score in self.rules.shared:
            if score.active():
                total += weight * score.normalise(score.scores(nodes), nodes)
        return total


def passing_all(filters: Iterable[Filter], table: NodeTable) -> BoolArray:
    """Which nodes of a table pass all of these, where none is outside of what they leave."""
    passing: BoolArray | None = None
    for each in filters:
        found = each.passing_in(table)
        if found is not None:
            passing = found if passing is None else passing & found
    return np.ones(len(table.nodes), np.bool_) if passing is None else passing
