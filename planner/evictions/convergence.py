"""Finds waves of evictions that end well whatever kube-scheduler chooses.

The evictions come from a plan that reaches the goal by some choice of nodes. They are tried under
many tie seeds and orders of arrival. Where some of them end worse than planned, nodes that led
there are cordoned for the length of a wave: first the evicted pods' own, then others that nobody
needs in that wave; at last the evictions go one by one, and the scheduler has no choice left but
the plan's. The first way that always ends well is taken, otherwise the one that most often does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from planner.evictions.attempts import EXAMPLES, Attempts, Tried
from planner.evictions.one_by_one import OneByOne, Targets, targets_of
from planner.replay.steps import Step
from planner.replay.trial import TrialRun, WavePlan

LESSONS = 4
"""How often nodes are added to the cordons before another way is tried."""
ONE_BY_ONE = 60
"""Up to this many evictions they may go one by one."""
ORDERS = 12
"""So many other orders of the same steps are tried."""


def departures(waves: Iterable[Sequence[Step]]) -> tuple[WavePlan, ...]:
    """The evictions of a plan, wave by wave; waves that only place something are none."""
    found = (tuple(step.pod for step in wave if step.evicts) for wave in waves)
    return tuple(WavePlan(pods) for pods in found if pods)


class Convergence:
    """The search for one plan."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts

    def search(self, plan: Sequence[Sequence[Step]], order: Sequence[Step]) -> Tried:
        """The best way to carry the plan's evictions out; `order` has its steps one by one."""
        best = self._attempts.tried(departures(plan), patience=EXAMPLES)
        ways = [self._taught(best, targets_of(plan))]
        if sum(len(wave.evictions) for wave in best.waves) <= ONE_BY_ONE:
            ways.append(self._one_by_one(order))
        for way in ways:
            for found in way if not best.converges else ():
                best = max(best, found, key=lambda tried: tried.score)
                if best.converges:
                    break
        return self._attempts.completed(best)

    def in_other_orders(self, best: Tried, orders: Iterable[Sequence[Step]]) -> Tried:
        """The same evictions one by one, in the first of these orders that always ends well."""
        if sum(len(wave.evictions) for wave in best.waves) > ONE_BY_ONE:
            return best
        for order in islice(orders, ORDERS):
            found = OneByOne(self._attempts, order).tried()
            if found.converges:
                return self._attempts.completed(found)
        return best

    def _one_by_one(self, order: Sequence[Step]) -> Iterator[Tried]:
        way = OneByOne(self._attempts, order)
        tried = way.tried()
        yield tried
        if not tried.converges:
            yield from self._taught(tried, way.targets)

    def _taught(self, first: Tried, targets: Targets) -> Iterator[Tried]:
        """The same waves with more and more cordons, as far as failures teach any."""
        tried = first
        for lesson in range(LESSONS):
            taught = self._lesson(tried, targets, own_nodes=lesson == 0)
            if taught is None:
                return
            tried = self._attempts.tried(taught, patience=EXAMPLES)
            yield tried
            if tried.converges:
                return

    def _lesson(
        self, tried: Tried, targets: Targets, *, own_nodes: bool
    ) -> tuple[WavePlan, ...] | None:
        """Cordons for nodes where pods landed in failures, rather not where successes did, too."""
        failures = [r for r, reached in zip(tried.runs, tried.reached, strict=True) if not reached]
        successes = [r for r, reached in zip(tried.runs, tried.reached, strict=True) if reached]
        bad, good = _landed(failures[:EXAMPLES]), _landed(successes)
        waves: list[WavePlan] = []
        for number, wave in enumerate(tried.waves):
            free = self._attempts.may_be_cordoned(bad.get(number, set()) - targets[number])
            if own_nodes:
                sources = {int(self._attempts.aim.real.node_of[pod]) for pod in wave.evictions}
                free &= sources
            only_bad = free - good.get(number, set())
            added = (only_bad or free) - set(wave.cordons)
            waves.append(replace(wave, cordons=tuple(sorted({*wave.cordons, *added}))))
        if tuple(waves) != tried.waves:
            return tuple(waves)
        return self._lesson(tried, targets, own_nodes=False) if own_nodes else None


def _landed(runs: Iterable[TrialRun]) -> dict[int, set[int]]:
    """By wave, the nodes on which something landed."""
    found: dict[int, set[int]] = {}
    for run in runs:
        for landing in run.landings:
            found.setdefault(landing.wave, set()).add(landing.node)
    return found


def expected_nodes(tried: Tried) -> Mapping[tuple[int, int], tuple[int, ...]]:
    """By wave and group: every node that was among the best for a replacement in some trial."""
    return {key: tuple(np.flatnonzero(nodes).tolist()) for key, nodes in tried.choices.items()}
