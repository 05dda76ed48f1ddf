"""What anybody would try first: each waiting pod goes where it fits, or one pod makes way for it.

By priority; a pod that fits nowhere takes the place of the first pod that is large enough and fits
on another node at once, the fullest one. Pods like one that found nothing are not tried. It looks
at requests and node affinity alone, so it is for clusters in which nothing else decides.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.cluster.topology import IntArray
from planner.disruption.budgets import allowances
from planner.disruption.movability import DEFAULT_POLICY, Movability
from planner.replay.trial import Manner, Trial, WavePlan
from planner.scheduler.profile import default_profile

SEEDS = 20


def one_eviction_each(cluster: Cluster) -> IntArray:
    """Where every pod is afterwards."""
    return _OneEviction(cluster).run()


def drives_off(cluster: Cluster, node_of: IntArray) -> bool:
    """Whether its evictions, all at once, make kube-scheduler preempt somebody in some seed."""
    evicted = np.flatnonzero((cluster.node_of >= 0) & (node_of != cluster.node_of)).tolist()
    trial = Trial(cluster, default_profile(), allowances(cluster), evicted)
    manners = (Manner(seed, terminating=seed % 2 == 1) for seed in range(SEEDS))
    wave = WavePlan(tuple(evicted))
    return any(trial.run([wave], manner, unlimited=True).driven for manner in manners)


class _OneEviction:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._request = cluster.resources.requests[cluster.group_of]
        self._room = cluster.resources.allocatable
        self._free = self._room - cluster.used
        self._node_of = cluster.node_of.copy()
        self._rules = NodeRules(cluster)
        movability = Movability(cluster, DEFAULT_POLICY)
        self._on: dict[int, list[int]] = defaultdict(list)
        for pod in cluster.running.tolist():
            if movability.why(pod) is None:
                self._on[int(self._node_of[pod])].append(pod)

    def run(self) -> IntArray:
        pods, hopeless = self._cluster.pods, set[int]()
        queue = sorted(self._cluster.pending.tolist(), key=lambda pod: -pods[pod].priority)
        for pod in queue:
            group = int(self._cluster.group_of[pod])
            if group not in hopeless and not (self._land(pod) or self._exchange(pod)):
                hopeless.add(group)
        return self._node_of

    def _allowed(self, pod: int) -> BoolArray:
        spec = self._cluster.pods[pod].spec
        return self._rules.affinity(spec) & self._rules.taints(spec.tolerations)

    def _open(self, pod: int, room: IntArray) -> BoolArray:
        request = self._request[pod]
        fits: BoolArray = ((room >= request) | (request == 0)).all(axis=1)
        return fits & self._allowed(pod)

    def _land(self, pod: int, but: int = -1) -> bool:
        nodes = np.flatnonzero(self._open(pod, self._free))
        nodes = nodes[nodes != but]
        if not len(nodes):
            return False
        share = self._free[nodes] / np.maximum(self._room.max(axis=0), 1)
        self._put(pod, int(nodes[share.sum(axis=1).argmin()]))
        return True

    def _exchange(self, pod: int) -> bool:
        for node in np.flatnonzero(self._open(pod, self._room)).tolist():
            request = self._request[pod]
            lacking = np.where(request > 0, request - self._free[node], 0)
            for other in self._on[node]:
                if (self._request[other] >= lacking).all() and self._land(other, but=node):
                    self._on[node].remove(other)
                    self._free[node] += self._request[other]
                    self._put(pod, node)
                    return True
        return False

    def _put(self, pod: int, node: int) -> None:
        self._node_of[pod] = node
        self._free[node] -= self._request[pod]
        self._on[node].append(pod)
