"""The best choice of clusters, by CP-SAT.

One integer per class of interchangeable clusters. Per constraint, `low` and `high` enclose the
counts of all its domains; DoNotSchedule means high - low <= maxSkew in the end, however the choice
is reached. The levels of `measures` are solved one after the other, each fixed for the next.
Clusters with a current binding may stay even if the filters would refuse them now, as in Fleet.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from planner.fleet.bounds import least_skew_alone, most_alone
from planner.fleet.classes import chosen, classes, numbers_of
from planner.fleet.measures import Measures, measure
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, Topology
from planner.solver.cp_sat import cp_model

TIME_LIMIT = 60.0
TIE_BREAK = "skew"
TIE_BREAK_EFFORT = 0.5
"""In the solver's own unit of work: the same input gives the same clusters on any machine."""


class Level(NamedTuple):
    """One level of the result, and how good it could be at best; without a bound nothing is known.

    Levels on which no two choices differ are left out.
    """

    name: str
    value: int
    bound: int | None


@dataclass(frozen=True)
class Optimum:
    """The best clusters there are."""

    picked: tuple[int, ...]
    measures: Measures
    levels: tuple[Level, ...]

    @property
    def proven(self) -> bool:
        """Whether nothing is better; the remaining skew only chooses among equals."""
        return all(level.value == level.bound for level in self.levels if level.name != TIE_BREAK)


class _Aim(NamedTuple):
    """An expression to make as large or as small as possible, for a level of `Measures`.

    The level's value is the expression's, or with `offset` what it lacks of that.
    """

    level: str
    expression: Any
    largest: bool
    offset: int | None = None


class _Answer(NamedTuple):
    value: int
    bound: int


def find_optimum(
    setting: Setting, greedy: Collection[int] = (), time_limit: float = TIME_LIMIT
) -> Optimum:
    """The best choice for a PickN placement; Fleet's own if nothing is better."""
    model = _Model(setting, setting.candidates, setting.topologies)
    model.hint(numbers_of(model.groups, set(greedy)))
    start = measure(setting, greedy)
    bounds = _solve_levels(model, start, len(setting.existing), time.monotonic() + time_limit)
    picked = chosen(model.groups, model.numbers)
    if start.rank <= measure(setting, picked).rank:
        picked = tuple(sorted(greedy))
    measures = measure(setting, picked)
    values = measures._asdict()
    levels = tuple(Level(name, values[name], bound) for name, bound in bounds.items())
    return Optimum(picked, measures, levels)


def _solve_levels(
    model: _Model, start: Measures, existing: int, deadline: float
) -> dict[str, int | None]:
    """Each level's bound, and `model.numbers` the best there is; `start` may spare the first."""
    bounds: dict[str, int | None] = {}
    for aim in model.aims(existing):
        enough = not start.excess and start.clusters == model.most
        if aim.level == "clusters" and enough:
            answer: _Answer | None = _Answer(start.clusters, start.clusters)
        else:
            answer = model.best(aim, deadline)
        bounds[aim.level] = None if answer is None else _bound(aim, answer)
        if answer is not None:
            model.fix(aim, answer.value)
            if aim.level == "clusters":
                model.tighten_skews(answer.value)
    return bounds


def _bound(aim: _Aim, answer: _Answer) -> int:
    return answer.bound if aim.offset is None else aim.offset - answer.bound


def most_clusters(
    setting: Setting,
    candidates: Iterable[int],
    topologies: Sequence[Topology],
    time_limit: float = TIME_LIMIT,
) -> int | None:
    """How many of the wanted clusters can be picked under these rules alone; None if unproven."""
    model = _Model(setting, tuple(candidates), topologies)
    aim = _Aim("clusters", model.total, largest=True)
    answer = model.best(aim, time.monotonic() + time_limit)
    return answer.value if answer is not None and answer.value == answer.bound else None


class _Model:
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

    def aims(self, existing: int) -> list[_Aim]:
        """What is optimised, in this order; what can't differ is left out."""
        soft = [place for place, t in enumerate(self._splitting) if not t.constraint.hard]
        affinities = [group.affinity for group in self.groups]
        found = [_Aim("clusters", self.total, largest=True)]
        if soft:
            over = cp_model.LinearExpr.sum([self._over(place) for place in soft])
            found.append(_Aim("soft_excess", over, largest=False))
        if len(set(affinities)) > 1:
            weighted = cp_model.LinearExpr.weighted_sum(self._y, affinities)
            found.append(_Aim("affinity", weighted, largest=True))
        if existing:
            kept = cp_model.LinearExpr.weighted_sum(
                self._y, [int(group.existing) for group in self.groups]
            )
            found.append(_Aim("changes", kept, largest=True, offset=existing))
        if self.skews:
            total = cp_model.LinearExpr.sum(self.skews)
            found.append(_Aim("skew", total, largest=False))
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

    def hint(self, numbers: Sequence[int]) -> None:
        """Start from so many of each class; it need not be legal."""
        self._model.clear_hints()  # type: ignore[no-untyped-call]  # ortools has no types here
        for variable, number in zip(self._y, numbers, strict=True):
            self._model.add_hint(variable, number)

    def fix(self, aim: _Aim, value: int) -> None:
        """The next levels must not give this value up."""
        self._model.add(aim.expression == value)

    def best(self, aim: _Aim, deadline: float) -> _Answer | None:
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
        return _Answer(round(solver.objective_value), round(solver.best_objective_bound))
