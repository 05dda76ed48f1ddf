"""The two textbook CP-SAT models of rebalancing, as peers: x[pod, node] and y[group, node].

Both state the same problem as planner's solver does, level by level, and leave everything else to
CP-SAT: no closed-form bounds, no decomposition, no start from the greedy scheduler. They differ in
the unit alone: a pod of its own, or all interchangeable pods together as a count.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from planner.cluster.spread import SpreadConstraint
from planner.solver.problem.problem import Cell, Problem

LARGEST = 4_000_000
"""Variables beyond which the model would not fit into this machine's memory."""


class TooLargeError(Exception):
    """The model has more variables than can be built."""


@dataclass(frozen=True)
class Unit:
    """Pods that the model counts as one variable per node."""

    group: int
    waiting: int
    now: Mapping[int, int]

    @property
    def pods(self) -> int:
        return self.waiting + sum(self.now.values())


@dataclass(frozen=True)
class Answer:
    """The last level that has a solution decides the counts; `bound` is that of the moves."""

    counts: Mapping[Cell, int]
    bound: float
    proven: bool


def pod_units(problem: Problem) -> Iterator[Unit]:
    """One for each pod."""
    for group, pods in problem.waiting.items():
        yield from (Unit(group, 1, {}) for _ in pods)
    for (group, node), pods in problem.movable.items():
        yield from (Unit(group, 0, {node: 1}) for _ in pods)


def group_units(problem: Problem) -> Iterator[Unit]:
    """One for each group."""
    now: dict[int, dict[int, int]] = {}
    for (group, node), pods in problem.movable.items():
        now.setdefault(group, {})[node] = len(pods)
    for group in problem.groups:
        yield Unit(group, len(problem.waiting.get(group, ())), now.get(group, {}))


class TextbookModel:
    """Counts per unit and node, capacity, spread of what lands, and three kinds of levels."""

    def __init__(self, problem: Problem, units: list[Unit]) -> None:
        self._problem = problem
        self._units = units
        self._model = cp_model.CpModel()
        self._cells: dict[tuple[int, int], cp_model.IntVar] = {}
        self._by_group: dict[Cell, list[int]] = {}
        self._cells_of: dict[int, list[tuple[int, int]]] = {g: [] for g in problem.groups}
        self._most = sum(unit.pods for unit in units) + sum(problem.fixed_counts.values())
        self._count_cells()
        self._capacity()
        self._excess = [x for spread in problem.spreads for x in self._spread(spread)]

    def _count_cells(self) -> None:
        landing = {g: np.flatnonzero(self._problem.landing(g)) for g in self._problem.groups}
        size = sum(len(landing[unit.group]) for unit in self._units)
        if size > LARGEST:
            raise TooLargeError(f"{size:,} variables")
        for u, unit in enumerate(self._units):
            nodes = sorted({*landing[unit.group].tolist(), *unit.now})
            for n in nodes:
                self._cells[u, n] = self._model.new_int_var(0, unit.pods, "")
                self._by_group.setdefault((unit.group, n), []).append(u)
                self._cells_of[unit.group].append((n, u))
            total = sum(self._cells[u, n] for n in nodes)
            running = sum(unit.now.values())
            self._model.add_linear_constraint(total, running, unit.pods)

    def _capacity(self) -> None:
        problem = self._problem
        room = np.maximum(problem.allocatable, problem.fixed_used) - problem.fixed_used
        terms: dict[int, list[tuple[int, int]]] = {}
        for u, n in self._cells:
            terms.setdefault(n, []).append((u, self._units[u].group))
        for n, pairs in terms.items():
            for r in range(room.shape[1]):
                asked = [(int(problem.requests[g, r]), self._cells[u, n]) for u, g in pairs]
                used = sum(amount * var for amount, var in asked if amount)
                if not isinstance(used, int):
                    self._model.add(used <= int(room[n, r]))

    def _spread(self, spread: SpreadConstraint) -> Iterator[cp_model.IntVar]:
        """A landing needs its domain within maxSkew of the least; what is above is excess."""
        domain_of, domains = spread.scope.topology.domain_of, spread.scope.domains
        parts: dict[int, list[cp_model.IntVar | int]] = {
            d: [] for d in np.flatnonzero(domains).tolist()
        }
        for n in np.flatnonzero(spread.scope.eligible).tolist():
            for g in spread.matching.tolist():
                vars_ = [self._cells[u, n] for u in self._by_group.get((g, n), ())]
                fixed = self._problem.fixed_counts.get((g, n), 0)
                parts[int(domain_of[n])] += [*vars_, *([fixed] if fixed else [])]
        most = self._most
        least = self._model.new_int_var(0, most, "")
        counts = {d: sum(found) for d, found in parts.items()}
        if len(counts) < (spread.constraint.min_domains or 1):
            self._model.add(least == 0)
        for count in counts.values():
            self._model.add(least <= count)
        skew = spread.constraint.max_skew
        lands = self._landings(spread)
        for d, count in counts.items():
            for landing in lands.get(d, ()):
                self._model.add(count <= least + skew).only_enforce_if(landing)
            above = self._model.new_int_var(0, most, "")
            self._model.add(above >= count - least - skew)
            yield above

    def _landings(self, spread: SpreadConstraint) -> dict[int, list[cp_model.IntVar]]:
        """Per domain a literal for each cell of a carrier that is true if something lands there."""
        found: dict[int, list[cp_model.IntVar]] = {}
        for group in sorted({carrier.group for carrier in spread.carriers}):
            for n, u in self._cells_of[group]:
                lands = self._model.new_bool_var("")
                here = self._units[u].now.get(n, 0)
                self._model.add(self._cells[u, n] <= here).only_enforce_if(~lands)
                found.setdefault(int(spread.scope.topology.domain_of[n]), []).append(lands)
        return found

    def solve(self, limit: float) -> Answer | None:
        """Level after level, each fixed for the next; None if not even the first has an answer."""
        deadline = time.monotonic() + limit
        answer: Answer | None = None
        for name, goal in self._levels():
            solver = cp_model.CpSolver()
            solver.parameters.num_workers = 1
            solver.parameters.max_time_in_seconds = max(0.01, deadline - time.monotonic())
            self._model.minimize(goal)
            status = solver.solve(self._model)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                break
            self._model.add(goal <= round(solver.objective_value))
            self._model.clear_hints()  # type: ignore[no-untyped-call]  # ortools has no types here
            for var in self._cells.values():
                self._model.add_hint(var, solver.value(var))
            last = name == "moves"
            bound = solver.best_objective_bound if last else 0.0
            proven = last and status == cp_model.OPTIMAL
            answer = Answer(self._counts(solver), bound, proven)
        return answer

    def _levels(self) -> Iterator[tuple[str, cp_model.LinearExprT]]:
        groups = self._problem.cluster.groups
        for priority in self._problem.priorities:
            unplaced = [
                unit.pods - sum(self._cells[u, n] for n in self._nodes(u))
                for u, unit in enumerate(self._units)
                if unit.waiting and groups[unit.group].priority == priority
            ]
            yield "placed", sum(unplaced)
        yield "excess", sum(self._excess)
        moves = []
        for u, unit in enumerate(self._units):
            for n, number in unit.now.items():
                gone = self._model.new_int_var(0, number, "")
                self._model.add(gone >= number - self._cells[u, n])
                moves.append(gone)
        yield "moves", sum(moves)

    def _nodes(self, u: int) -> list[int]:
        unit = self._units[u]
        landing = np.flatnonzero(self._problem.landing(unit.group)).tolist()
        return sorted({*landing, *unit.now})

    def _counts(self, solver: cp_model.CpSolver) -> dict[Cell, int]:
        counts: dict[Cell, int] = {}
        for (u, n), var in self._cells.items():
            if value := solver.value(var):
                cell = self._units[u].group, n
                counts[cell] = counts.get(cell, 0) + value
        return counts
