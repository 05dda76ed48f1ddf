"""The cheapest nodes where a few running pods may move as well.

The model of `exact` with cells for running pods that may move, of which at most so many leave their
nodes. Then

    minimise  sum of cost x u,  then the number of nodes,  and after that the pods that leave

Rules are judged at the moment of landing here, too: whatever kube-scheduler does after so many
evictions, in whatever order, obeys what the model asks for. So its least cost bounds all of that.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.solver.model.engine import Goal, Outcome
from planner.solver.model.linear import Linear, total
from planner.solver.model.objectives import departures
from planner.solver.scale_up.exact import ExactNodes
from planner.solver.scale_up.question import Counts, NodeQuestion


@dataclass(frozen=True)
class CheapestWithMoves:
    """The cheapest set that was found, None if there is none, and how many pods leave for it.

    No set that was not cut off costs less than `bound`. `complete` says that it is the cheapest, or
    that there is none; `fewest` that no set of its cost and nodes does with fewer moves.
    """

    counts: Counts | None
    moves: int
    bound: int
    complete: bool
    fewest: bool = False


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

    def cheapest(self, limit: float, for_moves: float) -> CheapestWithMoves:
        """The cheapest set that was not cut off, with so much time, and few moves for it.

        What may be spent on these is another limit: they matter once the cost is known.
        """
        found = self._optimise(Goal(self._goal(), maximise=False), limit)
        bound = max(0, found.bound) // self._weight
        if found.values is None:
            return CheapestWithMoves(None, 0, bound, found.complete)
        fewer = self._fewest(self._goal().value(found.values), min(limit, for_moves))
        values = found.values if fewer.values is None else fewer.values
        counts = self._counts(values)
        cost, moves = self._question.cost(counts), self._leaving.value(values)
        bound = cost if found.complete else min(bound, cost)
        fewest = found.complete and fewer.complete
        return CheapestWithMoves(counts, moves, bound, found.complete, fewest)

    def _fewest(self, worth: int, limit: float) -> Outcome:
        """The fewest moves of sets that cost no more; later searches may cost more again."""
        here = self._model.literal()
        self._model.at_most(self._goal(), worth, (here,))
        elsewhere = Linear([here], [-1 - self._most], 1 + self._most)
        self._hint = [(v, value) for v, value in self._hint if v != here] + [(here, 1)]
        return self._optimise(Goal(self._leaving.plus(elsewhere), maximise=False), limit)
