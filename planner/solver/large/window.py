"""A part of the cluster as a program: all pods on some nodes are placed anew at once.

The program has the departures and arrivals of every group with a pod on the nodes of the window, or
in hand. Outside of the window these groups may only take back what they have changed. Counts are
those before anything moved plus arrivals minus departures, so that moves are counted from there:

    per group   arrivals - departures = pods that waited
    per rule    low <= count(domain) <= low + maxSkew
    per node    requests of what comes less those of what leaves <= room

There is no excess, and everything is placed. With all nodes in the window this is the whole
problem, and bounds hold for all states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver.large.plain_group import PlainGroup
from planner.solver.large.state import State
from planner.solver.model.program import FREE, FloatArray, Program
from planner.solver.problem.problem import Cell

_NONE: IntArray = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Part:
    """Columns of one group: departures from `left`, arrivals on `entered`, pods placed."""

    task: PlainGroup
    left: IntArray
    leave: IntArray
    entered: IntArray
    enter: IntArray
    placed: IntArray

    def change(self, values: IntArray) -> dict[int, int]:
        """Pods more or less than before anything moved, by node."""
        found: dict[int, int] = {}
        for nodes, columns, sign in ((self.left, self.leave, -1), (self.entered, self.enter, 1)):
            for node, pods in zip(nodes.tolist(), values[columns].tolist(), strict=True):
                found[node] = found.get(node, 0) + sign * pods
        return {node: pods for node, pods in found.items() if pods}


def taking_part(state: State, inside: BoolArray) -> frozenset[int]:
    """Groups with a pod in the window, before or now, or in hand."""
    found = set(np.unique(state.cells.group[inside[state.cells.node]]).tolist())
    for group, task in state.tasks.items():
        changed = group in state.touched and any(inside[n] for n, c in task.now.items() if c)
        if task.hand or changed:
            found.add(group)
    return frozenset(found.intersection(state.tasks))


class Window:
    """The program and where its columns stand."""

    def __init__(
        self,
        fresh: State,
        state: State,
        inside: BoolArray,
        tasks: frozenset[int],
    ) -> None:
        self._fresh = fresh
        self._work = state
        self._inside = inside
        self.program = Program()
        self.possible = True
        self.exact = True
        """Whether every state of the window is in the program; not if nodes are overcommitted."""
        self._room_rows: list[IntArray] = []
        self._smallest: list[tuple[int, int, int]] = []
        self.parts = [self._add(fresh.tasks[g], state.tasks[g]) for g in sorted(tasks)]
        self._add_room()

    @property
    def departures(self) -> IntArray:
        """All columns that cost a move."""
        return np.concatenate([_NONE, *(cells.leave for cells in self.parts)])

    @property
    def room(self) -> IntArray:
        """The rows of nodes and resources."""
        return np.concatenate([_NONE, *self._room_rows])

    @property
    def sizes(self) -> FloatArray:
        """How large the pods are whose arrivals a column counts; infinite for all others."""
        found = np.full(self.program.columns, FREE)
        for cells in self.parts:
            found[cells.enter] = cells.task.size
        return found

    def supplied(self, upper: IntArray) -> IntArray:
        """Upper ends, with no more arrivals of a group than pods that wait or may leave."""
        found = upper.copy()
        for cells in self.parts:
            supply = cells.task.waiting + int(upper[cells.leave].sum())
            found[cells.enter] = np.minimum(found[cells.enter], supply)
        return found

    def without(self, cells: frozenset[Cell]) -> IntArray:
        """Upper ends, if these groups leave no more of these nodes than they have to."""
        lower, upper = self.program.ranges()
        for each in self.parts:
            g = each.task.group
            shut = each.leave[[(g, n) in cells for n in each.left.tolist()]]
            upper[shut] = lower[shut]
        return self.supplied(upper)

    def values(self, state: State) -> IntArray:
        """The columns of a state."""
        found = np.zeros(self.program.columns, np.int64)
        for cells in self.parts:
            task = state.tasks[cells.task.group]
            found[cells.placed] = task.waiting
            for nodes, columns, sign in (
                (cells.left, cells.leave, -1),
                (cells.entered, cells.enter, 1),
            ):
                more = [sign * (task.now.get(n, 0) - task.start.get(n, 0)) for n in nodes.tolist()]
                found[columns] = np.maximum(0, np.array(more, np.int64))
        for column, group, i in self._smallest:
            found[column] = int(state.tasks[group].counts[i].min())
        return found

    def apply(self, values: IntArray) -> State | None:
        """The state that the values describe; None if it does not fit after all."""
        state = self._work.copy()
        for cells in self.parts:
            state.restate(state.tasks[cells.task.group], cells.change(values))
        fits = state.free >= np.minimum(self._fresh.free, 0)
        return state if bool(fits.all()) else None

    def _add(self, task: PlainGroup, now: PlainGroup) -> Part:
        """Departures and arrivals of one group, with its rules."""
        left, most_left = self._departures(task, now)
        entered, most_entered = self._arrivals(task, now)
        forced = np.array([task.forced.get(n, 0) for n in left.tolist()], np.int64)
        self.possible &= bool((forced <= most_left).all())
        leave = self.program.add_columns(np.minimum(forced, most_left), most_left)
        enter = self.program.add_columns(np.zeros_like(most_entered), most_entered)
        waiting = np.array([task.waiting])
        placed = self.program.add_columns(waiting, waiting)
        balance = self.program.add_rows(np.zeros(1), np.zeros(1))
        for columns, sign in ((enter, 1), (leave, -1), (placed, -1)):
            self.program.enter(balance, columns, sign)
        cells = Part(task, left, leave, entered, enter, placed)
        for i in range(len(task.rules)):
            self._add_rule(cells, i)
        return cells

    def _departures(self, task: PlainGroup, now: PlainGroup) -> tuple[IntArray, IntArray]:
        """Nodes that pods may leave; outside of the window no more than have left."""
        nodes = np.fromiter(task.start, np.int64, len(task.start))
        there = np.fromiter(task.start.values(), np.int64, len(task.start))
        stay = np.array([now.now.get(n, 0) for n in task.start], np.int64)
        most = np.where(self._inside[nodes], there, np.maximum(there - stay, 0))
        return nodes[most > 0], most[most > 0]

    def _arrivals(self, task: PlainGroup, now: PlainGroup) -> tuple[IntArray, IntArray]:
        """Nodes that pods may land on; outside of the window no more than have landed."""
        supply = sum(task.start.values()) + task.waiting
        nodes = self._fresh.places.nodes(task.group)
        nodes = nodes[self._inside[nodes]]
        short = (self._fresh.free[np.ix_(nodes, task.needs)] < 0).any(axis=1)
        self.exact &= not bool(short.any())
        nodes = nodes[~short]
        more = {n: c - task.start.get(n, 0) for n, c in now.now.items() if not self._inside[n]}
        outside = sorted(n for n, c in more.items() if c > 0)
        most = [supply] * len(nodes) + [more[n] for n in outside]
        return np.append(nodes, np.array(outside, np.int64)), np.array(most, np.int64)

    def _add_rule(self, cells: Part, i: int) -> None:
        """Every domain between low and low + maxSkew; those without columns bound low."""
        rule, counts = cells.task.rules[i], cells.task.counts[i]
        from_, to = rule.domain_of[cells.left], rule.domain_of[cells.entered]
        open_ = np.unique(np.concatenate((from_, to)))
        open_ = open_[open_ >= 0]
        shut = np.delete(counts, open_)
        high = int(shut.min()) if len(shut) else int(counts.sum()) + cells.task.waiting
        low = max(0, int(shut.max()) - rule.skew) if len(shut) else 0
        lows = cells.task.lows_of(i)
        low, high = max(low, lows.start), min(high, lows.stop - 1)
        self.possible &= low <= high
        smallest = self.program.add_columns(np.array([min(low, high)]), np.array([high]))
        self._smallest.append((int(smallest[0]), cells.task.group, i))
        now = counts[open_].astype(float)
        at_least = self.program.add_rows(-now, np.full(len(now), FREE))
        at_most = self.program.add_rows(np.full(len(now), -FREE), rule.skew - now)
        for rows in (at_least, at_most):
            self.program.enter(rows, np.repeat(smallest, len(open_)), -1)
            for domains, columns, sign in ((to, cells.enter, 1), (from_, cells.leave, -1)):
                counted = domains >= 0
                place = np.searchsorted(open_, domains[counted])
                self.program.enter(rows[place], columns[counted], sign)

    def _add_room(self) -> None:
        """Rows of the nodes where room matters, one per resource that is asked for."""
        free, asked = self._room()
        for r in np.flatnonzero(asked.any(axis=0)).tolist():
            unit = int(np.gcd.reduce([int(c.task.request[r]) for c in self.parts])) or 1
            nodes = np.flatnonzero(asked[:, r])
            room = np.floor_divide(free[nodes, r], unit).astype(float)
            rows = self.program.add_rows(np.full(len(nodes), -FREE), room)
            self._room_rows.append(rows)
            place = np.full(len(free), -1)
            place[nodes] = rows
            for cells in self.parts:
                amount = int(cells.task.request[r]) // unit
                if amount:
                    self._enter_room(place, cells.entered, cells.enter, amount)
                    self._enter_room(place, cells.left, cells.leave, -amount)

    def _enter_room(self, place: IntArray, nodes: IntArray, columns: IntArray, amount: int) -> None:
        known = place[nodes] >= 0
        self.program.enter(place[nodes[known]], columns[known], amount)

    def _room(self) -> tuple[IntArray, BoolArray]:
        """What is free if the groups of the window are where they were, and where that matters.

        It matters where something may land, and where others have landed since: what has left for
        them can't come back then. Nodes that were overcommitted may stay so.
        """
        free = self._work.free - np.minimum(self._fresh.free, 0)
        asked = np.zeros(free.shape, np.bool_)
        for cells in self.parts:
            task, now = cells.task, self._work.tasks[cells.task.group].now
            if task.group in self._work.touched:
                for node in {*now, *task.start}:
                    free[node] += (now.get(node, 0) - task.start.get(node, 0)) * task.request
            asked[np.ix_(cells.entered, task.needs)] = True
        return free, asked | (free < 0)
