"""InterPodAffinity, of pods that run already: who is together with a pod it should be apart from.

A running pod in one domain with another that its own required anti-affinity is about counts one,
however many terms and pods there are. Terminating pods are leaving: they break nothing and nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.inter_pod_affinity import Term, apart


def excess(model: Model) -> Linear:
    """Running pods that share a domain with one that their anti-affinity is about, each once."""
    offenders = _Offenders(model)
    for term in apart(model.problem.cluster, model.present):
        _count_together(model, term, offenders)
    return offenders.total


class _Offenders:
    """Pods that count if a literal says that they are not alone; each once, however many do."""

    def __init__(self, model: Model) -> None:
        self.total = Linear()
        self._model = model
        self._decided: dict[int, int] = {}
        self._fixed: dict[tuple[int, int], int] = {}

    def add(self, group: int, here: BoolArray, together: int) -> None:
        """Count the pods of the group on these nodes, if `together` is true."""
        cells = self._model.of(group)
        inside = here[cells.nodes]
        for y, upper in zip(cells.y[inside].tolist(), cells.upper[inside].tolist(), strict=True):
            if y not in self._decided:
                self._decided[y] = self._model.integer(0, upper)
                self.total.add(self._decided[y])
            self._model.at_most(Linear([y, self._decided[y]], [1, -1]), 0, (together,))
        fixed = self._model.fixed_of(group, terminating=False)
        for node, count in zip(fixed.nodes.tolist(), fixed.counts.tolist(), strict=True):
            if here[node]:
                self._add_fixed((group, node), count, together)

    def _add_fixed(self, place: tuple[int, int], count: int, together: int) -> None:
        if place not in self._fixed:
            self._fixed[place] = self._model.literal()
            self.total.add(self._fixed[place], count)
        self._model.at_most(Linear([together, self._fixed[place]], [1, -1]))


@dataclass(frozen=True, eq=False)
class _Counted:
    """Pods of some groups per domain, without those that are terminating."""

    decided: list[Linear]
    fixed: IntArray
    now: IntArray

    @classmethod
    def of(cls, model: Model, groups: Sequence[int], topology: Topology) -> _Counted:
        domain_of, size = topology.domain_of, len(topology.domains)
        fixed = model.fixed_by_domain(groups, domain_of, size, terminating=False)
        now = fixed + model.now_by_domain(groups, domain_of, size)
        return cls(model.by_domain(groups, domain_of, size), fixed, now)


def _count_together(model: Model, term: Term, offenders: _Offenders) -> None:
    """Only where pods are together now can they be so in the end, unless --relax lets them land."""
    topology = model.problem.cluster.topology(term.key)
    others = [g for g in term.about.tolist() if g != term.group]
    itself = len(others) < len(term.about)
    own = _Counted.of(model, (term.group,), topology)
    rivals = _Counted.of(model, others, topology)
    crowded = (own.now > 0) & (rivals.now > 0)
    if itself:
        crowded |= own.now > 1
    if model.problem.options.relax:
        crowded[:] = True
    for domain in np.flatnonzero(crowded).tolist():
        together = model.literal()
        alone = (-together - 1,)
        if rivals.fixed[domain] or (itself and own.fixed[domain] > 1):
            model.any_of([together])
        if rivals.decided[domain].vars:
            model.at_most(rivals.decided[domain], 0, alone)
        if itself and own.decided[domain].vars:
            model.at_most(own.decided[domain], max(0, 1 - int(own.fixed[domain])), alone)
        offenders.add(term.group, topology.domain_of == domain, together)
