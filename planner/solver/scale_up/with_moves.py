"""The cheapest nodes where a few running pods may move as well.

The model of `exact` with cells for running pods that may move, of which at most so many leave their
nodes. Then

    minimise  sum of cost x u,  then the number of nodes,  then the pods that leave

Rules are judged at the moment of landing here, too: whatever kube-scheduler does after so many
evictions, in whatever order, obeys what the model asks for. So its least cost bounds all of that.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.model.engine import Goal
from planner.solver.model.linear import Linear, total
from planner.solver.model.objectives import departures
from planner.solver.scale_up.exact import ExactNodes
from planner.solver.scale_up.question import Counts, NodeQuestion


@dataclass(frozen=True)
class CheapestWithMoves:
    """The cheapest set that was found, None if there is none, and how many pods leave at least.

    No set that was not cut off costs less than `bound`. `complete` says that it is the cheapest,
    by the fewest moves, or that there is none.
    """

    counts: Counts | None
    moves: int
    bound: int
    complete: bool


class NodesAndMoves(ExactNodes):
    """The search over one question; its problem says who may move."""

    def __init__(self, question: NodeQuestion, most: int) -> None:
        super().__init__(question)
        self._leaving = total(departures(self._model, g) for g in self._model.cells)
        self._most = most
        self._model.at_most(self._leaving, most)

    def below(self, cost: int, nodes: int) -> None:
        """Only sets that cost less, or as much with fewer nodes."""
        self._model.at_most(self._goal(), self._weight * cost + nodes - 1)

    def cheapest(self, limit: float) -> CheapestWithMoves:
        """The cheapest set that was not cut off, with so much time."""
        weight = 1 + self._most
        goal = Linear().plus(self._goal(), weight).plus(self._leaving)
        found = self._optimise(Goal(goal, maximise=False), limit)
        bound = max(0, found.bound) // weight // self._weight
        if found.values is None:
            return CheapestWithMoves(None, 0, bound, found.complete)
        counts = self._counts(found.values)
        cost, moves = self._question.cost(counts), self._leaving.value(found.values)
        bound = cost if found.complete else min(bound, cost)
        return CheapestWithMoves(counts, moves, bound, found.complete)
