"""NodeResourcesFit: what the pods of a node request stays within what it offers.

    used[n, r] = fixed[n, r] + sum over g of requests[g, r] x y[g, n]
    used[n, r] <= allocatable[n, r]   wherever a pod that asks for r lands
    used[n, r] <= used now            elsewhere: an overcommitted node doesn't get worse

`pods` is a resource like the others: every pod asks for one.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.cells import NONE


def add(model: Model) -> None:
    """One row per node and resource that could run short."""
    for resource, name in enumerate(model.problem.cluster.resources.names):
        with model.rule("NodeResourcesFit", name):
            _add_resource(model, resource)


def _add_resource(model: Model, resource: int) -> None:
    problem = model.problem
    offered = problem.allocatable[:, resource].tolist()
    fixed = problem.fixed_used[:, resource].tolist()
    used: dict[int, Linear] = defaultdict(Linear)
    arrivals: dict[int, Linear] = defaultdict(Linear)
    now: dict[int, int] = defaultdict(int)
    for group, cells in model.cells.items():
        request = int(problem.requests[group, resource])
        if request == 0:
            continue
        columns = (cells.nodes, cells.y, cells.arrivals, cells.now)
        for node, y, arrived, here in np.column_stack(columns).tolist():
            used[node].add(y, request)
            now[node] += here * request
            if arrived != NONE:
                arrivals[node].add(arrived)
    for node, expression in used.items():
        expression.constant = fixed[node]
        model.shared(expression, arrivals[node], offered[node], fixed[node] + now[node])
