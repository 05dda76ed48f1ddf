"""The cheapest set of whole patterns, of some that are given: CP-SAT says how often each is used.

    x[k]      nodes with pattern k
    y[g, c]   pods of group g in the places of a cell, which are all in the same rows
    y[g, c] <= sum over patterns of the cell of  pods of g x x[k]
    minimise  sum of cost x x

CP-SAT counts in whole numbers: what it says is a proof for all sets that have only such patterns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import improve
from planner.solver.model.linear import Linear
from planner.solver.scale_up.master_problem import Pattern
from planner.solver.scale_up.places import Places

FAR = 1 << 40


@dataclass(frozen=True)
class Whole:
    """Nodes of each place in the cheapest set, if one was found; none costs less than `bound`."""

    nodes: list[int] | None
    bound: int
    complete: bool
    """Whether it is the cheapest, or there is none."""
    work: float


def whole_patterns(places: Places, most: Mapping[Pattern, int], cost: int, work: float) -> Whole:
    """The cheapest set up to a cost, where each pattern is used no more often than that."""
    cp = cp_model.CpModel()
    patterns = list(most)
    for pattern in patterns:
        _variable(cp, most[pattern])
    first = len(patterns)
    for upper in places.extra:
        _variable(cp, upper)
    by_place: dict[int, list[int]] = defaultdict(list)
    for k, (place, _) in enumerate(patterns):
        by_place[place].append(k)
    _pods(cp, places, patterns, first)
    for node_row in places.node_rows:
        chosen = [(k, int(node_row.each[p])) for p, ks in by_place.items() for k in ks]
        _row(cp, [each for each in chosen if each[1]], node_row.lower, node_row.upper)
    for p, limit in enumerate(places.most):
        if limit is not None or places.least[p]:
            _row(cp, [(k, 1) for k in by_place[p]], int(places.least[p]), limit)
    costs = [int(places.cost[place]) for place, _ in patterns]
    _row(cp, list(enumerate(costs)), None, cost)
    found = improve(cp, Linear(list(range(first)), costs), (), work=work, seed=0)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.values is None:
        return Whole(None, cost + 1 if found.complete else 0, found.complete, found.time)
    nodes = [sum(found.values[k] for k in by_place[p]) for p in range(len(places.cost))]
    return Whole(nodes, max(0, found.bound), found.complete, found.time)


def _pods(cp: cp_model.CpModel, places: Places, patterns: list[Pattern], first_extra: int) -> None:
    """Pods of each group in each cell, and the rows over them."""
    entries: list[list[tuple[int, int]]] = [
        [(first_extra + number, amount) for number, amount in row.extra.items()]
        for row in places.rows
    ]
    pods: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for k, (place, each) in enumerate(patterns):
        for group, n in each:
            pods[group].append((place, k, n))
    for group in range(len(places.groups)):
        rows = [r for r, row in enumerate(places.rows) if group in row.groups]
        cells: dict[tuple[bool, ...], list[tuple[int, int]]] = defaultdict(list)
        for place, k, n in pods[group]:
            cells[tuple(bool(places.rows[r].places[place]) for r in rows)].append((k, n))
        most = max((places.rows[r].upper or 0 for r in rows), default=0)
        for inside, room in cells.items():
            y = _variable(cp, most)
            _row(cp, [*room, (y, -1)], 0, None)
            for r, here in zip(rows, inside, strict=True):
                if here:
                    entries[r].append((y, places.rows[r].weight))
    for row, entry in zip(places.rows, entries, strict=True):
        _row(cp, entry, row.lower, row.upper)


def _variable(cp: cp_model.CpModel, upper: int) -> int:
    number = len(cp.proto.variables)
    cp.proto.variables.add().domain.extend((0, upper))
    return number


def _row(
    cp: cp_model.CpModel, entries: list[tuple[int, int]], lower: int | None, upper: int | None
) -> None:
    row = cp.proto.constraints.add()
    row.linear.vars.extend([variable for variable, _ in entries])
    row.linear.coeffs.extend([amount for _, amount in entries])
    ends = -FAR if lower is None else lower, FAR if upper is None else upper
    row.linear.domain.extend(ends)
