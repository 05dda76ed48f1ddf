"""The choice of clusters as a CP-SAT model.

One integer per class of clusters that no rule tells apart. Per constraint, `low` and `high` enclose
the counts of all its domains; DoNotSchedule means high - low <= maxSkew in the end, however the
choice is reached.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, Topology, least_skew_alone, most_alone
from planner.solver.model.cp_sat import cp_model

TIE_BREAK = "skew"
TIE_BREAK_EFFORT = 0.5
"""In the solver's own unit of work: the same input gives the same clusters on any machine."""


@dataclass(frozen=True)
class ClusterClass:
    """Interchangeable clusters, in the order in which Fleet would take them: last name first."""

    domains: tuple[int, ...]
    affinity: int
    existing: bool
    members: tuple[int, ...]


def classes(
    setting: Setting, candidates: Iterable[int], topologies: Sequence[Topology]
) -> tuple[ClusterClass, ...]:
    """The candidates by their domains, affinity score and whether they have the resources now."""
    found: dict[tuple[tuple[int, ...], int, bool], list[int]] = defaultdict(list)
    for cluster in candidates:
        domains = tuple(topology.domain_of[cluster] for topology in topologies)
        found[domains, setting.affinity[cluster], cluster in setting.existing].append(cluster)
    return tuple(
        ClusterClass(*key, members=tuple(sorted(members, reverse=True)))
        for key, members in sorted(found.items())
    )


class Aim(NamedTuple):
    """An expression to make as large or as small as possible, for a level of `Measures`.

    The level's value is the expression's, or with `offset` what it lacks of that.
    """

    level: str
    expression: Any
    largest: bool
    offset: int | None = None


class Answer(NamedTuple):
    """The best value found, and the best possible."""

    value: int
    bound: int


class OptimumModel:
    """The model of one setting, narrowed level by level; `numbers` is its last solution."""

    def __init__(
        self, setting: Setting, candidates: Sequence[int], topologies: Sequence[Topology]
    ) -> None:
        self._candidates = candidates
        self._splitting = [topology for topology in topologies if topology.splits]
        self.groups = classes(setting, candidates, self._splitting)
        self.numbers: tuple[int, ...] = (0,) * len(self.groups)
        self._size = sum(len(group.members) for group in self.groups)
        self._model = cp_model.CpModel()
        self._y = [
            self._model.new_int_var(0, len(group.members), f"y{index}")
            for index, group in enumerate(self.groups)
        ]
        self.total = cp_model.LinearExpr.sum(self._y)
        alone = [most_alone(topology, candidates) for topology in self._splitting]
        self.most = min(setting.wanted, len(candidates), *alone)
        self._model.add(self.total <= self.most)
        self.skews = [self._skew(place) for place in range(len(self._splitting))]

    def _skew(self, place: int) -> Any:
        """`high - low` over the counts of a constraint's domains; at most maxSkew if hard."""
        topology = self._splitting[place]
        members: list[list[Any]] = [[] for _ in topology.domains]
        for group, variable in zip(self.groups, self._y, strict=True):
            if group.domains[place] != OUTSIDE:
                members[group.domains[place]].append(variable)
        low = self._model.new_int_var(0, self._size, f"low{place}")
        high = self._model.new_int_var(0, self._size, f"high{place}")
        for variables in members:
            count = cp_model.LinearExpr.sum(variables)
            self._model.add(low <= count)
            self._model.add(high >= count)
        if topology.constraint.hard:
            self._model.add(high - low <= topology.constraint.max_skew)
        return high - low

    def aims(self, existing: int) -> list[Aim]:
        """What is optimised, in this order; what can't differ is left out."""
        soft = [place for place, t in enumerate(self._splitting) if not t.constraint.hard]
        affinities = [group.affinity for group in self.groups]
        found = [Aim("clusters", self.total, largest=True)]
        if soft:
            over = cp_model.LinearExpr.sum([self._over(place) for place in soft])
            found.append(Aim("soft_excess", over, largest=False))
        if len(set(affinities)) > 1:
            weighted = cp_model.LinearExpr.weighted_sum(self._y, affinities)
            found.append(Aim("affinity", weighted, largest=True))
        if existing:
            kept = cp_model.LinearExpr.weighted_sum(
                self._y, [int(group.existing) for group in self.groups]
            )
            found.append(Aim("changes", kept, largest=True, offset=existing))
        if self.skews:
            total = cp_model.LinearExpr.sum(self.skews)
            found.append(Aim("skew", total, largest=False))
        return found

    def _over(self, place: int) -> Any:
        """A soft constraint's excess."""
        over = self._model.new_int_var(0, self._size, f"over{place}")
        self._model.add(over >= self.skews[place] - self._splitting[place].constraint.max_skew)
        return over

    def tighten_skews(self, number: int) -> None:
        """What so many clusters must differ by, said beforehand; the solver proves it slowly."""
        for topology, skew in zip(self._splitting, self.skews, strict=True):
            self._model.add(skew >= least_skew_alone(topology, self._candidates, number))

    def chosen(self) -> tuple[int, ...]:
        """The clusters that the last solution stands for."""
        picked = (
            cluster
            for group, number in zip(self.groups, self.numbers, strict=True)
            for cluster in group.members[:number]
        )
        return tuple(sorted(picked))

    def numbers_of(self, picked: Collection[int]) -> list[int]:
        """How many of each class are among the picked."""
        return [sum(member in picked for member in group.members) for group in self.groups]

    def hint(self, numbers: Sequence[int]) -> None:
        """Start from so many of each class; it need not be legal."""
        self._model.clear_hints()  # type: ignore[no-untyped-call]  # ortools has no types here
        for variable, number in zip(self._y, numbers, strict=True):
            self._model.add_hint(variable, number)

    def fix(self, aim: Aim, value: int) -> None:
        """The next levels must not give this value up."""
        self._model.add(aim.expression == value)

    def best(self, aim: Aim, deadline: float) -> Answer | None:
        """The best value found and the best possible; None if the time is over before any."""
        if aim.largest:
            self._model.maximize(aim.expression)
        else:
            self._model.minimize(aim.expression)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.random_seed = 0
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
        if aim.level == TIE_BREAK:
            solver.parameters.max_deterministic_time = TIE_BREAK_EFFORT
        status = solver.solve(self._model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        self.numbers = tuple(solver.value(variable) for variable in self._y)
        self.hint(self.numbers)
        return Answer(round(solver.objective_value), round(solver.best_objective_bound))
