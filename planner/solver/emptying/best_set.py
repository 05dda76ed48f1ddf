"""The nodes that can be empty together and are worth the most, in one model with all rules.

    e[n]      whether candidate n is empty in the end
    y[g, n]   pods of group g on node n in the end, as in every model (`model.model`)

    m[g, n] x (1 - e[n]) <= y[g, n] <= upper x (1 - e[n])    on other nodes nobody leaves
    maximise  sum of price[n] x e[n],  then  minimise  sum of pods(n) x e[n]

Emptied nodes are cordoned: to hard spread they are domains with 0 pods, unless it honours taints.
Later they are gone, and so are domains without another node: that matters to minDomains, which
counts domains. Both states have to keep the rules.

Whether kube-scheduler goes along is for the caller to try; sets with which it does not are cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.emptying.room_to_keep import Row
from planner.solver.model.constraints.pod_topology_spread import Spread
from planner.solver.model.engine import Goal, optimise
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.model.objectives import excess
from planner.solver.model.rules import add_rules
from planner.solver.problem.problem import Problem


@dataclass(frozen=True)
class EmptySet:
    """Candidates that can be empty together, by the rules; `bound` is a price that none exceeds."""

    nodes: tuple[int, ...]
    price: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no set is worth more."""
        return self.price == self.bound


class BestEmptySet:
    """The search over one problem, whose movable pods are those on the candidates.

    `prices` are those of the candidates; `broken` is what running pods break now, and no set may
    make it more. `removed` says whether the nodes will be gone, or come back.
    """

    def __init__(
        self, problem: Problem, prices: Mapping[int, int], broken: int, *, removed: bool
    ) -> None:
        self._prices = prices
        self._model = model = Model(problem)
        self._pods = dict.fromkeys(prices, 0)
        for (_, node), pods in problem.movable.items():
            self._pods[node] += len(pods)
        for node in prices:
            model.emptied[node] = model.literal()
        self._leave_or_stay()
        rules = add_rules(model)
        model.at_most(excess(model, rules), broken)
        for spread in rules.spreads if removed else ():
            self._too_few_domains_later(spread)
        self._weight = 1 + sum(self._pods.values())
        self._hint: list[tuple[int, int]] = []
        self._time = problem.options.time_limit

    def best(self) -> EmptySet | None:
        """The best set that was not cut off; None if there is none, or no time to find one."""
        goal = Goal(self._worth(), maximise=True)
        found = optimise(
            self._model,
            goal,
            hint=self._hint,
            limit=max(self._time, 0.1),
            watch=lambda _v, _b: None,
        )
        self._time -= found.time
        if found.values is None:
            return None
        values = found.values
        self._hint = list(enumerate(values))
        nodes = tuple(n for n, literal in sorted(self._model.emptied.items()) if values[literal])
        price = sum(self._prices[node] for node in nodes)
        bound = price if found.complete else max(price, -(-found.bound // self._weight))
        return EmptySet(nodes, price, bound)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit is spent."""
        return self._time <= 0

    def cut_off(self, nodes: Collection[int]) -> None:
        """Exactly this set is no answer; larger and smaller ones may be."""
        chosen = set(nodes)
        literals = self._model.emptied
        self._model.any_of([-v - 1 if node in chosen else v for node, v in literals.items()])

    def cut_off_kind(self, nodes: Collection[int], domain_of: IntArray) -> None:
        """No set with as many nodes of each domain as this one is an answer."""
        model = self._model
        chosen = Counter(int(domain_of[node]) for node in nodes)
        different: list[int] = []
        for domain in sorted({int(domain_of[node]) for node in model.emptied}):
            there = [v for node, v in model.emptied.items() if domain_of[node] == domain]
            count = Linear(there, [1] * len(there))
            fewer, more = model.literal(), model.literal()
            model.at_most(count, chosen[domain] - 1, (fewer,))
            model.at_least(count, chosen[domain] + 1, (more,))
            different += [fewer, more]
        model.any_of(different)

    def keep_room(self, rows: Iterable[Row]) -> None:
        """What has to be there of some nodes, a failure's lost ones not among them.

        A domain of which nothing is left asks for nothing.
        """
        for row in rows:
            nodes = np.flatnonzero(row.nodes).tolist()
            given = self._some_stay(nodes) if row.subject else ()
            for resource in np.flatnonzero(row.needed).tolist():
                left = Linear(constant=int(row.offered[nodes, resource].sum()))
                for node in nodes:
                    if node in self._model.emptied:
                        offered = int(row.offered[node, resource])
                        left.add(self._model.emptied[node], -offered)
                self._model.at_least(left, int(row.needed[resource]), given)

    def _some_stay(self, nodes: Collection[int]) -> tuple[int, ...]:
        """A literal that is true if a node stays; none if that is so in any case."""
        if any(node not in self._model.emptied for node in nodes):
            return ()
        stays = self._model.literal()
        for node in nodes:
            self._model.any_of([stays, self._model.emptied[node]])
        return (stays,)

    def _worth(self) -> Linear:
        worth = Linear()
        for node, literal in self._model.emptied.items():
            worth.add(literal, self._weight * self._prices[node] - self._pods[node])
        return worth

    def _leave_or_stay(self) -> None:
        """All pods of an emptied node leave and none comes; of any other node none leaves."""
        for cells in self._model.cells.values():
            columns = (cells.nodes, cells.y, cells.now, cells.upper)
            for node, y, now, upper in np.column_stack(columns).tolist():
                literal = self._model.emptied.get(node)
                if literal is not None:
                    self._model.at_most(Linear([y, literal], [1, upper]), upper)
                    self._model.at_least(Linear([y, literal], [1, now]), now)

    def _too_few_domains_later(self, spread: Spread) -> None:
        """Where fewer domains are left than minDomains, the minimum is 0 for all of them."""
        wanted = spread.constraint.constraint.min_domains or 1
        if wanted <= 1 or spread.constraint.too_few_domains:
            return
        left = Linear()
        for domain in spread.domains.tolist():
            alive = self._model.domain_stays(spread.constraint.scope, domain)
            if alive is None:
                left.constant += 1
            else:
                left.add(alive)
        few = self._model.literal()
        self._model.at_least(left.plus(Linear([few], [wanted])), wanted)
        for domain in spread.domains.tolist():
            most = spread.constraint.constraint.max_skew
            self._model.at_most(spread.counts[domain], most, (few,))
