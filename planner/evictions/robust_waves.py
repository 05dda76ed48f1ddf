"""Finds waves of evictions that end well whatever kube-scheduler chooses.

The evictions come from a plan that reaches the goal by some choice of nodes. They are tried under
many tie seeds and orders of arrival. Where some trials end worse than planned, nodes that led there
are cordoned for the length of a wave: first the evicted pods' own, then others that no pod needs in
that wave. If that does not help, pods are evicted one by one, with the plan's landings as the only
choice that is left. The first way that always ends well is taken, otherwise the one that most often
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from planner.evictions.one_by_one import OneByOne, Targets, targets_of
from planner.evictions.repeated_trials import EXAMPLES, RepeatedTrials, TriedWaves
from planner.replay.steps import Step
from planner.replay.trial import TrialRun, WavePlan

CORDON_ROUNDS = 4
"""How often nodes are added to the cordons before another way is tried."""
ONE_BY_ONE_LIMIT = 60
"""Evictions up to which they may go one by one."""
OTHER_ORDERS = 12
"""So many other orders of the same steps are tried."""


def departures(waves: Iterable[Sequence[Step]]) -> tuple[WavePlan, ...]:
    """The evictions of a plan, wave by wave; waves that only place something are none."""
    found = (tuple(step.pod for step in wave if step.evicts) for wave in waves)
    return tuple(WavePlan(pods) for pods in found if pods)


class RobustWaves:
    """The search for one plan."""

    def __init__(self, trials: RepeatedTrials) -> None:
        self._trials = trials

    def search(self, plan: Sequence[Sequence[Step]], order: Sequence[Step]) -> TriedWaves:
        """The best way to carry the plan's evictions out; `order` has its steps one by one."""
        best = self._trials.tried(departures(plan), patience=EXAMPLES)
        ways = self._with_more_cordons(best, targets_of(plan))
        if best.evictions <= ONE_BY_ONE_LIMIT:
            ways = chain(ways, self._one_by_one(order))
        while not (best.converges or self._trials.late) and (found := next(ways, None)) is not None:
            best = max(best, found, key=lambda tried: tried.score)
        return self._trials.completed(best)

    def in_other_orders(self, best: TriedWaves, orders: Iterable[Sequence[Step]]) -> TriedWaves:
        """The same evictions one by one, in the first of these orders that always ends well."""
        if best.evictions > ONE_BY_ONE_LIMIT:
            return best
        for order in islice(orders, OTHER_ORDERS):
            if self._trials.late:
                break
            found = OneByOne(self._trials, order).tried()
            if found.converges:
                return self._trials.completed(found)
        return best

    def _one_by_one(self, order: Sequence[Step]) -> Iterator[TriedWaves]:
        way = OneByOne(self._trials, order)
        tried = way.tried()
        yield tried
        if not tried.converges:
            yield from self._with_more_cordons(tried, way.targets)

    def _with_more_cordons(self, first: TriedWaves, targets: Targets) -> Iterator[TriedWaves]:
        """The same waves with more and more cordons, until failures show no further node."""
        tried = first
        for number in range(CORDON_ROUNDS):
            waves = self._more_cordons(tried, targets, own_nodes=number == 0)
            if waves is None:
                return
            tried = self._trials.tried(waves, patience=EXAMPLES)
            yield tried
            if tried.converges:
                return

    def _more_cordons(
        self, tried: TriedWaves, targets: Targets, *, own_nodes: bool
    ) -> tuple[WavePlan, ...] | None:
        """Cordon nodes where failures landed pods, preferably none where successes did, too."""
        bad = _landed(tried.ending(well=False)[:EXAMPLES])
        good = _landed(tried.ending(well=True))
        waves: list[WavePlan] = []
        for number, wave in enumerate(tried.waves):
            free = self._trials.may_be_cordoned(bad.get(number, set()) - targets[number])
            if own_nodes:
                sources = {int(self._trials.aim.real.node_of[pod]) for pod in wave.evictions}
                free &= sources
            only_bad = free - good.get(number, set())
            added = (only_bad or free) - set(wave.cordons)
            waves.append(replace(wave, cordons=tuple(sorted({*wave.cordons, *added}))))
        if tuple(waves) != tried.waves:
            return tuple(waves)
        return self._more_cordons(tried, targets, own_nodes=False) if own_nodes else None


def _landed(runs: Iterable[TrialRun]) -> dict[int, set[int]]:
    """By wave, the nodes on which something landed."""
    found: dict[int, set[int]] = {}
    for run in runs:
        for landing in run.landings:
            found.setdefault(landing.wave, set()).add(landing.node)
    return found


def expected_nodes(tried: TriedWaves) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """By wave and group: every node that was among the best for a replacement in some trial."""
    return {key: tuple(np.flatnonzero(nodes).tolist()) for key, nodes in tried.choices.items()}
