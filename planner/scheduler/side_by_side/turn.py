"""Pods of one group, one after the other, in all lanes at once.

What a filter or score says of a node alone is judged anew only where a pod has landed; what looks
at several nodes, over all places of all lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.framework.plugin import MAX_NODE_SCORE
from planner.scheduler.plugins.node_resources_balanced_allocation import OF_GAIN, BalancedScore
from planner.scheduler.side_by_side.counters import Counter
from planner.scheduler.side_by_side.lanes import Lanes
from planner.scheduler.side_by_side.rules import GroupRules

FloatArray = NDArray[np.float64]
_MOST = 2**40


class Turn:
    """The group's look at all lanes, good until pods of another group land."""

    def __init__(self, lanes: Lanes, rules: GroupRules) -> None:
        self._lanes, self._rules = lanes, rules
        self._admitted = lanes.of(rules.admitted).reshape(-1)
        self._landed: IntArray = np.zeros(lanes.kind.size, np.int64)
        self._even: list[IntArray] = []
        self._table = self._judged(0)[None]
        """By pods that have come, and by place."""
        self._own = self._table[0].reshape(lanes.kind.shape).copy()
        if rules.takes_part is not None:
            self._takes_part = lanes.of(rules.takes_part)
            self._logs = np.array([math.log(n + 2) for n in range(lanes.width + 1)])

    def run(self, wanted: IntArray, randoms: Sequence[Random | None]) -> IntArray:
        """How many of these pods land in each lane before one finds no node."""
        left = wanted.copy()
        active: BoolArray = left > 0
        while active.any():
            feasible = self._feasible(active)
            active &= feasible.any(axis=1)
            lanes = np.flatnonzero(active)
            if len(lanes):
                places = self._picked(feasible, lanes, randoms)
                self._lanes.count(self._rules, lanes, places)
                at = lanes * self._lanes.width + places
                self._landed[at] += 1
                left[lanes] -= 1
                active &= left > 0
                if active.any():
                    self._own.reshape(-1)[at] = self._scored(self._landed[at], at)
        self._lanes.fill(self._rules, self._landed)
        return wanted - left

    def _feasible(self, active: BoolArray) -> BoolArray:
        """The places that pass every filter, in lanes where a pod is to land."""
        found: BoolArray = (self._own >= 0) & active[:, None]
        for rule in self._rules.hard:
            counts = self._lanes.counts(rule.counter)
            existing, few = self._lanes.existing(rule)
            least = np.where(existing, counts, _MOST).min(axis=1)
            least[few] = 0
            fits = counts <= (least + (rule.max_skew - rule.self_match))[:, None]
            found &= self._by_place(rule.counter, fits)
        for rival in self._rules.rivals:
            found &= self._by_place(rival, self._lanes.counts(rival) <= 0)
        if self._rules.near:
            found &= self._near()
        return found

    def _by_place(self, counter: Counter, per_domain: BoolArray) -> BoolArray:
        if counter.hosts:
            return per_domain
        found: BoolArray = per_domain[self._lanes.rows[:, None], self._lanes.domains(counter)]
        return found

    def _near(self) -> BoolArray:
        """Mates in the domains of all terms; where there are none at all, the first may start."""
        lanes, near = self._lanes, self._rules.near
        found: BoolArray = np.logical_and.reduce(
            [self._by_place(each, lanes.counts(each) >= 1) for each in near]
        )
        if self._rules.may_start:
            nobody = ~np.logical_or.reduce([lanes.counts(each).any(axis=1) for each in near])
            found |= nobody[:, None]
        return found

    def _scored(self, pods: IntArray, at: IntArray) -> FloatArray:
        """The points of these places of their own when so many pods have come; -1 if none fits."""
        most = int(pods.max())
        if most >= len(self._table):
            more = [self._judged(n) for n in range(len(self._table), most + 1)]
            self._table = np.concatenate((self._table, np.array(more)))
        points: FloatArray = self._table[pods, at]
        return points

    def _judged(self, pods: int) -> FloatArray:
        """The same of all places."""
        lanes, rules = self._lanes, self._rules
        total = np.zeros(lanes.kind.size)
        if rules.fit is not None:
            weight, score = rules.fit
            total += weight * lanes.fit(rules, score, pods)
        if rules.balance is not None:
            total += rules.balance[0] * self._evened(rules.balance[1], pods)
        total[~(self._admitted & lanes.room(rules, pods))] = -1.0
        return total

    def _evened(self, score: BalancedScore, pods: int) -> IntArray:
        """What one more pod changes."""
        for more in range(len(self._even), pods + 2):
            self._even.append(self._lanes.balance(self._rules, score, more))
        points: IntArray = OF_GAIN[self._even[pods + 1] - self._even[pods]]
        return points

    def _picked(
        self, feasible: BoolArray, lanes: IntArray, randoms: Sequence[Random | None]
    ) -> IntArray:
        """One of the best places in each of these lanes: the first, or drawn as one by one."""
        total = self._own.copy()
        if self._rules.soft:
            total += self._rules.soft_weight * self._spread(feasible)
        if self._rules.wishes:
            total += self._rules.wish_weight * self._wished(feasible)
        total[~feasible] = -1.0
        ties = total == total.max(axis=1)[:, None]
        tied = np.count_nonzero(ties, axis=1)
        first = np.cumsum(tied) - tied
        chosen = first[lanes]
        for i, (lane, n) in enumerate(zip(lanes.tolist(), tied[lanes].tolist(), strict=True)):
            random = randoms[lane]
            if random is not None:
                chosen[i] += random.randrange(n)
        places: IntArray = np.flatnonzero(ties)[chosen] - lanes * self._lanes.width
        return places

    def _spread(self, feasible: BoolArray) -> FloatArray:
        """PodTopologySpread's score of all places, brought to 0..100 by lane."""
        scored = feasible & self._takes_part
        total = np.zeros(feasible.shape)
        for rule in self._rules.soft:
            counter = rule.counter
            counts = self._lanes.per_node(counter)
            domains = (
                np.count_nonzero(scored, axis=1) if counter.hosts else self._seen(counter, scored)
            )
            score = counts * self._logs[domains][:, None] + (rule.max_skew - 1)
            total += np.where(self._lanes.domains(counter) < counter.domains, score, 0.0)
        raw = np.trunc(total)
        raw += total - raw >= 0.5
        highest = np.where(scored, raw, -1.0).max(axis=1)[:, None]
        lowest = np.where(scored, raw, _MOST).min(axis=1)[:, None]
        points = np.floor(MAX_NODE_SCORE * (highest + lowest - raw) / np.maximum(highest, 1.0))
        points = np.where(highest == 0, float(MAX_NODE_SCORE), points)
        return np.where(scored, points, 0.0)

    def _seen(self, counter: Counter, scored: BoolArray) -> IntArray:
        """In how many domains these places are, by lane."""
        found = np.zeros((len(scored), counter.domains + 1), np.bool_)
        lane, place = np.nonzero(scored)
        found[lane, self._lanes.domains(counter)[lane, place]] = True
        domains: IntArray = np.count_nonzero(found, axis=1)
        return domains

    def _wished(self, feasible: BoolArray) -> FloatArray:
        """InterPodAffinity's score of all places, brought to 0..100 by lane."""
        raw = np.zeros(feasible.shape)
        for counter in self._rules.wishes:
            raw += self._lanes.per_node(counter)
        highest = np.where(feasible, raw, -_MOST).max(axis=1)[:, None]
        lowest = np.where(feasible, raw, _MOST).min(axis=1)[:, None]
        width = highest - lowest
        scaled = np.floor(MAX_NODE_SCORE * ((raw - lowest) / np.where(width > 0, width, 1.0)))
        return np.where(width > 0, scaled, 0.0)
