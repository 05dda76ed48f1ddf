"""The cheapest set of whole patterns, of some that are given: CP-SAT says how often each is used.

    x[k]      nodes with pattern k
    y[g, c]   pods of group g in the places of a cell, which are all in the same rows
    y[g, c] <= sum over patterns of the cell of  pods of g x x[k]
    minimise  sum of cost x x

CP-SAT counts in whole numbers: what it says is a proof for all sets that have only such patterns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.solver.model.cp_sat import cp_model
from planner.solver.model.engine import Outcome, improve
from planner.solver.model.linear import Linear
from planner.solver.scale_up.master_problem import Pattern
from planner.solver.scale_up.places import Places

FAR = 1 << 40


@dataclass(frozen=True)
class Whole:
    """Nodes of each place in a set, if one was found; no set costs less than `bound`."""

    nodes: list[int] | None
    bound: int
    complete: bool
    """Whether it is what was looked for, or there is none."""
    work: float


class WholePatterns:
    """The model of sets up to a cost, where each pattern is used no more often than it says."""

    def __init__(self, places: Places, most: Mapping[Pattern, int], cost: int) -> None:
        self._cp = cp = cp_model.CpModel()
        self._patterns = patterns = list(most)
        self._cost = cost
        for pattern in patterns:
            _variable(cp, most[pattern])
        for upper in places.extra:
            _variable(cp, upper)
        self._by_place: list[list[int]] = [[] for _ in places.cost]
        for k, (place, _) in enumerate(patterns):
            self._by_place[place].append(k)
        _pods(cp, places, patterns)
        for node_row in places.node_rows:
            used = zip(node_row.each.tolist(), self._by_place, strict=True)
            entries = [(k, each) for each, mine in used if each for k in mine]
            _row(cp, entries, node_row.lower, node_row.upper)
        for p, limit in enumerate(places.most):
            if limit is not None or places.least[p]:
                _row(cp, [(k, 1) for k in self._by_place[p]], int(places.least[p]), limit)
        self._costs = [int(places.cost[place]) for place, _ in patterns]
        self._offers = places.offers
        self._reached: dict[tuple[int, int], int] = {}
        self._hint: list[tuple[int, int]] = []
        self.within(None, cost)

    @property
    def patterns(self) -> int:
        """How many there are."""
        return len(self._patterns)

    def within(self, lower: int | None, upper: int) -> None:
        """Only sets of such a cost."""
        self._cost = min(self._cost, upper)
        _row(self._cp, list(enumerate(self._costs)), lower, self._cost)

    def cheapest(self, work: float) -> Whole:
        """The cheapest set that was not cut off."""
        found = self._solved(Linear(list(range(len(self._costs))), self._costs), work)
        if found.values is None:
            bound = self._cost + 1 if found.complete else 0
            return Whole(None, bound, found.complete, found.time)
        return Whole(self._nodes(found.values), max(0, found.bound), found.complete, found.time)

    def any(self, work: float) -> Whole:
        """Some set that was not cut off."""
        found = self._solved(Linear(), work)
        nodes = None if found.values is None else self._nodes(found.values)
        bound = self._cost + 1 if found.complete and nodes is None else 0
        return Whole(nodes, bound, found.complete, found.time)

    def cut_off(self, nodes: Sequence[int]) -> None:
        """Exactly these nodes of the offers are no answer."""
        clause = self._cp.proto.constraints.add()
        for place, mine in enumerate(self._by_place[: self._offers]):
            if mine:
                clause.bool_or.literals.append(self._at_least(place, nodes[place] + 1))
                if nodes[place]:
                    clause.bool_or.literals.append(-self._at_least(place, nodes[place]) - 1)

    def _at_least(self, place: int, nodes: int) -> int:
        """Whether a place has so many nodes, as a literal."""
        key = place, nodes
        if key not in self._reached:
            literal = self._reached[key] = _variable(self._cp, 1)
            entries = [(k, 1) for k in self._by_place[place]]
            _row(self._cp, entries, nodes, None, only_if=literal)
            _row(self._cp, entries, None, nodes - 1, only_if=-literal - 1)
        return self._reached[key]

    def _solved(self, cost: Linear, work: float) -> Outcome:
        found = improve(self._cp, cost, self._hint, work=work, seed=0)
        if found.interrupted:
            raise KeyboardInterrupt
        if found.values is not None:
            self._hint = list(enumerate(found.values))
        return found

    def _nodes(self, values: list[int]) -> list[int]:
        return [sum(values[k] for k in mine) for mine in self._by_place]


def _pods(cp: cp_model.CpModel, places: Places, patterns: list[Pattern]) -> None:
    """Pods of each group in each cell, and the rows over them."""
    first_extra = len(patterns)
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
    cp: cp_model.CpModel,
    entries: list[tuple[int, int]],
    lower: int | None,
    upper: int | None,
    only_if: int | None = None,
) -> None:
    row = cp.proto.constraints.add()
    if only_if is not None:
        row.enforcement_literal.append(only_if)
    row.linear.vars.extend([variable for variable, _ in entries])
    row.linear.coeffs.extend([amount for _, amount in entries])
    ends = -FAR if lower is None else lower, FAR if upper is None else upper
    row.linear.domain.extend(ends)
