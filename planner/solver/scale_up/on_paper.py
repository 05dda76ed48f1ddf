"""The cheapest arrangement of whole pods on whole nodes that is found near a given one.

A few nodes at a time are solved anew (large neighbourhood search, Shaw 1998): those whose pods pay
least for what they cost, by the prices that prove the bound (`proof`), rather than others. What
nodes lack is all that there is between the bound and a set that meets every row in full. No step
makes the arrangement dearer, and each keeps all rules that are known.
"""

from __future__ import annotations

import random

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.model.program import FloatArray
from planner.solver.scale_up.arrangement import Arrangement, PaperRules
from planner.solver.scale_up.few_nodes import FewNodes
from planner.solver.scale_up.few_nodes_rules import add_rules
from planner.solver.scale_up.master_problem import UNIT
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.proof import pay_of

FEWEST, MOST, LARGEST = 2, 5, 10
"""Nodes that are solved anew at once, and up to how many more of them if nothing gets cheaper."""
PATIENCE = 12
"""Steps without any gain after which one node more is looked at."""
ENOUGH = 150
"""Steps without any gain after which no more is to be hoped for, beside some for each node."""
WORK, HARDER = 4e-3, 4.0
"""CP-SAT's deterministic seconds for each node, and up to how many times as many after long
without any gain."""
WORK_SECONDS, STEP_SECONDS, CELL_SECONDS = 2.0, 3e-3, 8e-6
"""About seconds: for such a second; for a step; and for each pair of a group and a node in it."""
TYPES = 6
"""Offers that are looked at for a node."""
NEAR, ANYWHERE = 0.5, 0.3
"""How often all nodes are of one class, and how often a further node may be of any."""


class OnPaper:
    """The search from one arrangement on; `best` is always the cheapest so far."""

    def __init__(
        self, rules: PaperRules, start: Arrangement, patterns: Patterns | None = None
    ) -> None:
        self.rules, self.best = rules, start
        self.spent = 0.0
        """About seconds, counted in work."""
        self._pay = None if patterns is None else _pay(rules, patterns)
        self._draw = random.Random(0)
        self._steps = self._idle = 0

    @property
    def cost(self) -> int:
        """What its nodes cost."""
        return self.rules.cost(self.best.nodes)

    def improve(self, seconds: float, least: int) -> None:
        """Go on until so much time is spent, no more is to be hoped for, or it costs the least."""
        until = self.spent + seconds
        while self.spent < until and self.cost > least:
            if self._idle > ENOUGH + len(self.best.nodes) or not self._step():
                return

    def _step(self) -> bool:
        """Some nodes anew; False if there is none that may be."""
        chosen, before = self._chosen(), self.cost
        if not chosen:
            return False
        rules, draw = self.rules, self._draw
        classes = [rules.classes[node] for node in self.best.nodes[chosen].tolist()]
        more = [draw.choice(classes)]
        if draw.random() < ANYWHERE:
            more.append(draw.choice([rules.classes[n] for n in self.best.nodes.tolist()]))
        more = [each for each in more if each in rules.offers_of]
        model = FewNodes(rules, self.best, chosen, more, self._some)
        add_rules(model)
        self._steps += 1
        work = WORK * len(chosen) * min(HARDER, 1 + self._idle / PATIENCE / 2)
        found = model.solved(work, self._steps)
        cells = len(model.groups) * (len(chosen) + len(more))
        self.spent += STEP_SECONDS + CELL_SECONDS * cells + WORK_SECONDS * found.work
        self.best = found.found or self.best
        self._idle = 0 if self.cost < before else self._idle + 1
        return True

    def _some(self, offers: list[int]) -> list[int]:
        """Some offers of a class: with fewer to choose from more steps can be made."""
        return offers if len(offers) <= TYPES else sorted(self._draw.sample(offers, TYPES))

    def _chosen(self) -> list[int]:
        """Positions of nodes, those that lack most rather than others."""
        rules, state, draw = self.rules, self.best, self._draw
        left_alone = state.pods[:, sorted(rules.left_alone)].any(axis=1)
        able = np.flatnonzero(~left_alone).tolist()
        if not able:
            return []
        weight = self._lacking()
        order = sorted(able, key=lambda i: -(draw.random() ** (1 / weight[i])))
        first = rules.classes[int(state.nodes[order[0]])]
        alike = [i for i in order if rules.classes[int(state.nodes[i])] == first]
        most = min(LARGEST, MOST + self._idle // PATIENCE)
        some = alike if draw.random() < NEAR and len(alike) >= FEWEST else order
        return sorted(some[: draw.randint(FEWEST, most)])

    def _lacking(self) -> FloatArray:
        """What pods pay too little for each node, as a share of the most that is lacking."""
        rules, state = self.rules, self.best
        cost = np.array([rules.cost_of(node) for node in state.nodes.tolist()], np.float64)
        paid = cost * self._filled() if self._pay is None else self._paid(self._pay)
        lacking = np.where(cost > 0, cost - paid, 0.0).clip(min=0.0)
        share: FloatArray = np.sqrt(lacking / max(1e-9, float(lacking.max(initial=0.0))))
        return np.where(cost > 0, 0.04 + share, 0.1)

    def _paid(self, pay: FloatArray) -> FloatArray:
        offer = np.array([self.rules.offer_of.get(n, 0) for n in self.best.nodes.tolist()])
        paid: FloatArray = (self.best.pods * pay[offer]).sum(axis=1)
        return paid

    def _filled(self) -> FloatArray:
        """How full each node is, on average over the resources that somebody requests."""
        rules, state = self.rules, self.best
        asked = rules.request.any(axis=0)
        used: IntArray = state.pods @ rules.request[:, asked]
        part: FloatArray = (used / np.maximum(rules.free[state.nodes][:, asked], 1)).mean(axis=1)
        return part


def _pay(rules: PaperRules, patterns: Patterns) -> FloatArray | None:
    """By offer and group: what a pod pays, in the unit of the cost."""
    proof, places = patterns.proof, patterns.places
    if proof is None or list(places.groups) != rules.groups:
        return None
    pay: FloatArray = pay_of(places, proof.prices)[: places.offers] / UNIT
    return pay
