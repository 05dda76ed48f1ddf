"""Whether rollouts that complete today still do with new nodes.

A node in a zone that nobody used makes that zone a domain of every hard zone spread: the next
rollout then has to place pods there, too, and may find no room for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.scenario.controller_run import manners
from planner.scenario.rollout import rollout_of
from planner.scheduler.profile import Profile
from planner_models.workload import Deployment


@dataclass(frozen=True)
class Stuck:
    """A rollout that ends with pods waiting, of so many; what kube-scheduler says of the first."""

    workload: WorkloadRef
    waiting: int
    of: int
    message: str


@dataclass(frozen=True, eq=False)
class KeptRollouts:
    """The next `kubectl rollout restart` of each Deployment, under several seeds."""

    before: Cluster
    profile: Profile
    seeds: int

    @cached_property
    def workloads(self) -> tuple[WorkloadRef, ...]:
        """Deployments with pods, which are not paused."""
        owned = set(self.before.workloads)
        return tuple(
            sorted(
                ref
                for ref, found in self.before.owners.controllers.items()
                if isinstance(found, Deployment)
                and ref in owned
                and found.spec.replicas
                and not found.spec.paused
                and not found.spec.template.spec.node_name
            )
        )

    @cached_property
    def landings(self) -> int:
        """How many pods these rollouts place, under all seeds."""
        owned = [self.before.workloads[int(g)] for g in self.before.group_of]
        chosen = set(self.workloads)
        return self.seeds * sum(ref in chosen for ref in owned)

    def broken(self, cluster: Cluster) -> tuple[Stuck, ...]:
        """Rollouts that end incomplete in this cluster, and do not without its new nodes."""
        found = (self._stuck(cluster, ref) for ref in self.workloads)
        return tuple(
            each for each in found if each is not None and each.workload not in self._stuck_today
        )

    @cached_property
    def _stuck_today(self) -> frozenset[WorkloadRef]:
        """Those that end incomplete as it is, or wait for nodes."""
        waits = {self.before.workloads[int(g)] for g in self.before.group_of[self.before.pending]}
        others = [ref for ref in self.workloads if ref not in waits]
        stuck = {ref for ref in others if self._stuck(self.before, ref) is not None}
        return frozenset(waits | stuck)

    def _stuck(self, cluster: Cluster, ref: WorkloadRef) -> Stuck | None:
        """The first seed under which the rollout does not complete."""
        rollout = rollout_of(cluster, self.profile, ref)
        for manner in manners(self.seeds):
            run = rollout.run(manner)
            if not run.complete:
                return Stuck(ref, len(run.waiting), run.of, run.message)
        return None
