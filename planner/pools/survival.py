"""Whether everybody still runs if a zone, or a node, fails: what `--survive` asks of new nodes.

The lost nodes are removed; whoever has a controller is made anew and kube-scheduler places it.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.cluster import Cluster
from planner.scenario import LoseNodes, apply_changes, settle
from planner.scenario.single_failures import Failing, single_failures
from planner.scheduler.profile import Profile
from planner_models.node import ZONE


@dataclass(frozen=True, eq=False)
class Loss:
    """A failure after which pods wait that did not before, and the cluster then."""

    name: str
    waiting: tuple[int, ...]
    cluster: Cluster
    zone: str
    """The zone that is lost; empty if only a node is."""


@dataclass(frozen=True)
class Survival:
    """Failures of one kind, each tried under one seed."""

    kind: Failing
    profile: Profile

    def worst(self, cluster: Cluster) -> Loss | None:
        """The failure that leaves most waiting; None if all are survived."""
        before = set(cluster.pending.tolist())
        losses: list[Loss] = []
        for failure in single_failures(cluster, self.kind):
            lost = apply_changes(cluster, [LoseNodes(failure.nodes, "removed")])
            end = settle(lost, self.profile, preempt=True).cluster
            waiting = tuple(pod for pod in end.pending.tolist() if pod not in before)
            if waiting:
                first = cluster.nodes[failure.nodes[0]]
                zone = first.labels.get(ZONE, "") if self.kind == "zone" else ""
                losses.append(Loss(zone or first.name, waiting, end, zone))
        return max(losses, key=lambda loss: len(loss.waiting), default=None)
