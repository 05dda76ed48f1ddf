"""The cheapest nodes by all rules in one model.

    u[n]      whether the offered node n is added; of nodes that are alike, the first ones are
    y[g, n]   pods of group g that land on node n, as in every model (`model.model`)

    sum over g of request[g, r] x y[g, n] <= free[n, r] x u[n]
    sum over n of y[g, n] >= goal[g]
    minimise  sum of cost x u,  then the number of nodes

A node that is not added is no domain of any rule, and a zone is one with its first node. Rules are
judged at the moment of landing: no order of landings can do without what the model asks for, so its
least cost bounds every set of nodes that kube-scheduler fills. Whether it fills a given one is for
the caller to try; sets with which it does not are cut off.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.solver.model.engine import Goal, Outcome, optimise
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.model.rules import add_rules
from planner.solver.scale_up.question import Counts, NodeQuestion


@dataclass(frozen=True)
class CheapestNodes:
    """The cheapest set that was found, None if there is none; no set costs less than `bound`.

    Sets that were cut off do not count. `complete` says that it is the cheapest, or that there is
    none.
    """

    counts: Counts | None
    bound: int
    complete: bool


class ExactNodes:
    """The search over one question; with `everybody`, all of the goal has to run."""

    def __init__(self, question: NodeQuestion, *, everybody: bool = True) -> None:
        self._question = question
        self._model = model = Model(question.problem)
        model.emptied_are_gone = True
        self._added = [[model.literal() for _ in offer.nodes] for offer in question.offers]
        literals = {
            node: literal
            for offer, added in zip(question.offers, self._added, strict=True)
            for node, literal in zip(offer.nodes, added, strict=True)
        }
        for node, literal in literals.items():
            model.emptied[node] = -literal - 1
        self._limits()
        self._only_where_added(literals)
        add_rules(model)
        if everybody:
            for group, pods in question.goal.items():
                model.at_least(model.placed[group], pods)
        self._weight = 1 + len(literals)
        self._hint: list[tuple[int, int]] = []
        self.time = 0.0
        """What the calls so far took, in the unit of the time limit."""

    def best(self, limit: float) -> CheapestNodes:
        """The cheapest set that was not cut off, with so much time."""
        found = self._optimise(Goal(self._goal(), maximise=False), limit)
        bound = max(0, found.bound) // self._weight
        if found.values is None:
            return CheapestNodes(None, bound, found.complete)
        counts = self._counts(found.values)
        cost = self._question.cost(counts)
        return CheapestNodes(counts, cost if found.complete else min(bound, cost), found.complete)

    def most_running(self, limit: float) -> Counts | None:
        """Nodes with which most of the goal run, by priority, for the least cost.

        None if there is no time to find some.
        """
        groups = self._question.problem.cluster.groups
        by_priority: dict[int, Linear] = defaultdict(Linear)
        for group, pods in self._question.goal.items():
            running = self._model.integer(0, pods)
            self._model.at_least(self._model.placed[group].plus(Linear([running], [-1])))
            by_priority[groups[group].priority].add(running)
        for _, placed in sorted(by_priority.items(), reverse=True):
            found = self._optimise(Goal(placed, maximise=True), limit)
            if found.values is None:
                return None
            self._model.at_least(placed, placed.value(found.values))
        return self.best(limit).counts

    def cut_off(self, counts: Counts) -> None:
        """Exactly these nodes are no answer; more or fewer of any offer may be."""
        different = []
        for added, count in zip(self._added, counts, strict=True):
            if count:
                different.append(-added[count - 1] - 1)
            if count < len(added):
                different.append(added[count])
        self._model.any_of(different)

    def at_least(self, cost: int) -> None:
        """It is known that no set costs less."""
        self._model.at_least(self._cost(), cost)

    def _optimise(self, goal: Goal, limit: float) -> Outcome:
        found = optimise(self._model, goal, hint=self._hint, limit=limit, watch=_unheard)
        self.time += found.time
        if found.interrupted:
            raise KeyboardInterrupt
        if found.values is not None:
            self._hint = list(enumerate(found.values))
        return found

    def _counts(self, values: list[int]) -> Counts:
        return tuple(sum(values[literal] for literal in added) for added in self._added)

    def _cost(self, weight: int = 1, each: int = 0) -> Linear:
        result = Linear()
        for offer, added in zip(self._question.offers, self._added, strict=True):
            for literal in added:
                result.add(literal, weight * offer.cost + each)
        return result

    def _goal(self) -> Linear:
        """Any cost outweighs all nodes that could be added."""
        return self._cost(self._weight, 1)

    def _limits(self) -> None:
        """Of nodes that are alike the first ones are added: at least, at most, in this order."""
        for offer, added in zip(self._question.offers, self._added, strict=True):
            for i, literal in enumerate(added):
                if i < offer.least:
                    self._model.any_of([literal])
                if offer.most is not None and i >= offer.most:
                    self._model.any_of([-literal - 1])
            for first, second in pairwise(added):
                self._model.any_of([first, -second - 1])
        for offers in self._question.opened:
            self._model.any_of([self._added[i][0] for i in offers if self._added[i]])
        for most, each in self._question.shared_limits:
            reached = Linear()
            for amount, added in zip(each, self._added, strict=True):
                for literal in added:
                    reached.add(literal, amount)
            self._model.at_most(reached, most)

    def _only_where_added(self, literals: dict[int, int]) -> None:
        """Nothing lands on other nodes; in this form room alone makes a bound as good as sums."""
        problem, model = self._question.problem, self._model
        used: dict[tuple[int, int], Linear] = defaultdict(Linear)
        for group, cells in model.cells.items():
            requests = [(r, int(n)) for r, n in enumerate(problem.requests[group]) if n]
            for node, y, upper in np.column_stack((cells.nodes, cells.y, cells.upper)).tolist():
                if node in literals:
                    model.at_most(Linear([y, literals[node]], [1, -upper]))
                    for resource, request in requests:
                        used[node, resource].add(y, request)
        free = problem.allocatable - problem.fixed_used
        for (node, resource), row in used.items():
            unit = math.gcd(*row.coeffs)
            small = Linear(row.vars, [n // unit for n in row.coeffs])
            small.add(literals[node], -(int(free[node, resource]) // unit))
            model.at_most(small)


def _unheard(best: int, bound: int) -> None:
    """Nobody watches single steps."""
