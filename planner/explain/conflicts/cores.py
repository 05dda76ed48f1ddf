"""Which facts contradict each other, by the solver: a literal for each of them is assumed.

CP-SAT names assumptions that suffice for a contradiction. The model asks only for what every
sequence of placements has to obey, so a contradiction holds for all of them. What it names is a
first guess: it is shrunk and confirmed on copies of the cluster (see `conflicts`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster import GONE, Cluster
from planner.explain.conflicts.facts import Demands, Fact
from planner.rules.catalogue import cards_of_plugin
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model, RuleName
from planner.solver.model.rules import add_rules
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import build_problem

WORK = 1.0
"""Deterministic time for one question."""


class Cores:
    """The guarded model of a batch, asked again and again with other assumptions."""

    def __init__(self, cluster: Cluster, demands: Demands, facts: Sequence[Fact]) -> None:
        self._facts = tuple(facts)
        wanted = {pod for pods in demands.values() for pod in pods}
        others = [pod for pod in cluster.pending.tolist() if pod not in wanted]
        alone = cluster.with_placement(dict.fromkeys(others, GONE))
        problem = build_problem(alone, SolveOptions(judged="moment"))
        mine = tuple(
            s for s in problem.spreads if any(c.group in problem.waiting for c in s.carriers)
        )
        self._model = Model(replace(problem, spreads=mine), guarded=True)
        add_rules(self._model)
        self._literals: dict[Fact, list[int]] = defaultdict(list)
        self._assume_rules()
        for fact in facts:
            self._literals[fact].append(self._rows_of(fact, demands))

    def _assume_rules(self) -> None:
        """Guards of the solver's own rules; those of nobody's fact always hold."""
        for guard, literal in self._model.guards.items():
            owners = [fact for fact in self._facts if self._stands_for(guard, fact)]
            for fact in owners[:1]:
                self._literals[fact].append(literal)
            if not owners:
                self._model.at_least(Linear([literal], [1]), 1)

    def _stands_for(self, guard: RuleName, fact: Fact) -> bool:
        match guard:
            case ("NodeResourcesFit", resource):
                return fact.resource == resource
            case ("PodTopologySpread", int(number)):
                carriers = self._model.problem.spreads[number].carriers
                return fact.kind == "topologySpread" and any(
                    c.group in fact.groups and c.index == fact.index for c in carriers
                )
            case ("InterPodAffinity", "near", group):
                return fact.kind == "podAffinity" and group in fact.groups
            case ("InterPodAffinity", _, group, _) if fact.kind == "podAntiAffinityOfOthers":
                return group in fact.groups
            case ("InterPodAffinity", _, group, index):
                mine = group in fact.groups and fact.index == index
                return fact.kind == "podAntiAffinity" and mine
            case (str(plugin), *_):
                return fact.kind in {card.kind for card in cards_of_plugin(plugin)}
            case _:
                return False

    def _rows_of(self, fact: Fact, demands: Demands) -> int:
        """What the fact states beside the solver's rules: pods that are wanted, nodes it closes."""
        model, literal = self._model, self._model.literal()
        if fact.workload is not None:
            groups = model.problem.cluster.group_of[list(demands[fact.workload])]
            for group, number in zip(*np.unique(groups, return_counts=True), strict=True):
                model.at_least(model.placed[int(group)], int(number), (literal,))
        for group, blocked in (fact.blocked or {}).items():
            cells = model.of(group)
            shut = cells.y[blocked[cells.nodes]].tolist()
            if shut:
                model.at_most(Linear(shut, [1] * len(shut)), 0, (literal,))
        return literal

    def core(self, kept: Collection[Fact]) -> tuple[Fact, ...] | None:
        """Some of these facts that contradict each other; None if none are found to."""
        owner = {literal: fact for fact in kept for literal in self._literals[fact]}
        proto = self._model.cp.proto
        proto.assumptions.clear()
        proto.assumptions.extend(list(owner))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = WORK
        solver.parameters.catch_sigint_signal = False
        if solver.solve(self._model.cp) != cp_model.INFEASIBLE:
            return None
        found = set(solver.response_proto.sufficient_assumptions_for_infeasibility)
        named = tuple(fact for fact in kept if found.intersection(self._literals[fact]))
        return named or tuple(kept)
