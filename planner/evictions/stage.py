"""The cluster on which trials are carried out, one after the other, all from the same start.

Going back to the start costs as much as a trial has changed. A cordon hides nodes from pods that do
not tolerate it, which is a matter of the next question to the scheduler. Only where a rule looks at
taints (`nodeTaintsPolicy: Honor`) it changes what filters know, and the scheduler starts afresh.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from planner.cluster import GONE, PENDING, Cluster
from planner.cluster.topology import IntArray
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework import UNRESOLVABLE, Status
from planner.scheduler.profile import Profile
from planner.scheduler.state import SchedulingState
from planner.verify.replay import CORDON, cordoned_node

HIDDEN = Status("NodeUnschedulable", UNRESOLVABLE, ("node(s) were unschedulable",))


class Stage:
    """Pods come and go; `restore` brings everything back to where it was."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self.cluster = cluster
        self._profile = profile
        self._cordoned: frozenset[int] = frozenset()
        self._hides = not _taints_honoured(cluster, profile)
        self._tolerating = frozenset(
            group.index
            for group in cluster.groups
            if any(toleration.tolerates(CORDON) for toleration in group.spec.tolerations)
        )
        self._start = SchedulingState(cluster)
        self._scheduler_at_start = Scheduler(self._start, profile)
        self._state, self._scheduler = self._start, self._scheduler_at_start

    def restore(self) -> None:
        """Every pod is where the snapshot has it, and no cordon is left."""
        self._cordoned = frozenset()
        self._state, self._scheduler = self._start, self._scheduler_at_start
        wanted = self.cluster.node_of
        for pod in np.flatnonzero(self._state.node_of != wanted).tolist():
            home = int(wanted[pod])
            if self._state.node_of[pod] >= 0:
                self._state.remove(pod, home if home < 0 else PENDING)
            if home >= 0:
                self._state.place(pod, home)

    @property
    def node_of(self) -> IntArray:
        """Where pods are now."""
        return self._state.node_of.copy()

    @property
    def position(self) -> int:
        """Grows with every change."""
        return len(self._state.log)

    @property
    def cordoned(self) -> frozenset[int]:
        """The nodes that are cordoned now, beyond those that were from the start."""
        return self._cordoned

    def cordon(self, nodes: Iterable[int]) -> None:
        """Exactly these nodes are cordoned from now on."""
        wanted = frozenset(nodes)
        if wanted == self._cordoned:
            return
        self._cordoned = wanted
        if self._hides:
            return
        changed = list(self.cluster.nodes)
        for node in wanted:
            changed[node] = cordoned_node(changed[node], True)
        now = replace(self._state.snapshot(), nodes=tuple(changed))
        self._state = SchedulingState(now)
        self._scheduler = Scheduler(self._state, self._profile)

    def evict(self, pod: int, old: int | None) -> None:
        """The pod waits again; `old`, its terminating twin, stays where it was."""
        node = int(self._state.node_of[pod])
        self._state.remove(pod)
        if old is not None:
            self._state.place(old, node)

    def forget(self, old: int) -> None:
        """A terminating twin is gone."""
        self._state.remove(old, GONE)

    def best(self, pod: int) -> IntArray:
        """The nodes of which kube-scheduler picks any for the pod now; none if it has to wait."""
        hidden = None
        if self._hides and int(self.cluster.group_of[pod]) not in self._tolerating:
            hidden = dict.fromkeys(self._cordoned, HIDDEN)
        return self._scheduler.evaluate(pod, yields=hidden).best

    def place(self, pod: int, node: int) -> None:
        """The pod runs on the node."""
        self._state.place(pod, node)


def _taints_honoured(cluster: Cluster, profile: Profile) -> bool:
    """Whether the taint of a cordon means more than that the node takes no pod."""
    specs = {id(group.spec): group.spec for group in cluster.groups}.values()
    defaults = profile.resolved.args.pod_topology_spread.default_constraints
    constraints = (*defaults, *(c for spec in specs for c in spec.topology_spread_constraints))
    return any(constraint.node_taints_policy == "Honor" for constraint in constraints)
