"""What new nodes offer, counted: which pods no offer takes, and which sets are too small.

Sums and counts alone. They never exclude a set that kube-scheduler could fill: whatever they leave
out, such as rules between pods, only makes it harder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray, node_rules_of
from planner.cluster.topology import IntArray
from planner.pools.fill import Filling
from planner.words import amount, conjoined, resource_word
from planner_models.workload import DaemonSet


@dataclass(frozen=True, eq=False)
class Never:
    """A pod that no node of any pool takes, with the reason."""

    pod: int
    reason: str


class FreshNodes:
    """One node of each offer beside the nodes that are there, and which pods fit on which."""

    def __init__(self, filling: Filling) -> None:
        added = filling.add((1,) * len(filling.offers))
        self.cluster = added.cluster
        self.nodes = [node for nodes in added.nodes for node in nodes]
        self.old = [i for i in range(len(self.cluster.nodes)) if i not in self.nodes]
        used = self.cluster.used.copy()
        if depends_on_others(filling.cluster):
            used[self.nodes] = 0
        self.free = np.maximum(self.cluster.resources.allocatable - used, 0)
        self._rules = node_rules_of(self.cluster)

    def admitted(self, pod: int) -> BoolArray:
        """Nodes that the pod's own rules about nodes admit."""
        spec, rules = self.cluster.groups[int(self.cluster.group_of[pod])].spec, self._rules
        found: BoolArray = (
            rules.affinity(spec)
            & rules.taints(spec.tolerations)
            & rules.uncordoned(spec.tolerations)
            & rules.declaring(spec.required_features)
        )
        return found

    def request(self, pod: int) -> IntArray:
        """What the pod requests, resource by resource."""
        found: IntArray = self.cluster.resources.requests[int(self.cluster.group_of[pod])]
        return found

    def slots(self, pod: int) -> IntArray:
        """How many pods like this one each node has room for at most."""
        request = self.request(pod)
        asked = request > 0
        fitting: IntArray = (self.free[:, asked] // request[asked]).min(axis=1)
        return np.where(self.admitted(pod), fitting, 0)

    def never(self, pods: Sequence[int]) -> list[Never]:
        """Pods that fit neither on a fresh node of any offer nor into what is free now."""
        return [Never(pod, self._why(pod)) for pod in pods if not self.slots(pod).any()]

    def _why(self, pod: int) -> str:
        """What refuses the pod on the offers' nodes, in kube-scheduler's order of filters."""
        spec, rules = self.cluster.groups[int(self.cluster.group_of[pod])].spec, self._rules
        left = np.zeros(len(self.cluster.nodes), np.bool_)
        left[self.nodes] = True
        reasons = []
        for text, admitted in (
            ("taints that it does not tolerate", rules.taints(spec.tolerations)),
            ("its node affinity or selector", rules.affinity(spec)),
            ("features that it needs", rules.declaring(spec.required_features)),
        ):
            if (left & ~admitted).any():
                reasons.append(text)
            left &= admitted
        if left.any():
            reasons.append(self._short_of(pod, left))
        return conjoined(reasons)

    def _short_of(self, pod: int, nodes: BoolArray) -> str:
        """The resources that none of these nodes has enough of, or of which each lacks one."""
        names, request = self.cluster.resources.names, self.request(pod)
        most = self.free[nodes].max(axis=0)
        short = [i for i in range(len(names)) if request[i] > most[i]]
        if not short:
            return "different resources on different nodes"
        return conjoined(
            [
                f"{resource_word(names[i])} ({amount(names[i], int(request[i]))} requested, "
                f"at most {amount(names[i], int(most[i]))} free)"
                for i in short
            ]
        )


def depends_on_others(cluster: Cluster) -> bool:
    """Whether pods of DaemonSets may come or not, depending on what runs elsewhere."""
    specs = (
        each.spec.template.spec
        for each in cluster.owners.controllers.values()
        if isinstance(each, DaemonSet)
    )
    return any(
        spec.affinity.pod_affinity.required
        or spec.affinity.pod_anti_affinity.required
        or spec.topology_spread_constraints
        for spec in specs
    )
