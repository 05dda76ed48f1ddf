"""Whom an explanation is about, and what to call it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.disruption.movability import MovePolicy
from planner.explain.situation.places import Places
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner_models.pod import Pod


@dataclass(frozen=True, eq=False)
class Subject:
    """One waiting pod before the state of its cluster; nothing here changes that state."""

    state: SchedulingState
    profile: Profile
    scheduler: Scheduler
    places: Places
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
        if self.bare:
            return 1
        workloads = self.cluster.workloads
        mine = np.fromiter((w == self.workload for w in workloads), np.bool_, len(workloads))
        here = (self.cluster.node_of >= -1) & ~self.state.terminating
        return int((mine[self.cluster.group_of] & here).sum())

    @property
    def template(self) -> str:
        """Where the pod's fields are changed: in its own spec or in the workload's template."""
        return "spec" if self.bare else "spec.template.spec"


def subject_of(cluster: Cluster, profile: Profile, pod: int) -> Subject:
    """The pod over a fresh state."""
    state = SchedulingState(cluster)
    return Subject(state, profile, Scheduler(state, profile), Places(cluster), pod)
