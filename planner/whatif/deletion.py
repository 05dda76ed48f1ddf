"""Scaling down does not look at spread: how often it ends well, and what makes it sure.

A ReplicaSet ranks its pods without a look at domains; of equal ones any may go. How many of these
choices leave hard spread intact is counted where every choice is equally likely, and drawn
otherwise. A lower pod-deletion-cost decides before most other ranks, so annotations can say which
pods go; that they do is checked in every order of ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import counted_pods, domain_counts, excess, hard_constraints
from planner.cluster.topology import IntArray
from planner.scenario.replica_set import (
    Candidate,
    acted_at,
    choices,
    deleted_first,
    ranks,
)
from planner.scenario.scale_down import surplus
from planner.whatif.prepare import Prepared
from planner_models.workload import Deployment, ReplicaSet, ReplicationController

DRAWS = 1000
"""Choices that are drawn where they can't be counted."""


@dataclass(frozen=True, eq=False)
class ScaleDown:
    """Pods of a ReplicaSet of which so many go, as it compares them at that moment."""

    workload: WorkloadRef
    candidates: tuple[Candidate, ...]
    count: int
    now: int

    def chosen(self, random: Random) -> list[int]:
        """The pods that go in one draw of ties."""
        return [each.pod for each in deleted_first(self.candidates, self.count, self.now, random)]

    def certain(self, candidates: Iterable[Candidate]) -> frozenset[int]:
        """The pods that go in every order of ties; none if several choices are left."""
        gone: set[int] = set()
        for rank in ranks(candidates, self.now):
            if len(gone) < self.count:
                gone |= {each.pod for each in rank.candidates}
        return frozenset(gone) if len(gone) == self.count else frozenset()


@dataclass(frozen=True)
class Deletion:
    """What may become of a workload that is scaled down.

    `steady` of `choices` break no hard spread constraint of it; `emptied` leave a domain that had
    pods without any. `annotate` are the pods to give the cost `cost`, so that exactly these go and
    leave `best` pods by domain; empty if nothing has to be said, or nothing helps.
    """

    down: ScaleDown
    topology_key: str
    domains: tuple[str, ...]
    has_rule: bool
    steady: int
    emptied: int
    choices: int
    exact: bool
    equal: int
    best: tuple[int, ...] = ()
    annotate: tuple[int, ...] = ()
    cost: int = 0


def deletions(prepared: Prepared, shown_key: str) -> tuple[Deletion, ...]:
    """Of every workload that the changes scale down, manifests among them."""
    before, after = prepared.given, prepared.changed.cluster
    deleted = np.array(prepared.changed.deleted, np.int64)
    found = []
    for ref in sorted({before.workloads[group] for group in before.group_of[deleted].tolist()}):
        wanted = after.owners.controllers.get(ref)
        if isinstance(wanted, Deployment | ReplicaSet | ReplicationController):
            found.append(deletion_of(before, ref, wanted, shown_key))
    return tuple(each for each in found if each is not None)


def deletion_of(
    cluster: Cluster,
    ref: WorkloadRef,
    wanted: Deployment | ReplicaSet | ReplicationController,
    shown_key: str,
) -> Deletion | None:
    """None where several ReplicaSets shrink in the middle of a rollout: nothing is said of that."""
    found = surplus(cluster, wanted)
    if len(found) != 1:
        return None
    (only,) = found
    down = ScaleDown(ref, only.candidates, only.count, acted_at(cluster))
    return _Deleting(cluster, down, shown_key).found()


class _Deleting:
    def __init__(self, cluster: Cluster, down: ScaleDown, shown_key: str) -> None:
        self._cluster = cluster
        self._down = down
        groups = {int(cluster.group_of[each.pod]) for each in down.candidates}
        self._rules = [
            spread
            for spread in hard_constraints(cluster)
            if any(carrier.group in groups for carrier in spread.carriers)
        ]
        keys = [spread.constraint.topology_key for spread in self._rules]
        self._key = shown_key if shown_key in keys or not keys else keys[0]
        self._topology = cluster.topology(self._key)
        self._counted = counted_pods(cluster)

    def found(self) -> Deletion:
        down = self._down
        counted = self._countable() and choices(
            down.candidates, down.count, down.now, self._domain_of
        )
        outcomes: Mapping[tuple[int, ...], int]
        if counted:
            outcomes, exact = self._by_domain(counted), True
            steady = sum(n for left, n in outcomes.items() if self._steady_with(left))
        else:
            drawn = [down.chosen(Random(seed)) for seed in range(1, DRAWS + 1)]
            steady = sum(map(self._steady_without, drawn))
            outcomes, exact = Counter(map(self._left, drawn)), False
        total = sum(outcomes.values())
        emptied = sum(n for left, n in outcomes.items() if self._empties(left))
        found = Deletion(
            down,
            self._key,
            self._topology.domains,
            bool(self._rules),
            steady,
            emptied,
            total,
            exact,
            self._equal(),
        )
        return found if steady == total and not emptied else self._with_annotations(found)

    def _by_domain(self, counted: Mapping[tuple[int, ...], int]) -> Counter[tuple[int, ...]]:
        """Every domain has a number; pods in none are left out."""
        size = len(self._topology.domains)
        found: Counter[tuple[int, ...]] = Counter()
        for left, number in counted.items():
            found[(*left, *([0] * size))[:size]] += number
        return found

    def _domain_of(self, pod: int) -> int:
        """Pods without a node, or on one without the label, are in a domain of their own."""
        node = int(self._cluster.node_of[pod])
        domain = int(self._topology.domain_of[node]) if node >= 0 else -1
        return domain if domain >= 0 else len(self._topology.domains)

    def _countable(self) -> bool:
        """Whether the counts by one key say all: no choice breaks a rule over another one."""
        for spread in self._rules:
            if spread.constraint.topology_key != self._key:
                most = int(domain_counts(self._counted, spread).max(initial=0))
                if most > spread.constraint.max_skew:
                    return False
        return sum(spread.constraint.topology_key == self._key for spread in self._rules) <= 1

    def _steady_with(self, left: Sequence[int]) -> bool:
        """Whether so many pods in each domain are within the limit of the rule over the key."""
        for spread in self._rules:
            if spread.constraint.topology_key == self._key:
                counts = domain_counts(self._counted, spread)
                gone = self._now - np.array(left)
                if excess(counts - gone, spread).any():
                    return False
        return True

    @property
    def _now(self) -> IntArray:
        """Pods of the workload in each domain, as far as they count."""
        found = Counter(self._domain_of(each.pod) for each in self._down.candidates)
        return np.array([found[d] for d in range(len(self._topology.domains))])

    def _left(self, gone: Sequence[int]) -> tuple[int, ...]:
        stays = {each.pod for each in self._down.candidates}.difference(gone)
        found = Counter(map(self._domain_of, stays))
        return tuple(found[d] for d in range(len(self._topology.domains)))

    def _empties(self, left: Sequence[int]) -> bool:
        return any(had and not has for had, has in zip(self._now.tolist(), left, strict=True))

    def _steady_without(self, gone: Sequence[int]) -> bool:
        """The same for certain pods, with all rules of the workload."""
        pods = counted_pods(self._cluster.without(gone))
        return not any(excess(domain_counts(pods, rule), rule).any() for rule in self._rules)

    def _equal(self) -> int:
        """Pods of the rank in which chance decides."""
        left = self._down.count
        for rank in ranks(self._down.candidates, self._down.now):
            if left < len(rank.candidates):
                return len(rank.candidates) if left else 0
            left -= len(rank.candidates)
        return 0

    def _with_annotations(self, found: Deletion) -> Deletion:
        """Pods of the fullest domains go, and it is tried whether they do."""
        gone = self._evenly()
        chosen = {each.pod for each in gone}
        lowest = min(each.cost for each in self._down.candidates)
        told = [
            replace(each, cost=lowest - 1) if each.pod in chosen else each
            for each in self._down.candidates
        ]
        sure = self._down.certain(told) == chosen
        better = found.steady < found.choices or not self._empties(self._left(sorted(chosen)))
        if not sure or not better or not self._steady_without(sorted(chosen)):
            return found
        pods = tuple(sorted(chosen, key=lambda pod: self._cluster.pods[pod].key))
        return replace(found, best=self._left(pods), annotate=pods, cost=lowest - 1)

    def _evenly(self) -> list[Candidate]:
        """One after the other from the domain with the most pods, and there from the fullest node.

        Who goes first in any case comes first.
        """
        left = list(self._down.candidates)
        inside = Counter(self._domain_of(each.pod) for each in left)
        nodes = Counter(int(self._cluster.node_of[each.pod]) for each in left)

        def order(each: Candidate) -> tuple[object, ...]:
            place, domain = int(self._cluster.node_of[each.pod]), self._domain_of(each.pod)
            by_rank = (each.assigned, each.phase == "Running", each.ready)
            key = self._cluster.pods[each.pod].key
            return *by_rank, -inside[domain], -nodes[place], domain, key

        gone: list[Candidate] = []
        while len(gone) < self._down.count:
            first = min(left, key=order)
            left.remove(first)
            gone.append(first)
            inside[self._domain_of(first.pod)] -= 1
            nodes[int(self._cluster.node_of[first.pod])] -= 1
        return gone
