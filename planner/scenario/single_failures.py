"""How many pods wait if one node, or one zone, fails and is removed.

Whoever has a controller is made anew, and kube-scheduler places what it can (`scenario`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from planner.cluster import Cluster
from planner.scenario.apply import apply_changes
from planner.scenario.changes import LoseNodes
from planner.scenario.settle import settle
from planner.scheduler.profile import Profile
from planner.workers import HERE, Workers
from planner_models.node import ZONE

Failing = Literal["zone", "node"]


@dataclass(frozen=True)
class Failure:
    """What is lost together."""

    kind: Failing
    nodes: tuple[int, ...]


def single_failures(cluster: Cluster, kind: Failing) -> Iterator[Failure]:
    """Every zone, or every node, that is still there."""
    there = [node for node in range(len(cluster.nodes)) if node not in cluster.ghosts]
    if kind == "node":
        yield from (Failure("node", (node,)) for node in there)
        return
    topology = cluster.topology(ZONE)
    for domain in range(len(topology.domains)):
        yield Failure("zone", tuple(n for n in there if topology.domain_of[n] == domain))


def without_nodes(cluster: Cluster, nodes: Collection[int]) -> Cluster:
    """The cluster when these nodes are removed; their pods wait, or are gone with them."""
    if not nodes:
        return cluster
    return apply_changes(cluster, [LoseNodes(tuple(sorted(nodes)), "removed")]).cluster


class Failures:
    """Failures of a cluster from which some nodes are gone already."""

    def __init__(self, cluster: Cluster, gone: Collection[int], profile: Profile) -> None:
        self._cluster = without_nodes(cluster, gone)
        self._profile = profile

    def all(self, kind: Failing) -> tuple[Failure, ...]:
        """Every failure of a kind."""
        return tuple(single_failures(self._cluster, kind))

    def waiting(self, failure: Failure, seeds: int = 1) -> int:
        """How many more pods wait after a failure, under the worst of the seeds."""
        lost = apply_changes(self._cluster, [LoseNodes(failure.nodes, "removed")])
        ends = (settle(lost, self._profile, seed=seed, preempt=True) for seed in range(seeds))
        return max(len(end.cluster.pending) for end in ends) - len(self._cluster.pending)

    def survived(self, kinds: Collection[Failing], seeds: int, workers: Workers = HERE) -> bool:
        """Whether none of these failures leaves a pod waiting that did not wait before."""
        every = [(failure, seeds) for kind in kinds for failure in self.all(kind)]
        names = [f"{failure.kind} {number}" for number, (failure, _) in enumerate(every)]
        with closing(workers.in_order(waiting_after, self, every, names)) as found:
            return all(number <= 0 for number in found)


def waiting_after(failures: Failures, task: tuple[Failure, int]) -> int:
    """What a worker does: one failure under so many seeds."""
    return failures.waiting(*task)
