"""The CP-SAT model: one integer per cell, and the helpers that the rules are written with.

    y[g, n]   non-fixed pods of group g on node n in the end
    m[g, n]   how many of them are there now
    a[g, n]   arrivals: a >= y - m, a >= 0; only where the pods may land
    sum over n of y[g, n] = sum over n of m[g, n] + placed[g] - displaced[g]

Departures need no variables: m - y + a. Rows go straight into the model's protocol buffer, which is
several times faster than building expressions variable by variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.spread import Scope
from planner.cluster.topology import NO_DOMAIN, IntArray
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.linear import Linear
from planner.solver.problem.cells import NO_CELLS, NO_PODS, NONE, Cells, Fixed, fixed_by_group
from planner.solver.problem.problem import Cell, Problem

_MIN, _MAX = -(2**62), 2**62
_SAFE = 2**60
"""CP-SAT adds in 64 bits."""

RuleName = tuple[str | int, ...]
"""A plugin, and which of its rules: `("InterPodAffinity", "apart", group, index)`."""


class Model:
    """Variables of a problem and the rows that rules add to them.

    With `guarded`, the rows of each named rule hold only if the rule's literal is true, and static
    rules are left to the caller: an explanation assumes the literals and asks which of them
    contradict each other.
    """

    def __init__(self, problem: Problem, *, guarded: bool = False) -> None:
        self.problem = problem
        self.cp = cp_model.CpModel()
        self._proto = self.cp.proto
        self.upper: list[int] = []
        self.lower: list[int] = []
        self.guards: dict[RuleName, int] = {}
        self._guarded = guarded
        self._enforced: tuple[int, ...] = ()
        self.counted = fixed_by_group(problem.fixed_counts)
        self.everyone = fixed_by_group(problem.fixed_all)
        self._movable: dict[int, list[tuple[int, int]]] = {}
        for (group, node), pods in problem.movable.items():
            self._movable.setdefault(group, []).append((node, len(pods)))
        self.cells: dict[int, Cells] = {}
        self.cell_vars: dict[Cell, int] = {}
        self.placed: dict[int, Linear] = {}
        self.emptied: dict[int, int] = {}
        """Nodes that a model may decide to empty, with the literal that says so."""
        self.emptied_are_gone = False
        """Whether emptied nodes are no nodes at all, so that no rule counts their domains."""
        self._stays: dict[tuple[int, int], int] = {}
        for group in problem.groups:
            self._add_group(group)

    # Variables and rows

    def integer(self, lower: int, upper: int) -> int:
        """A new variable."""
        self._proto.variables.add().domain.extend((lower, upper))
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.upper) - 1

    def literal(self) -> int:
        """A new 0-1 variable."""
        return self.integer(0, 1)

    def at_most(self, left: Linear, right: int = 0, given: Sequence[int] = ()) -> None:
        """Make left <= right, if all `given` literals are true (-x - 1 is the negation of x)."""
        self._row(left, _MIN, right - left.constant, given)

    def at_least(self, left: Linear, right: int = 0, given: Sequence[int] = ()) -> None:
        """Make left >= right, if all `given` literals are true."""
        self._row(left, right - left.constant, _MAX, given)

    def equal(self, left: Linear, right: int = 0) -> None:
        """Make left = right."""
        self._row(left, right - left.constant, right - left.constant, ())

    def any_of(self, literals: Sequence[int]) -> None:
        """At least one of the literals is true."""
        row = self._proto.constraints.add()
        row.bool_or.literals.extend(literals)
        if self._enforced:
            row.enforcement_literal.extend(self._enforced)

    def _row(self, left: Linear, lower: int, upper: int, given: Sequence[int]) -> None:
        row = self._proto.constraints.add()
        if given or self._enforced:
            row.enforcement_literal.extend([*given, *self._enforced])
        row.linear.vars.extend(left.vars)
        row.linear.coeffs.extend(left.coeffs)
        row.linear.domain.extend((lower, upper))

    @contextmanager
    def rule(self, *name: str | int) -> Iterator[None]:
        """Rows added inside belong to this rule; a guarded model can switch them off."""
        if self._guarded:
            if name not in self.guards:
                self.guards[name] = self.literal()
            self._enforced = (self.guards[name],)
        try:
            yield
        finally:
            self._enforced = ()

    def highest(self, expression: Linear) -> int:
        """An upper bound of an expression from the bounds of its variables."""
        return expression.constant + sum(
            c * (self.upper[v] if c > 0 else self.lower[v])
            for v, c in zip(expression.vars, expression.coeffs, strict=True)
        )

    def lowest(self, expression: Linear) -> int:
        """A lower bound of an expression from the bounds of its variables."""
        return expression.constant + sum(
            c * (self.lower[v] if c > 0 else self.upper[v])
            for v, c in zip(expression.vars, expression.coeffs, strict=True)
        )

    # Cells

    @property
    def present(self) -> list[int]:
        """Groups that have pods here or may get some."""
        return sorted({*self.everyone, *self.cells})

    def of(self, group: int) -> Cells:
        """The cells of a group; none if nothing about it is to be decided."""
        return self.cells.get(group, NO_CELLS)

    def fixed_of(self, group: int, *, terminating: bool) -> Fixed:
        """The fixed pods of a group, with or without those that are terminating."""
        return (self.everyone if terminating else self.counted).get(group, NO_PODS)

    def _add_group(self, group: int) -> None:
        problem = self.problem
        now = np.zeros(len(problem.cluster.nodes), np.int64)
        for node, pods in self._movable.get(group, ()):
            now[node] = pods
        running = int(now.sum())
        waiting = len(problem.waiting.get(group, ()))
        landing = problem.landing(group)
        room = np.minimum(self._room(group), running + waiting)
        if self._guarded:  # static rules and room are assumptions like any other
            landing, room = np.ones_like(landing), np.full_like(room, running + waiting)
        upper = np.where(landing, np.maximum(room, now), now)
        nodes = np.flatnonzero(upper > 0)
        y = [self.integer(0, top) for top in upper[nodes].tolist()]
        cells = Cells(
            nodes,
            np.array(y, np.int64),
            self._arrivals(nodes, y, now, upper, landing),
            now[nodes],
            upper[nodes],
        )
        self.cells[group] = cells
        self.cell_vars.update(zip(((group, n) for n in nodes.tolist()), y, strict=True))
        placed = Linear(y, [1] * len(y), -running)
        self.placed[group] = placed
        self.at_most(placed, waiting)
        self.at_least(placed, -problem.displaceable.get(group, 0))
        if group in problem.no_return and running and waiting:
            landing_vars = [v for v in cells.arrivals.tolist() if v != NONE]
            self.at_most(Linear(landing_vars, [1] * len(landing_vars)), waiting)

    def _room(self, group: int) -> IntArray:
        """How many pods of the group an otherwise emptied node has room for."""
        requests = self.problem.requests[group]
        asked = np.flatnonzero(requests > 0)
        free = self.problem.allocatable[:, asked] - self.problem.fixed_used[:, asked]
        room: IntArray = np.maximum((free // requests[asked]).min(axis=1), 0)
        return room

    def _arrivals(
        self, nodes: IntArray, y: list[int], now: IntArray, upper: IntArray, landing: BoolArray
    ) -> IntArray:
        """Pods that land on each node: at least those that it gains.

        Judged at the moment, pods may land beyond that, while others of the group leave the same
        node: all who are there in the end may have landed.
        """
        moment = self.problem.options.judged == "moment"
        arrivals = []
        for node, variable in zip(nodes.tolist(), y, strict=True):
            here, top = int(now[node]), int(upper[node])
            if here == 0:
                arrivals.append(variable)
            elif not landing[node] or (top == here and not moment):
                arrivals.append(NONE)
            else:
                arrived = self.integer(0, top if moment else top - here)
                self.at_least(Linear([arrived, variable], [1, -1]), -here)
                if moment:
                    self.at_most(Linear([arrived, variable], [1, -1]))
                arrivals.append(arrived)
        return np.array(arrivals, np.int64)

    # Sums over domains

    def by_domain(self, groups: Iterable[int], domain_of: IntArray, size: int) -> list[Linear]:
        """The decided pods of these groups per domain; nodes in domain -1 are left out."""
        columns = ((cells.nodes, cells.y) for cells in map(self.of, groups))
        return _summed(columns, domain_of, size)

    def arrivals_by_domain(
        self, groups: Iterable[int], domain_of: IntArray, size: int
    ) -> list[Linear]:
        """The pods of these groups that land in each domain."""
        columns = ((cells.nodes, cells.arrivals) for cells in map(self.of, groups))
        return _summed(columns, domain_of, size)

    def now_by_domain(self, groups: Iterable[int], domain_of: IntArray, size: int) -> IntArray:
        """The movable pods of these groups per domain as things are."""
        counts = np.zeros(size + 1, np.int64)
        for group in groups:
            cells = self.of(group)
            np.add.at(counts, domain_of[cells.nodes], cells.now)
        return counts[:size]

    def fixed_by_domain(
        self, groups: Iterable[int], domain_of: IntArray, size: int, *, terminating: bool
    ) -> IntArray:
        """The fixed pods of these groups per domain."""
        counts = np.zeros(size + 1, np.int64)
        for group in groups:
            fixed = self.fixed_of(group, terminating=terminating)
            np.add.at(counts, domain_of[fixed.nodes], fixed.counts)
        return counts[:size]

    # Patterns that several rules share

    def domain_stays(self, scope: Scope, domain: int) -> int | None:
        """A literal that is true only if a node of the domain is not emptied; None if one stays."""
        nodes = np.flatnonzero((scope.topology.domain_of == domain) & scope.eligible).tolist()
        if any(node not in self.emptied for node in nodes):
            return None
        key = (id(scope), domain)
        if key not in self._stays:
            self._stays[key] = self.literal()
            emptied = [self.emptied[node] for node in nodes]
            self.any_of([-self._stays[key] - 1, *(-each - 1 for each in emptied)])
            for each in emptied:
                self.any_of([self._stays[key], each])
        return self._stays[key]

    def lands(self, arrivals: Linear) -> int:
        """A literal that is true if anything arrives."""
        landed = self.literal()
        top = self.highest(arrivals)
        self.at_most(Linear([*arrivals.vars, landed], [*arrivals.coeffs, -top]))
        return landed

    def unlabelled(self, groups: Iterable[int], domain_of: IntArray) -> int | None:
        """A variable for the pods of these groups that land outside of all domains, if any can."""
        outside = np.where(domain_of == NO_DOMAIN, 0, NO_DOMAIN)
        (landing,) = self.arrivals_by_domain(groups, outside, 1)
        if not landing.vars:
            return None
        pods = self.integer(0, self.highest(landing))
        self.at_most(landing.plus(Linear([pods], [-1])))
        return pods

    def nothing_lands(self, arrivals: Linear, given: Sequence[int] = ()) -> None:
        """No arrivals, if all `given` literals are true."""
        if arrivals.vars:
            self.at_most(arrivals, 0, given)

    def shared(self, used: Linear, arrivals: Linear, limit: int, now: int) -> None:
        """Keep used <= limit wherever something lands; where nothing does, it may stay as it is.

        If the limit holds now, arrivals are the only way to break it, and it holds throughout.
        """
        if now <= limit:
            if self.highest(used) > limit:
                self.at_most(*_scaled(used, limit, self.highest(used)))
        elif used.constant > limit:
            self.nothing_lands(arrivals)
        elif arrivals.vars:
            landed = self.lands(arrivals)
            self.at_most(*_scaled(used, limit, self.highest(used)), (landed,))


def _summed(
    columns: Iterable[tuple[IntArray, IntArray]], domain_of: IntArray, size: int
) -> list[Linear]:
    """Variables on nodes, added up by domain."""
    sums = [Linear() for _ in range(size)]
    for nodes, variables in columns:
        for domain, variable in zip(domain_of[nodes].tolist(), variables.tolist(), strict=True):
            if domain >= 0 and variable != NONE:
                sums[domain].add(variable)
    return sums


def _scaled(used: Linear, limit: int, highest: int) -> tuple[Linear, int]:
    """The row used <= limit in smaller numbers.

    Divided by the greatest common divisor of the coefficients, and by more if sums could leave 64
    bits; rounding is to the safe side then.
    """
    divisor = int(np.gcd.reduce(np.array(used.coeffs, np.int64)))
    while (highest - used.constant) // divisor > _SAFE:
        divisor *= 2
    small = Linear(used.vars, [-(-c // divisor) for c in used.coeffs])
    return small, (limit - used.constant) // divisor
