"""How many more pods fit so that any single failure still leaves nobody waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.capacity.count import Placed, most_placed, placed_at
from planner.capacity.demand import Demand
from planner.cluster import Cluster
from planner.replay.trial_work import affordable
from planner.scenario import LoseNodes, apply_changes, outcome, settle
from planner.scenario.changes import Manner
from planner.scheduler.profile import Profile
from planner_models.node import HOSTNAME, ZONE

Failure = Literal["zone", "node"]
KEY: dict[Failure, str] = {"zone": ZONE, "node": HOSTNAME}
SEEDS = 8
"""Tie seeds that a number has to stand, where the cluster is not too large for it."""


@dataclass(frozen=True)
class Fails:
    """With so many sets more, losing the domain leaves pods waiting."""

    sets: int
    domain: str
    waiting: int


@dataclass(frozen=True)
class Surviving:
    """So many sets more survive each failure under all `seeds`; one more does not under some.

    `at_best` do under the first seed: ties decide about what lies between. `placed` has the sets.
    With 0 seeds they were counted once each domain was lost, and not placed before: what is left
    then has room for so many.
    """

    sets: int
    seeds: int
    fails_at: Fails | None
    at_best: int
    placed: Placed
    fails_now: Fails | None = None


@dataclass(frozen=True, eq=False)
class Survival:
    """The question: which failure of which cluster, and for which pods there is to be room."""

    cluster: Cluster
    demands: Sequence[Demand]
    profile: Profile
    failure: Failure
    manner: Manner

    def found(self, most: int) -> Surviving | None:
        """The largest number that was found by halving; None with fewer than two domains.

        More pods leave less room, but ties may make one number luckier than the one below. So what
        the first seed reaches is tried under the others, and halved again where it fails.
        """
        if len(self.cluster.topology(KEY[self.failure]).domains) < 2:
            return None
        pods = int(np.count_nonzero(self.cluster.node_of >= 0))
        tries = affordable(pods, len(self.cluster.nodes))
        if not tries:
            return self._after_each_loss(most)
        now = self.fails(0, 0)
        if now is not None:
            return Surviving(0, 1, now, 0, self._placed(0, 0), fails_now=now)
        seeds = min(SEEDS, tries)
        sets, above = self._halved(most, 0)
        at_best = sets
        for seed in range(1, seeds):
            found = self.fails(sets, seed)
            if found is not None:
                sets, above = self._halved(sets - 1, seed, found)
        return Surviving(sets, seeds, above, at_best, self._placed(sets, 0))

    def _after_each_loss(self, most: int) -> Surviving:
        """One simulation of each failure, where halving would take dozens of long ones."""
        least = Fails(most + 1, "", 0)
        for domain, nodes in self._failures(self.cluster):
            changed = apply_changes(self.cluster, [LoseNodes(nodes, self.manner)])
            ended = settle(changed, self.profile).cluster
            waiting = len(ended.pending) - len(self.cluster.pending)
            if waiting > 0:
                now = Fails(0, domain, waiting)
                return Surviving(0, 1, now, 0, self._placed(0, 0), fails_now=now)
            fit = most_placed(ended, self.demands, self.profile, least.sets - 1, None).sets
            if fit + 1 < least.sets:
                least = Fails(fit + 1, domain, 1)
        sets = least.sets - 1
        return Surviving(sets, 0, least if least.domain else None, sets, self._placed(sets, 0))

    def _failures(self, cluster: Cluster) -> Iterator[tuple[str, tuple[int, ...]]]:
        topology = cluster.topology(KEY[self.failure])
        for number, domain in enumerate(topology.domains):
            yield domain, tuple(topology.nodes_of(number).tolist())

    def _halved(self, most: int, seed: int, above: Fails | None = None) -> tuple[int, Fails | None]:
        """The largest number up to `most` that survives, and the next one that does not."""
        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            found = self.fails(middle, seed)
            if found is None:
                low = middle
            else:
                high, above = middle, found
        return low, above

    def _placed(self, sets: int, seed: int) -> Placed:
        return placed_at(self.cluster, self.demands, self.profile, sets, seed=seed)

    def fails(self, sets: int, seed: int) -> Fails | None:
        """The worst failure, if any leaves pods waiting."""
        placed = self._placed(sets, seed)
        if placed.stopped:
            return Fails(sets, "", 0)
        worst: Fails | None = None
        for domain, nodes in self._failures(placed.cluster):
            changed = apply_changes(placed.cluster, [LoseNodes(nodes, self.manner)], seed=seed)
            found = outcome(settle(changed, self.profile, seed=seed), self.profile)
            waiting = sum(max(0, each.waiting - each.waited) for each in found.workloads)
            if waiting and (worst is None or waiting > worst.waiting):
                worst = Fails(sets, domain, waiting)
        return worst
