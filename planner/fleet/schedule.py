"""Fleet's own scheduler: cycle by cycle, greedy, never looking back.

PickAll takes every cluster that passes the filters, PickFixed the named ones that are eligible.
PickN picks the best by rank, one per cycle as long as there are spread constraints, because every
pick changes the scores. Clusters with a current binding stay picked, whatever the filters say now;
if there are more than wanted, scheduled ones go first, then bound ones, each by the scores they
had when they were picked, of equals the smallest name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from planner.fleet import eligibility
from planner.fleet.ranking import Score, spread_score
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, VIOLATED, Counts, Step, Topology
from planner_models.fleet_binding import Binding

DropReason = Literal["left", "leaving", "scaledDown", "newPolicy"]


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
        before = set(self.before) - self.setting.current
        refused = sum(map(bool, self.setting.refusals))
        kept = sum(not self.setting.refusals[cluster] for cluster in self.setting.current)
        return len(self.setting.clusters) - refused - kept - len(before)

    @cached_property
    def counts(self) -> tuple[Counts, ...]:
        """Per constraint, the picked clusters in each domain before the cycle."""
        return tuple(topology.counts(self.before) for topology in self.setting.topologies)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every cluster that could be picked, best first, then those that spread refuses."""
        candidates = judged(self.setting, frozenset(self.before), self.former, self.counts)
        passed = [each for each in candidates if each.refused_by is None]
        refused = [each for each in candidates if each.refused_by is not None]
        passed.sort(key=lambda each: (each.score, each.cluster), reverse=True)
        return (*passed, *reversed(refused))


class Dropped(NamedTuple):
    """A cluster that loses its binding."""

    name: str
    reason: DropReason


@dataclass(frozen=True)
class Picks:
    """What Fleet arrives at; `missing` has the named clusters PickFixed can't pick, and why."""

    picked: tuple[int, ...]
    rounds: tuple[Round, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()


NOT_FOUND = 'Specified cluster "{name}" is not found'
NOT_ELIGIBLE = 'Cluster "{name}" is not eligible for resource placement yet: {reason}'


def schedule(setting: Setting) -> Picks:
    """The clusters that Fleet picks, and how."""
    match setting.policy.placement_type:
        case "PickAll":
            return _pick_all(setting)
        case "PickFixed":
            return _pick_fixed(setting)
        case "PickN":
            return _pick_n(setting)


def _pick_all(setting: Setting) -> Picks:
    found = [
        index
        for index, refused in enumerate(setting.refusals)
        if not refused and index not in setting.current
    ]
    picked = (*setting.current, *found)
    return Picks(tuple(sorted(picked)), dropped=_dropped(setting, picked))


def _pick_fixed(setting: Setting) -> Picks:
    picked, missing = set(setting.current), []
    for name in setting.policy.cluster_names:
        index = setting.index_of.get(name)
        if index is None:
            missing.append((name, NOT_FOUND.format(name=name)))
            continue
        reason = eligibility.ineligible(setting.clusters[index], setting.now)
        if reason is None or index in setting.current:
            picked.add(index)
        if reason is not None:
            missing.append((name, NOT_ELIGIBLE.format(name=name, reason=reason)))
    return Picks(tuple(sorted(picked)), dropped=_dropped(setting, picked), missing=tuple(missing))


def _pick_n(setting: Setting) -> Picks:
    too_many = len(setting.current) - setting.wanted
    if too_many >= 0:
        gone = _scaled_down(setting, too_many)
        picked = [index for index in setting.current if setting.clusters[index].name not in gone]
        return Picks(tuple(sorted(picked)), dropped=_dropped(setting, picked, gone))
    rounds = _rounds(setting)
    picked = [*setting.current, *(cluster for each in rounds for cluster in each.picked)]
    return Picks(tuple(sorted(picked)), rounds, _dropped(setting, picked))


def _rounds(setting: Setting) -> tuple[Round, ...]:
    """Cycles until enough is picked, or a cycle finds less than it may pick."""
    picked = tuple(sorted(setting.current))
    former = setting.former
    rest = _Rest(setting)
    rounds: list[Round] = []
    while True:
        desired = setting.wanted - len(picked)
        limit = 1 if setting.topologies else desired
        if setting.topologies:
            found = rest.best(former)
        else:
            found = Round(1, setting, picked, former, ()).candidates[:limit]
        rounds.append(Round(len(rounds) + 1, setting, picked, former, found))
        picked += rounds[-1].picked
        # A cycle gives up the obsolete bindings it has not picked: later ones don't prefer them.
        former = frozenset()
        if desired == limit or len(found) < limit:
            return tuple(rounds)


class _Rest:
    """The clusters that are left, by their domains: all in the same domains change the same.

    This is the scheduler's state; it changes with every pick.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        topologies = setting.topologies
        self._counts = [list(topology.counts(setting.current)) for topology in topologies]
        self._cells: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for cluster, refused in enumerate(setting.refusals):
            if not refused and cluster not in setting.current:
                domains = tuple(topology.domain_of[cluster] for topology in topologies)
                self._cells[domains].append(cluster)
        for members in self._cells.values():
            members.sort(key=lambda cluster: (setting.affinity[cluster], cluster))

    def best(self, former: Collection[int]) -> tuple[Candidate, ...]:
        """The best cluster, which is then picked; none if every one is refused."""
        topologies, affinity = self._setting.topologies, self._setting.affinity
        steps = [t.steps(tuple(c)) for t, c in zip(topologies, self._counts, strict=True)]
        best: Candidate | None = None
        for domains, members in self._cells.items():
            own = _own_steps(steps, domains)
            spread, refused_by = spread_score(topologies, own)
            if not members or refused_by is not None:
                continue
            top = members[-1]
            if former:
                top = max(members, key=lambda each: (affinity[each], each in former, each))
            found = Candidate(top, Score(spread, affinity[top], int(top in former)), own)
            if best is None or (found.score, top) > (best.score, best.cluster):
                best = found
        if best is None:
            return ()
        self._take(best.cluster)
        return (best,)

    def _take(self, cluster: int) -> None:
        domains = tuple(topology.domain_of[cluster] for topology in self._setting.topologies)
        self._cells[domains].remove(cluster)
        for counts, domain in zip(self._counts, domains, strict=True):
            if domain != OUTSIDE:
                counts[domain] += 1


def _own_steps(steps: Sequence[Sequence[Step]], domains: Sequence[int]) -> tuple[Step | None, ...]:
    """What picking a cluster of these domains does to each constraint."""
    return tuple(
        None if domain == OUTSIDE else each[domain]
        for each, domain in zip(steps, domains, strict=True)
    )


def judged(
    setting: Setting,
    picked: Collection[int],
    former: Collection[int],
    counts: Sequence[Counts],
) -> list[Candidate]:
    """Every cluster that is not picked and that no other filter refuses, in the order of names."""
    topologies = setting.topologies
    steps = [topology.steps(count) for topology, count in zip(topologies, counts, strict=True)]
    known: dict[tuple[int, ...], tuple[tuple[Step | None, ...], int, Topology | None]] = {}
    found = []
    for cluster, refused in enumerate(setting.refusals):
        if refused or cluster in picked:
            continue
        domains = tuple(topology.domain_of[cluster] for topology in topologies)
        if domains not in known:
            own = _own_steps(steps, domains)
            known[domains] = (own, *spread_score(topologies, own))
        own, spread, refused_by = known[domains]
        score = Score(spread, setting.affinity[cluster], int(cluster in former))
        found.append(Candidate(cluster, score, own, refused_by))
    return found


def violation(topology: Topology) -> str:
    """Why a cluster is refused, in Fleet's own words."""
    return VIOLATED.format(key=topology.key, skew=topology.constraint.max_skew)


def _scaled_down(setting: Setting, count: int) -> frozenset[str]:
    """The clusters given up because fewer are wanted."""
    order = [*_trim_order(setting.bindings.scheduled), *_trim_order(setting.bindings.bound)]
    names = list(dict.fromkeys(binding.spec.target_cluster for binding in order))
    return frozenset(names[:count])


def _trim_order(bindings: Iterable[Binding]) -> list[Binding]:
    """Those without a score first, then the lowest scores, of equals the smallest name."""

    def rank(binding: Binding) -> tuple[int, int, int, str]:
        score = binding.spec.cluster_decision.cluster_score
        if score is None:
            return (0, 0, 0, binding.spec.target_cluster)
        return (1, score.priority_score, score.affinity_score, binding.spec.target_cluster)

    return sorted(bindings, key=rank)


def _dropped(
    setting: Setting, picked: Iterable[int], scaled_down: Collection[str] = ()
) -> tuple[Dropped, ...]:
    kept = set(setting.names(picked))
    found: dict[str, DropReason] = {}
    for binding in setting.bindings.dangling:
        name = binding.spec.target_cluster
        found[name] = "leaving" if name in setting.index_of else "left"
    for name in sorted(setting.bindings.existing - kept):
        found[name] = "scaledDown" if name in scaled_down else "newPolicy"
    return tuple(Dropped(name, reason) for name, reason in sorted(found.items()))
