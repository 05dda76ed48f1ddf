"""The snapshots that rules look at, each made when the first rule asks for it.

Many rules are about the text alone and need none. A fix that is tried on a changed input changes
little: where it leaves nodes, budgets and all but a few waiting pods alone, its snapshots are made
from those of the input, and share what is known about everybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING

from planner.sources.inventory import Inventory
from planner_models.pod import Pod

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.cluster.node_rules import NodeRules
    from planner.scheduler.profile import Profile

REPLENISHED = frozenset(
    (
        *("pods", "deployments", "replica_sets", "stateful_sets", "daemon_sets"),
        *("jobs", "replication_controllers"),
    )
)
"""What a change of a workload may touch: the workload, and the pods that its controller makes."""


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Of one input; `origin` are those of the input that this one is a changed copy of."""

    inventory: Inventory
    sample_pods: tuple[Pod, ...]
    bare: frozenset[str]
    """Pods of the manifests that no controller makes."""
    profile_of: Callable[[], Profile]
    origin: Snapshots | None = None

    def changed(self, inventory: Inventory, sample_pods: tuple[Pod, ...]) -> Snapshots:
        """Those of a changed input."""
        return Snapshots(inventory, sample_pods, self.bare, self.profile_of, origin=self)

    @cached_property
    def cluster(self) -> Cluster:
        """After the manifests were applied: their pods wait, unless they run already."""
        from planner.cluster import build_cluster

        derived = None if self.origin is None else self._derived(self.origin)
        return build_cluster(self.inventory) if derived is None else derived

    def _derived(self, origin: Snapshots) -> Cluster | None:
        """The snapshot as a change of the origin's, where that is all there is to it."""
        changed = {
            each.name
            for each in fields(Inventory)
            if not _same(getattr(self.inventory, each.name), getattr(origin.inventory, each.name))
        }
        if changed <= {"budgets"} and _same_selectors(self.inventory, origin.inventory):
            return origin.cluster.with_budgets(self.inventory.budgets)
        if not changed <= REPLENISHED:
            return None
        from planner.cluster.changed_workloads import with_changed_workloads

        return with_changed_workloads(origin.cluster, origin.inventory, self.inventory)

    @cached_property
    def samples(self) -> Cluster:
        """The same nodes and running pods; nobody waits but the samples, which come last."""
        from planner.cluster import PENDING
        from planner.cluster.new_pods import with_new_pods

        cluster, bare = self.cluster, self.bare
        others = cluster.pending.tolist()
        if bare:
            others += [i for i, pod in enumerate(cluster.pods) if pod.key in bare]
        found = with_new_pods(cluster.without(others), self.sample_pods, cluster.owners)
        first = len(cluster.pods)
        return found.with_placement(dict.fromkeys(range(first, len(found.pods)), PENDING))

    @cached_property
    def node_rules(self) -> NodeRules:
        """Which nodes pods may use by the rules about nodes alone."""
        from planner.cluster.node_rules import node_rules_of

        return node_rules_of(self.samples)

    @cached_property
    def settled(self) -> Cluster:
        """After the manifests were applied, pods moved to their new rules, and placed."""
        from planner.scenario.manifests import applied, changes_templates

        if not changes_templates(self.cluster, self.inventory):
            return self.before_rollout
        now, _ = applied(self.cluster, self.inventory)
        return self._placed(now)

    @cached_property
    def before_rollout(self) -> Cluster:
        """After the manifests were applied, with running pods as they still are."""
        return self._placed(self.cluster)

    def _placed(self, cluster: Cluster) -> Cluster:
        from planner.disruption.node_lifecycle import with_condition_taints
        from planner.evictions.suggest import settled

        return settled(with_condition_taints(cluster), self.profile_of())


def _same(one: object, other: object) -> bool:
    """The very same objects, whether in one tuple or in two."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_, one, other))
    return one is other


def _same_selectors(one: Inventory, other: Inventory) -> bool:
    """Selectors of budgets tell pods apart, so with others there would be other groups."""
    return [(each.key, each.spec.selector) for each in one.budgets] == [
        (each.key, each.spec.selector) for each in other.budgets
    ]
