"""The best choice of clusters, whatever the order in which Fleet would pick them.

How good a choice is, level by level, the first that differs decides:

1. `excess`: how far DoNotSchedule constraints are above their maxSkew, added up; 0 in the optimum
2. `clusters`: how many of the wanted clusters are picked
3. `soft_excess`: the same as 1 for ScheduleAnyway, which Fleet, too, ranks above affinity
4. `affinity`: affinity scores, added up
5. `changes`: clusters that have the resources now and lose them
6. `skew`: what is left of unevenness, added up over all constraints

The levels are solved one after the other, each fixed for the next. Clusters with a current binding
may stay even if the filters would refuse them now, as in Fleet.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.fleet.optimum_model import TIE_BREAK, Aim, Answer, OptimumModel
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Topology, skew

TIME_LIMIT = 60.0


class Measures(NamedTuple):
    """The value of each level; `rank` compares them."""

    excess: int
    clusters: int
    soft_excess: int
    affinity: int
    changes: int
    skew: int

    @property
    def rank(self) -> tuple[int, ...]:
        """Smaller is better, the first level that differs decides."""
        return (
            self.excess,
            -self.clusters,
            self.soft_excess,
            -self.affinity,
            self.changes,
            self.skew,
        )


def measure(setting: Setting, picked: Collection[int]) -> Measures:
    """The levels of a choice. No more than wanted count: a surplus is no merit."""
    chosen = set(picked)
    topologies = [topology for topology in setting.topologies if topology.splits]
    excess = [(topology.constraint.hard, topology.excess(chosen)) for topology in topologies]
    return Measures(
        excess=sum(each for hard, each in excess if hard),
        clusters=min(len(chosen), setting.wanted),
        soft_excess=sum(each for hard, each in excess if not hard),
        affinity=sum(setting.affinity[cluster] for cluster in chosen),
        changes=len(setting.existing - chosen),
        skew=sum(skew(topology.counts(chosen)) for topology in topologies),
    )


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


def find_optimum(
    setting: Setting, greedy: Collection[int] = (), time_limit: float = TIME_LIMIT
) -> Optimum:
    """The best choice for a PickN placement; Fleet's own if nothing is better."""
    model = OptimumModel(setting, setting.candidates, setting.topologies)
    model.hint(model.numbers_of(set(greedy)))
    start = measure(setting, greedy)
    bounds = _solve_levels(model, start, len(setting.existing), time.monotonic() + time_limit)
    picked = model.chosen()
    if start.rank <= measure(setting, picked).rank:
        picked = tuple(sorted(greedy))
    measures = measure(setting, picked)
    values = measures._asdict()
    levels = tuple(Level(name, values[name], bound) for name, bound in bounds.items())
    return Optimum(picked, measures, levels)


def _solve_levels(
    model: OptimumModel, start: Measures, existing: int, deadline: float
) -> dict[str, int | None]:
    """Each level's bound, and `model.numbers` the best there is; `start` may spare the first."""
    bounds: dict[str, int | None] = {}
    for aim in model.aims(existing):
        enough = not start.excess and start.clusters == model.most
        if aim.level == "clusters" and enough:
            answer: Answer | None = Answer(start.clusters, start.clusters)
        else:
            answer = model.best(aim, deadline)
        bounds[aim.level] = None if answer is None else _bound(aim, answer)
        if answer is not None:
            model.fix(aim, answer.value)
            if aim.level == "clusters":
                model.tighten_skews(answer.value)
    return bounds


def _bound(aim: Aim, answer: Answer) -> int:
    return answer.bound if aim.offset is None else aim.offset - answer.bound


def most_clusters(
    setting: Setting,
    candidates: Iterable[int],
    topologies: Sequence[Topology],
    time_limit: float = TIME_LIMIT,
) -> int | None:
    """How many of the wanted clusters can be picked under these rules alone; None if unproven."""
    model = OptimumModel(setting, tuple(candidates), topologies)
    aim = Aim("clusters", model.total, largest=True)
    answer = model.best(aim, time.monotonic() + time_limit)
    return answer.value if answer is not None and answer.value == answer.bound else None
