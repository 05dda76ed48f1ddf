"""How good a choice of clusters is, level by level.

1. `excess`: how far DoNotSchedule constraints are above their maxSkew, added up; 0 in the optimum
2. `clusters`: how many of the wanted clusters are picked
3. `soft_excess`: the same as 1 for ScheduleAnyway, which Fleet, too, ranks above affinity
4. `affinity`: affinity scores, added up
5. `changes`: clusters that have the resources now and lose them
6. `skew`: what is left of unevenness, added up over all constraints
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from planner.fleet.setting import Setting
from planner.fleet.topology_spread import skew


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
