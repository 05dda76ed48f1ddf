"""How it goes: one failure in one manner, or changes alone, under several draws of ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.replay.trial_work import usual_seeds
from planner.scenario import LoseNodes, Manner, Outcome, Settled, apply_changes, outcome, settle
from planner.solver.progress import Report, silent
from planner.whatif.prepare import Prepared
from planner.workers import HERE, Workers
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
    """How to try a question; without `seeds` as many of the usual ones as the work allows.

    `workers` try failures and seeds side by side; `report` is told how many are done.
    """

    manners: tuple[Manner, ...] = ("unreachable", "removed")
    seeds: int | None = None
    topology_key: str = ZONE
    workers: Workers = HERE
    report: Report = silent


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
    first = fails(prepared, prepared.cluster(), loss, manner, 0)
    return _course(prepared, manner, first, loss, options)


def fails(prepared: Prepared, cluster: Cluster, loss: Loss, manner: Manner, seed: int) -> Settled:
    """The same once, on any cluster with the same nodes."""
    changed = apply_changes(cluster, [LoseNodes(loss.nodes, manner)], seed=seed)
    return settle(changed, prepared.profile, seed=seed, preempt=prepared.preempt)


def changing(prepared: Prepared, options: Options) -> Course:
    """The changes alone."""
    return _course(prepared, "only", prepared.settled(), None, options)


def _course(
    prepared: Prepared, manner: MannerName, first: Settled, loss: Loss | None, options: Options
) -> Course:
    key = options.topology_key
    moved = len(first.changed.lost) + len(prepared.changed.cluster.pending)
    seeds = usual_seeds(options.seeds, moved, len(first.cluster.nodes))
    drawn = [Drawn(manner, loss, seed, key) for seed in range(1, seeds)]
    names = [f"seed {each.seed}" for each in drawn]
    others = options.workers.in_order(outcome_of, prepared, drawn, names)
    return Course(manner, first, (outcome(first, prepared.profile, topology_key=key), *others))


@dataclass(frozen=True)
class Drawn:
    """One draw of ties; without a loss, of changes alone."""

    manner: MannerName
    loss: Loss | None
    seed: int
    topology_key: str


def outcome_of(prepared: Prepared, drawn: Drawn) -> Outcome:
    """What comes of it, for whoever counts."""
    if drawn.loss is None or drawn.manner == "only":
        settled = prepared.settled(drawn.seed)
    else:
        cluster = prepared.cluster(drawn.seed)
        settled = fails(prepared, cluster, drawn.loss, drawn.manner, drawn.seed)
    return outcome(settled, prepared.profile, topology_key=drawn.topology_key)
