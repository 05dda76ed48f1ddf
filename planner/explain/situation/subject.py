"""Whom an explanation is about, and what to call it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import Topology
from planner.disruption.movability import MovePolicy
from planner.explain.situation.node_names import NodeNames
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import SKIP, PreFilterResult
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner_models.pod import Pod


@dataclass(frozen=True, eq=False)
class Subject:
    """One waiting pod before the state of its cluster; nothing here changes that state."""

    state: SchedulingState
    profile: Profile
    scheduler: Scheduler
    nodes: NodeNames
    pod: int
    movable: dict[MovePolicy, BoolArray] = field(default_factory=dict)
    """Running pods that may be evicted; subjects over one state share what they found."""

    @property
    def cluster(self) -> Cluster:
        """The snapshot."""
        return self.state.cluster

    @cached_property
    def group(self) -> PodGroup:
        """The pod's group of interchangeable pods."""
        return self.state.group(self.pod)

    @property
    def record(self) -> Pod:
        """The pod itself."""
        return self.cluster.pods[self.pod]

    @property
    def name(self) -> str:
        """The pod's name, which the derivation uses."""
        return self.record.name

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.record.key

    @cached_property
    def workload(self) -> WorkloadRef:
        """The topmost controller; a bare pod stands for itself."""
        return self.cluster.owners.workload_of(self.record)

    @property
    def bare(self) -> bool:
        """Whether no controller made the pod."""
        return self.workload.kind == "Pod"

    @property
    def short(self) -> str:
        """The workload's name, which people know better than that of a replica."""
        if self.workload.kind in ("Pod", "StatefulSet"):
            return self.name
        return self.workload.name

    @property
    def headline(self) -> str:
        """`pod/mypod`, or the name of a replica, which says whose it is."""
        return f"pod/{self.name}" if self.bare else self.name

    @cached_property
    def replicas(self) -> int:
        """The pods of the workload that run or wait: so many a changed template rolls out."""
        return 1 if self.bare else len(self.replica_pods)

    @cached_property
    def replica_pods(self) -> tuple[int, ...]:
        """The pods of the workload that run or wait."""
        workloads = self.cluster.workloads
        mine = np.fromiter((w == self.workload for w in workloads), np.bool_, len(workloads))
        here = (self.cluster.node_of >= -1) & ~self.state.terminating
        return tuple(np.flatnonzero(mine[self.cluster.group_of] & here).tolist())

    def pre_filter(self, plugin: str) -> PreFilterResult:
        """What a plugin says about the pod; nothing, if the profile leaves it out."""
        for each in self.profile.filters:
            if each.name == plugin:
                return each.pre_filter(self.state, self.group)
        return SKIP

    def running_of(self, groups: Sequence[int]) -> BoolArray:
        """The running pods of these groups."""
        found: BoolArray = np.isin(self.cluster.group_of, groups) & (self.state.node_of >= 0)
        return found

    def running_in(self, topology: Topology, node: int, groups: Sequence[int]) -> BoolArray:
        """Those of them in the node's domain."""
        nodes = np.maximum(self.state.node_of, PENDING)
        there = np.append(topology.domain_of, -2)[nodes] == topology.domain_of[node]
        found: BoolArray = self.running_of(groups) & there
        return found


def subject_of(cluster: Cluster, profile: Profile, pod: int) -> Subject:
    """The pod over a fresh state."""
    return subject_over(SchedulingState(cluster), profile, pod)


def subject_over(
    state: SchedulingState,
    profile: Profile,
    pod: int,
    movable: dict[MovePolicy, BoolArray] | None = None,
) -> Subject:
    """The pod over a state of its own."""
    scheduler = Scheduler(state, profile)
    return Subject(state, profile, scheduler, NodeNames(state.cluster), pod, movable or {})
