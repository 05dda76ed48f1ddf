"""nodeFit: whether a pod would fit on a node, as far as the descheduler looks.

That is less than kube-scheduler does: a cordon, node affinity, taints, the pod's own required
anti-affinity towards pods on the very node, and requests. Spread constraints, the anti-affinity of
others and whole domains are not looked at, so a pod that fits may find no node all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from planner.cluster.node_rules import BoolArray, node_rules_of
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.framework import View
from planner_models.affinity import PodAffinityTerm
from planner_models.pod import Pod, PodSpec
from planner_models.resources import PODS


class NodeFit:
    """The question for many pods of one view; replicas share the answers."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._cluster = view.cluster
        self._rules = node_rules_of(view.cluster)
        self._by_rules: dict[int, BoolArray] = {}
        self._by_room: dict[int, BoolArray] = {}
        self._rivals: dict[tuple[object, ...], tuple[IntArray, frozenset[int]]] = {}

    def landing_on(self, nodes: IntArray) -> Callable[[Pod], bool]:
        """Whether one of these nodes, other than its own, would take a pod."""
        among = np.zeros(len(self._cluster.nodes), np.bool_)
        among[nodes] = True
        known: dict[int, tuple[BoolArray, int]] = {}

        def takes(pod: Pod) -> bool:
            found = known.get(id(pod.spec))
            if found is None:
                fits = among & self._admitting(pod) & self._roomy(pod.spec)
                found = fits, int(fits.sum())
                if not pod.spec.affinity.pod_anti_affinity.required:
                    known[id(pod.spec)] = found
            fits, count = found
            own = self._view.node_of(pod)
            return count > int(own >= 0 and fits[own])

        return takes

    def fits_any(self, pod: Pod, nodes: IntArray) -> bool:
        """Whether one of these nodes would take the pod; on its own it has its room already."""
        own = self._view.node_of(pod)
        admitting = self._admitting(pod)
        fits = admitting & self._roomy(pod.spec)
        fits[own] = admitting[own]
        return bool(fits[nodes].any())

    def matches_affinity(self, pod: Pod) -> BoolArray:
        """Nodes that nodeSelector and required node affinity admit."""
        return self._rules.affinity(pod.spec)

    def tolerated(self, pod: Pod) -> BoolArray:
        """Nodes without a NoSchedule or NoExecute taint that the pod does not tolerate."""
        return self._rules.taints(pod.spec.tolerations)

    def _admitting(self, pod: Pod) -> BoolArray:
        """Nodes that take the pod if they have room."""
        found = self._by_rules.get(id(pod.spec))
        if found is None:
            found = ~self._cordoned & self.matches_affinity(pod) & self.tolerated(pod)
            self._by_rules[id(pod.spec)] = found
        for term in pod.spec.affinity.pod_anti_affinity.required:
            found = found & ~self._rivalled(pod, term)
        return found

    @cached_property
    def _cordoned(self) -> BoolArray:
        nodes = self._cluster.nodes
        return np.fromiter((node.spec.unschedulable for node in nodes), np.bool_, len(nodes))

    def _rivalled(self, pod: Pod, term: PodAffinityTerm) -> BoolArray:
        """Nodes that run a pod that the term is about; one of the same name is taken for itself.

        Only `namespaces` are looked at, not `namespaceSelector`.
        """
        namespaces = term.namespaces or (pod.namespace,)
        key = (term.label_selector, namespaces)
        rivals = self._rivals.get(key)
        if rivals is None:
            groups = self._cluster.group_index.matching(term.label_selector, set(namespaces))
            rivals = self._rivals[key] = self._running(groups)
        counts, pods = rivals
        counts = counts.copy()
        for namespace in set(namespaces):
            same = self._cluster.pod_index.get(f"{namespace}/{pod.name}")
            if same in pods:
                counts[self._cluster.node_of[same]] -= 1
        return (counts > 0) & self._rules.labelled(term.topology_key)

    def _running(self, groups: IntArray) -> tuple[IntArray, frozenset[int]]:
        """How many pods of these groups each node runs, and which pods these are."""
        matching = np.isin(self._cluster.group_of, groups) & (self._cluster.node_of >= 0)
        nodes = self._cluster.node_of[matching]
        counts = np.bincount(nodes, minlength=len(self._cluster.nodes))
        return counts, frozenset(np.flatnonzero(matching).tolist())

    def _roomy(self, spec: PodSpec) -> BoolArray:
        """Nodes with enough left of everything that the pod names, and of pods."""
        found = self._by_room.get(id(spec))
        if found is None:
            found = np.logical_and.reduce(list(self._enough(spec)))
            self._by_room[id(spec)] = found
        return found

    def _enough(self, spec: PodSpec) -> Iterator[BoolArray]:
        table = self._cluster.resources
        yield self._free[:, table.column(PODS)] > 0
        for name, amount in spec.requests.items():
            column = table.index.get(name)
            if column is not None:
                yield self._free[:, column] >= amount
            elif amount > 0:
                yield np.zeros(len(self._cluster.nodes), np.bool_)

    @cached_property
    def _free(self) -> IntArray:
        return self._cluster.resources.allocatable - self._cluster.used
