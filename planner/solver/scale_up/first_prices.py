"""Prices to begin with: of a linear program in which pods and nodes may be parted.

    y[g, p]   pods of group g in place p;   n[p]   nodes of it
    sum over g of share[g, p, r] x y[g, p] <= n[p]       for each resource
    y[g, p] <= cap[p, g] x n[p]                          where fewer pods may be there than fit

They are near those of the patterns, which are whole pods on whole nodes. What is missing in a row
may be bought dearly, so that there are prices even if there is no set of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from ortools.math_opt.python import mathopt  # type: ignore[import-untyped]  # ships no types

from planner.cluster.topology import IntArray
from planner.solver.model.math_opt import linear_optimum, proto_of
from planner.solver.model.program import FREE, Program
from planner.solver.scale_up.master_problem import missing_cost
from planner.solver.scale_up.places import Places

WHOLE = 1_000_000
"""What a node has of each resource."""
FAR = 1 << 30
MANY = 3_000
"""Groups times places, above which places of different domains are one."""


@dataclass(frozen=True)
class First:
    """The price of each row and node row, in units of the cost, and the nodes of each place."""

    duals: list[float]
    nodes: list[float]


def first_prices(places: Places) -> First | None:
    """The optimum of the linear program; None if GLOP gives up.

    Where there are many places, those that differ only in their domains are one, and rows over
    some of these have no price.
    """
    merged, alike = _merged(places)
    found = _solved(merged)
    if found is None:
        return None
    nodes = [0.0] * len(places.cost)
    for each, amount in zip(alike, found.nodes, strict=True):
        for p in each:
            nodes[p] = amount / len(each)
    return First(found.duals, nodes)


def _merged(places: Places) -> tuple[Places, list[list[int]]]:
    """One place for all that are alike; which these are."""
    alike = places.alike()
    few = len(alike) * len(places.groups) <= MANY
    alike = alike if few else places.alike(domains=False)
    first = [each[0] for each in alike]
    rows = (
        replace(row, places=row.places[first])
        if few or row.places.all()
        else replace(row, places=row.places[first], lower=None, upper=None)
        for row in places.rows
    )
    merged = replace(
        places,
        cost=places.cost[first],
        least=places.least[first],
        most=tuple(places.most[p] for p in first),
        free=places.free[first],
        cap=places.cap[first],
        rows=tuple(rows),
        node_rows=tuple(replace(row, each=row.each[first]) for row in places.node_rows),
    )
    return merged, alike


def _solved(places: Places) -> First | None:
    program = Program()
    pairs = np.argwhere(places.cap > 0)
    place, group = pairs.T
    y = program.add_columns(np.zeros(len(pairs), np.int64), np.full(len(pairs), FAR))
    most = np.array([FAR if n is None else n for n in places.most], np.int64)
    nodes = program.add_columns(places.least, np.maximum(most, places.least))
    upper = np.array(places.extra, np.int64)
    extra = program.add_columns(np.zeros(len(upper), np.int64), upper)
    ends = [(row.lower, row.upper) for row in places.rows]
    ends += [(row.lower, row.upper) for row in places.node_rows]
    rows = program.add_rows(
        np.array([-FREE if low is None else float(low) for low, _ in ends]),
        np.array([FREE if high is None else float(high) for _, high in ends]),
    )
    for r, row in enumerate(places.rows):
        if row.lower is None and row.upper is None:
            continue
        inside = row.places[place] & np.isin(group, row.groups)
        program.enter(rows[r], y[inside], row.weight)
        for number, amount in row.extra.items():
            program.enter(rows[r], extra[[number]], amount)
    for r, node_row in enumerate(places.node_rows, start=len(places.rows)):
        used = np.flatnonzero(node_row.each)
        program.enter(rows[r], nodes[used], node_row.each[used])
    _room(program, places, y, nodes)
    needed = rows[[r for r, (lower, _) in enumerate(ends) if lower is not None and lower > 0]]
    missing = program.add_columns(np.zeros(len(needed), np.int64), np.full(len(needed), FAR))
    program.enter(needed, missing, 1)
    cost = np.zeros(program.columns, np.int64)
    cost[nodes], cost[missing] = places.cost, int(missing_cost(places))
    proto = proto_of(program.matrix(), cost, np.zeros(len(cost), np.bool_))
    model = mathopt.Model.from_model_proto(proto)
    result = linear_optimum(mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP))
    if result is None or not result.has_dual_feasible_solution():
        return None
    made = list(model.linear_constraints())[: len(ends)]
    values = result.variable_values(list(model.variables())[len(y) : len(y) + len(nodes)])
    return First([float(dual) for dual in result.dual_values(made)], [float(n) for n in values])


def _room(program: Program, places: Places, y: IntArray, nodes: IntArray) -> None:
    place, group = np.argwhere(places.cap > 0).T
    for resource in range(places.request.shape[1]):
        asked = places.request[group, resource]
        free = np.maximum(places.free[place, resource], 1)
        rows = program.add_rows(np.full(len(nodes), -FREE), np.zeros(len(nodes)))
        program.enter(rows[place], y, asked * WHOLE // free)
        program.enter(rows, nodes, -WHOLE)
    fitting = np.full(len(place), FAR)
    for resource in range(places.request.shape[1]):
        asked = np.maximum(places.request[group, resource], 1)
        fits = np.where(
            places.request[group, resource] > 0, places.free[place, resource] // asked, FAR
        )
        fitting = np.minimum(fitting, fits)
    fewer = np.flatnonzero(places.cap[place, group] < fitting)
    rows = program.add_rows(np.full(len(fewer), -FREE), np.zeros(len(fewer)))
    program.enter(rows, y[fewer], 1)
    program.enter(rows, nodes[place[fewer]], -places.cap[place[fewer], group[fewer]])
