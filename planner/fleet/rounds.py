"""Fleet's cycles for PickN: greedy, never looking back.

The best by rank is picked: spread first, then affinity, then whether an earlier policy had picked
the cluster; of equals the lexicographically largest name wins. Without spread constraints one cycle
picks all; with them every cycle picks one, because every pick changes the scores.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from planner.fleet.binding_count import BindingCount
from planner.fleet.setting import Domains, Setting
from planner.fleet.topology_spread import (
    OUTSIDE,
    Counts,
    Step,
    Topology,
    one_more_in,
    spread_score,
)
from planner.sources.errors import SourceError


class Score(NamedTuple):
    """Compared field by field, the highest first; `previous` is 1 for a cluster picked before."""

    spread: int = 0
    affinity: int = 0
    previous: int = 0


class Candidate(NamedTuple):
    """A cluster in a cycle: its score, or the hard constraint that refuses it.

    `steps` has, per constraint, what picking the cluster would do; None where it takes no part.
    """

    cluster: int
    score: Score
    steps: tuple[Step | None, ...]
    refused_by: Topology | None = None


@dataclass(frozen=True)
class Round:
    """One cycle: what was picked before it, and what it picked, best first."""

    number: int
    setting: Setting
    before: tuple[int, ...]
    former: frozenset[int]
    chosen: tuple[Candidate, ...]

    @property
    def picked(self) -> tuple[int, ...]:
        """The clusters picked in this cycle."""
        return tuple(candidate.cluster for candidate in self.chosen)

    @property
    def size(self) -> int:
        """How many candidates there are."""
        free = sum(map(len, self.setting.cells.values()))
        return free - len(set(self.before) - self.setting.current)

    @cached_property
    def counts(self) -> tuple[Counts, ...]:
        """Per constraint, the picked clusters in each domain before the cycle."""
        return tuple(topology.counts(self.before) for topology in self.setting.topologies)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every cluster that could be picked, best first, then those that spread refuses."""
        setting, before = self.setting, frozenset(self.before)
        found = [
            _candidate(setting, cluster, judgement, self.former)
            for domains, judgement in judged(setting, self.counts).items()
            for cluster in setting.cells[domains]
            if cluster not in before
        ]
        passed = [each for each in found if each.refused_by is None]
        refused = [each for each in found if each.refused_by is not None]
        passed.sort(key=lambda each: (each.score, each.cluster), reverse=True)
        refused.sort(key=lambda each: each.cluster, reverse=True)
        return (*passed, *refused)


def pick_rounds(setting: Setting, bindings: BindingCount) -> tuple[Round, ...]:
    """Cycles until enough is picked, or a cycle finds less, or more, than it may pick."""
    picked = tuple(sorted(setting.current))
    former = setting.former
    rest = _Rest(setting)
    rounds: list[Round] = []
    while True:
        desired = setting.wanted - bindings.current
        limit = 1 if setting.topologies else desired
        if setting.topologies:
            found = rest.best(former)
        else:
            found = Round(1, setting, picked, former, ()).candidates[:limit]
        rounds.append(Round(len(rounds) + 1, setting, picked, former, found))
        _require_scores(rounds[-1])
        made = sum(bindings.pick(cluster) for cluster in rounds[-1].picked)
        picked += rounds[-1].picked
        # A cycle gives up the obsolete bindings it has not picked: later ones don't prefer them.
        former = frozenset()
        if desired <= limit or made != limit:
            return tuple(rounds)


def _require_scores(cycle: Round) -> None:
    """Fleet fails on a cluster that passes the filters and that it can't score."""
    setting = cycle.setting
    failing = setting.affinity_scores.failing
    for each in cycle.candidates if failing else ():
        if each.refused_by is None and each.cluster in failing:
            raise SourceError(
                "Fleet can't place a property of the cluster between the least and the largest "
                "value of the fleet, and picks none: in floating point it lies outside",
                object=f"MemberCluster {setting.clusters[each.cluster].name}",
                field="status",
                help="write equal amounts alike on all clusters, such as 300m, not also 0.3",
            )


class _Rest:
    """The clusters that are left in each cell, the best last.

    This is the scheduler's state; it changes with every pick.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._counts = [topology.counts(setting.current) for topology in setting.topologies]
        self._cells = {
            domains: sorted(members, key=lambda each: (setting.affinity[each], each))
            for domains, members in setting.cells.items()
        }

    def best(self, former: Collection[int]) -> tuple[Candidate, ...]:
        """The best cluster, which is then picked; none if every one is refused."""
        setting, affinity = self._setting, self._setting.affinity
        best: Candidate | None = None
        for domains, judgement in judged(setting, self._counts).items():
            members = self._cells[domains]
            if not members or judgement.refused_by is not None:
                continue
            top = members[-1]
            if former:
                top = max(members, key=lambda each: (affinity[each], each in former, each))
            found = _candidate(setting, top, judgement, former)
            if best is None or (found.score, top) > (best.score, best.cluster):
                best = found
        if best is None:
            return ()
        self._take(best.cluster)
        return (best,)

    def _take(self, cluster: int) -> None:
        domains = self._setting.domains(cluster)
        self._cells[domains].remove(cluster)
        self._counts = [
            one_more_in(counts, domain)
            for counts, domain in zip(self._counts, domains, strict=True)
        ]


class Judgement(NamedTuple):
    """What spread says of all clusters in a cell; the fields are those of a candidate."""

    steps: tuple[Step | None, ...]
    spread: int
    refused_by: Topology | None


def judged(setting: Setting, counts: Sequence[Counts]) -> dict[Domains, Judgement]:
    """Every cell, with so many clusters picked in the domains of each constraint."""
    topologies = setting.topologies
    steps = [topology.steps(count) for topology, count in zip(topologies, counts, strict=True)]
    found = {}
    for domains in setting.cells:
        own = tuple(
            None if domain == OUTSIDE else each[domain]
            for each, domain in zip(steps, domains, strict=True)
        )
        found[domains] = Judgement(own, *spread_score(topologies, own))
    return found


def _candidate(
    setting: Setting, cluster: int, judgement: Judgement, former: Collection[int]
) -> Candidate:
    score = Score(judgement.spread, setting.affinity[cluster], int(cluster in former))
    return Candidate(cluster, score, judgement.steps, judgement.refused_by)
