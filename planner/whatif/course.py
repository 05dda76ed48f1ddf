"""How it goes: one failure in one manner, or changes alone, under several draws of ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.replay.trial_work import usual_seeds
from planner.scenario import LoseNodes, Manner, Outcome, Settled, apply_changes, outcome, settle
from planner.whatif.prepare import Prepared
from planner_models.node import ZONE

MannerName = Literal["only", "unreachable", "removed"]


@dataclass(frozen=True)
class Loss:
    """Nodes that fail together: indexes of the prepared cluster, and what people call them."""

    name: str
    kind: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class Options:
    """How to try a question; without `seeds` as many of the usual ones as the work allows."""

    manners: tuple[Manner, ...] = ("unreachable", "removed")
    seeds: int | None = None
    topology_key: str = ZONE


def is_worse(found: Outcome) -> bool:
    """Whether a pod that runs now does not run then, or hard spread is broken by more pods."""
    before, after = found.over_the_limit
    return after > before or missing(found) > 0


def missing(found: Outcome) -> int:
    """Pods that do not run then, without those that waited before."""
    return sum(each.missing for each in found.workloads)


def running(found: Outcome) -> int:
    """Pods that run then."""
    return sum(sum(each.after) for each in found.workloads)


@dataclass(frozen=True, eq=False)
class Course:
    """What happens in one manner: in detail if ties are broken by name, and under other seeds."""

    manner: MannerName
    settled: Settled
    outcomes: tuple[Outcome, ...]

    @property
    def outcome(self) -> Outcome:
        """If ties are broken by name."""
        return self.outcomes[0]

    @cached_property
    def agree(self) -> int:
        """How many seeds leave as many pods of each workload without a node as the first."""
        return sum(_waiting(each) == _waiting(self.outcome) for each in self.outcomes)

    @cached_property
    def worse(self) -> int:
        """Under how many seeds it is worse than now."""
        return sum(map(is_worse, self.outcomes))

    @cached_property
    def missing(self) -> tuple[int, int]:
        """The fewest and the most pods that do not run, over all seeds."""
        numbers = [missing(each) for each in self.outcomes]
        return min(numbers), max(numbers)

    def waiting_pods(self) -> dict[WorkloadRef, list[int]]:
        """Pods that kube-scheduler tried in vain, by workload."""
        cluster = self.settled.cluster
        found: dict[WorkloadRef, list[int]] = {}
        for pod in sorted(self.settled.messages):
            found.setdefault(cluster.workloads[int(cluster.group_of[pod])], []).append(pod)
        return found


def _waiting(found: Outcome) -> tuple[tuple[WorkloadRef, int, int], ...]:
    return tuple((each.workload, each.waiting, each.unreplaced) for each in found.workloads)


def failing(prepared: Prepared, loss: Loss, manner: Manner, options: Options) -> Course:
    """These nodes fail in this manner."""

    def run(seed: int) -> Settled:
        return fails(prepared, prepared.cluster(seed), loss, manner, seed)

    return _course(prepared, manner, run, options)


def fails(prepared: Prepared, cluster: Cluster, loss: Loss, manner: Manner, seed: int) -> Settled:
    """The same once, on any cluster with the same nodes."""
    changed = apply_changes(cluster, [LoseNodes(loss.nodes, manner)])
    return settle(changed, prepared.profile, seed=seed, preempt=prepared.preempt)


def changing(prepared: Prepared, options: Options) -> Course:
    """The changes alone."""
    return _course(prepared, "only", prepared.settled, options)


def _course(
    prepared: Prepared, manner: MannerName, run: Callable[[int], Settled], options: Options
) -> Course:
    first = run(0)
    key = options.topology_key
    moved = len(first.changed.lost) + len(prepared.changed.cluster.pending)
    seeds = usual_seeds(options.seeds, moved, len(first.cluster.nodes))
    others: Iterator[Settled] = (run(seed) for seed in range(1, seeds))
    found = [outcome(each, prepared.profile, topology_key=key) for each in (first, *others)]
    return Course(manner, first, tuple(found))
