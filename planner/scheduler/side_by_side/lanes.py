"""Clusters side by side: in each lane the copies of some nodes, and what runs on them.

Arrays are by lane and place in the lane; lanes with fewer nodes end in places that take nobody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.scheduler.plugins.node_resources_balanced_allocation import (
    BalancedScore,
    Capacity,
    balance,
)
from planner.scheduler.plugins.node_resources_fit import FitScore, Shares
from planner.scheduler.side_by_side.counters import Counter
from planner.scheduler.side_by_side.rules import GroupRules, HardSpread
from planner.scheduler.side_by_side.sample import Sample


class Lanes:
    """Everything that changes as pods land; `at` are numbers of places, lane after lane."""

    def __init__(
        self, sample: Sample, sets: Sequence[Sequence[int]], batch_of: IntArray | None = None
    ) -> None:
        """`sets` are the nodes of each lane, by number in the sample, in kube-scheduler's order.

        `batch_of` says which nodes of the sample come later: those of batch 0 are there.
        """
        self.size, self.width = len(sets), max(1, *map(len, sets))
        every = np.full((self.size, self.width), sample.nothing)
        for row, nodes in zip(every, sets, strict=True):
            row[: len(nodes)] = nodes
        self._sample, self._every = sample, every
        self._batches = np.zeros_like(every) if batch_of is None else batch_of[every]
        self.kind = np.where(self._batches > 0, sample.nothing, every)
        self.rows: IntArray = np.arange(self.size)
        flat = self.kind.reshape(-1)
        self._allocatable = sample.allocatable[:, flat]
        self._used = sample.used[:, flat]
        self._non_zero_used = sample.non_zero_used[:, flat]
        self._counts = [each.begin(self.kind) for each in sample.counters]
        self._forget()

    def _forget(self) -> None:
        """What is known of the nodes, whoever runs on them."""
        self._capacity: dict[tuple[int, ...], Capacity] = {}
        self._shares: dict[tuple[int, ...], Shares] = {}
        self._domains: dict[int, IntArray] = {}
        self._existing: dict[int, tuple[BoolArray, BoolArray]] = {}

    def come(self, batch: int) -> None:
        """The nodes of a batch come, with what runs on them from the start."""
        new = np.where(self._batches == batch, self._every, self._sample.nothing)
        flat = new.reshape(-1)
        self.kind = np.where(self._batches == batch, self._every, self.kind)
        self._allocatable += self._sample.allocatable[:, flat]
        self._used += self._sample.used[:, flat]
        self._non_zero_used += self._sample.non_zero_used[:, flat]
        for counter in self._sample.counters:
            self._counts[counter.number] += counter.begin(new)
        self._forget()

    def of(self, per_node: BoolArray) -> BoolArray:
        """What is known of the sample's nodes, by lane and place."""
        found: BoolArray = per_node[self.kind]
        return found

    def counts(self, counter: Counter) -> IntArray:
        """By lane, and by place or domain."""
        return self._counts[counter.number]

    def per_node(self, counter: Counter) -> IntArray:
        """By lane and place: the count in the domain; 0 for nodes without the label."""
        counts = self._counts[counter.number]
        return counts if counter.hosts else counts[self.rows[:, None], self.domains(counter)]

    def domains(self, counter: Counter) -> IntArray:
        """By lane and place."""
        if counter.number not in self._domains:
            self._domains[counter.number] = counter.domain[self.kind]
        return self._domains[counter.number]

    def existing(self, rule: HardSpread) -> tuple[BoolArray, BoolArray]:
        """The domains that the rule looks at, as it counts them; and lanes with too few of them."""
        if id(rule) not in self._existing:
            found = eligible = self.of(rule.eligible)
            if not rule.counter.hosts:
                found = np.zeros((self.size, rule.counter.domains + 1), np.bool_)
                lane, place = np.nonzero(eligible)
                found[lane, self.domains(rule.counter)[lane, place]] = True
            few: BoolArray = np.count_nonzero(found, axis=1) < rule.least_domains
            self._existing[id(rule)] = found, few
        return self._existing[id(rule)]

    def room(self, rules: GroupRules, more: int) -> BoolArray:
        """By place: whether the request fits when so many pods of the group have come."""
        columns, amounts = rules.asked
        left = self._allocatable[columns] - self._used[columns]
        wanted = amounts + more * rules.request[columns]
        fits: BoolArray = np.all(left >= wanted[:, None], axis=0)
        return fits

    def fit(self, rules: GroupRules, score: FitScore, more: int) -> IntArray:
        """NodeResourcesFit's points for all places when so many pods of the group have come."""
        requested = self._used[score.columns] + more * rules.request[score.columns, None]
        requested[score.defaulted] = (
            self._non_zero_used[score.non_zero]
            + more * rules.non_zero_request[score.non_zero, None]
        )
        key = (*score.columns.tolist(), *score.weights[:, 0].tolist())
        if key not in self._shares:
            self._shares[key] = score.shares(self._allocatable[score.columns])
        return score.mean(requested + score.wanted, self._shares[key])

    def balance(self, rules: GroupRules, score: BalancedScore, more: int) -> IntArray:
        """How evenly all places are used when so many pods of the group have come."""
        key = tuple(score.columns.tolist())
        if key not in self._capacity:
            self._capacity[key] = Capacity.of(self._allocatable[score.columns])
        requested = self._used[score.columns] + more * rules.request[score.columns, None]
        return balance(requested, self._capacity[key])

    def fill(self, rules: GroupRules, pods: IntArray) -> None:
        """So many pods of the group have come to each place."""
        at = np.flatnonzero(pods)
        for amounts, request in (
            (self._used, rules.request),
            (self._non_zero_used, rules.non_zero_request),
        ):
            for column in np.flatnonzero(request).tolist():
                amounts[column, at] += request[column] * pods[at]

    def count(self, rules: GroupRules, lanes: IntArray, places: IntArray) -> None:
        """Rules count a pod of the group that comes to a place in each of these lanes."""
        kind = self.kind[lanes, places]
        for counter, factor in rules.touches:
            where = places if counter.hosts else counter.domain[kind]
            self._counts[counter.number][lanes, where] += factor * counter.counted[kind]
