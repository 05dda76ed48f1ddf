"""Rollouts of workloads: the door for everybody who asks whether one proceeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.errors import PlannerError
from planner.replay.trial import Manner
from planner.scenario.daemon_set_rollout import DaemonSetRollout
from planner.scenario.deployment_rollout import deployment_rollouts
from planner.scenario.rollout_run import RolloutRun
from planner.scenario.stateful_set_rollout import StatefulSetRollout
from planner.scheduler.profile import Profile
from planner_models.pod import PodTemplate
from planner_models.workload import DaemonSet, Deployment, StatefulSet


class Rollout(Protocol):
    """Rollouts of one workload from one snapshot, to be run in several manners."""

    def run(self, manner: Manner, cordoned: Sequence[int] = ()) -> RolloutRun:
        """One rollout to its end, with these nodes cordoned."""
        ...


def rollout_of(
    cluster: Cluster, profile: Profile, workload: WorkloadRef, template: PodTemplate | None = None
) -> Rollout:
    """The rollout of a new template; without one `kubectl rollout restart`."""
    found = cluster.owners.controllers.get(workload)
    match found:
        case Deployment():
            return deployment_rollouts(cluster, profile, [(found, template)])[0]
        case StatefulSet():
            return StatefulSetRollout(cluster, profile, found, template)
        case DaemonSet():
            return DaemonSetRollout(cluster, profile, found, template)
        case None:
            raise PlannerError("the input does not have it", object=workload.key)
        case _:
            raise PlannerError(f"a {workload.kind} has no rollouts", object=workload.key)


def roll_out(
    cluster: Cluster,
    profile: Profile,
    workload: WorkloadRef,
    template: PodTemplate | None = None,
    *,
    seed: int = 0,
    cordoned: Sequence[int] = (),
) -> RolloutRun:
    """One rollout under one seed. For several take `rollout_of`: it keeps what runs share."""
    return rollout_of(cluster, profile, workload, template).run(Manner(seed), cordoned)
