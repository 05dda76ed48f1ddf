"""Many sets of nodes filled at once: who waits in each of them, under a seed.

What `Filling.fill` would find for each set alone, where all rules that play a part have a form for
lanes (`planner.scheduler.side_by_side`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.pools.fill import Counts, Filling
from planner.pools.room import FreshNodes, depends_on_others
from planner.scenario.add_nodes import names_of
from planner.scheduler.side_by_side import Run, Sample, fill, runs_of, sample_of
from planner_models.pod import DEFAULT_SCHEDULER

TURN_STEPS = 2
"""What the first look of a group costs, in landings."""
BATCH_STEPS = 0.3
"""What a further batch costs, in landings of each pod: lanes are not as far as each other."""


@dataclass(frozen=True, eq=False)
class ManyFills:
    """Lanes are copies of one fresh node of each offer, beside the nodes that are there."""

    filling: Filling
    runs: tuple[Run, ...]
    """The pods that wait, in the order in which they are tried."""
    _sample: Sample
    _fresh: tuple[int, ...]
    """By offer, the node of the sample."""
    _there: tuple[tuple[str, int], ...]
    """The nodes that are there by name, as nodes of the sample."""
    _taken: frozenset[str]

    @cached_property
    def wanted(self) -> BoolArray:
        """Runs of pods that have to run."""
        goal = set(self.filling.goal)
        return np.array([run.pods[0] in goal for run in self.runs], np.bool_)

    @cached_property
    def steps(self) -> int:
        """About so many landings take as long as all that happens in a lane."""
        pods = sum(len(run.pods) for run in self.runs)
        batches = max(self.filling.batches, default=0)
        return int(pods * (1 + BATCH_STEPS * batches)) + TURN_STEPS * len(self.runs) * (1 + batches)

    @property
    def nodes(self) -> int:
        """How many nodes are there in every set."""
        return len(self._there)

    def waiting(self, sets: Sequence[tuple[Counts, int]]) -> IntArray:
        """By set with its seed, and by run: how many pods wait."""
        known = {counts: self._nodes(counts) for counts, _ in sets}
        lanes = [known[counts] for counts, _ in sets]
        return fill(self._sample, self.runs, lanes, [seed for _, seed in sets], self._batch_of)

    @cached_property
    def _batch_of(self) -> IntArray | None:
        """By node of the sample, in which batch it comes; None if all nodes come at once."""
        if not any(self.filling.batches):
            return None
        found: IntArray = np.zeros(self._sample.nothing + 1, np.int64)
        found[list(self._fresh)] = self.filling.batches
        return found

    def _nodes(self, counts: Counts) -> list[int]:
        """The set's nodes in the order of their names, as nodes of the sample."""
        named = list(self._there)
        taken = set(self._taken)
        for offer, fresh, count in zip(self.filling.offers, self._fresh, counts, strict=True):
            if count:
                names = names_of(offer.template.name, count, taken)
                taken.update(names)
                named += [(name, fresh) for name in names]
        return [node for _, node in sorted(named)]


def many_fills(filling: Filling) -> ManyFills | None:
    """None where sets have to be filled one by one: some rule has no form for lanes."""
    start = filling.cluster
    if depends_on_others(start):
        return None
    fresh = FreshNodes(filling)
    cluster = fresh.cluster
    pods = [
        pod
        for pod in start.pending.tolist()
        if not start.pods[pod].terminating
        and not start.pods[pod].spec.scheduling_gates
        and start.pods[pod].spec.scheduler_name == DEFAULT_SCHEDULER
    ]
    goal = set(filling.goal)
    queue = sorted(pods, key=lambda pod: -start.pods[pod].priority)
    runs = runs_of(queue, lambda pod: (int(cluster.group_of[pod]), pod in goal))
    sample = sample_of(cluster, filling.profile, dict.fromkeys(run.group for run in runs))
    if sample is None:
        return None
    there = [node for node in fresh.old if node not in cluster.ghosts]
    return ManyFills(
        filling,
        runs,
        sample,
        tuple(fresh.nodes),
        tuple((cluster.nodes[node].name, node) for node in there),
        frozenset(cluster.nodes[node].name for node in fresh.old),
    )
