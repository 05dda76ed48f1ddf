"""What Fleet has decided before: the clusters picked (bindings), and under which policies.

Group `placement.kubernetes-fleet.io`. Every change of a policy but that of its number of clusters
makes a new snapshot, and the bindings made under an older one obsolete.
"""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from planner_models.base import Int32, KubeModel
from planner_models.fleet import PlacementPolicy
from planner_models.meta import KubeObject

BindingState = Literal["Scheduled", "Bound", "Unscheduled"]

PARENT_LABEL = "kubernetes-fleet.io/parent-CRP"
"""On bindings and policy snapshots: the placement they belong to, of either kind."""

LATEST_LABEL = "kubernetes-fleet.io/is-latest-snapshot"


class BindingScore(KubeModel):
    """The scores a cluster had when it was picked; the API calls the spread score a priority."""

    affinity_score: Int32 = 0
    priority_score: Int32 = 0


class BindingDecision(KubeModel):
    """Why the cluster of a binding was picked."""

    cluster_score: BindingScore | None = None


class BindingSpec(KubeModel):
    """A picked cluster, and under which policy it was picked."""

    state: BindingState
    target_cluster: str
    scheduling_policy_snapshot_name: str = ""
    cluster_decision: BindingDecision = BindingDecision.defaults()


class Binding(KubeObject):
    """What both kinds of binding have in common."""

    spec: BindingSpec

    @property
    def parent(self) -> str:
        """The placement, from the label Fleet finds it by; empty where it is missing."""
        return self.metadata.labels.get(PARENT_LABEL, "")


class ClusterResourceBinding(Binding):
    """A cluster that a ClusterResourcePlacement has picked."""


class ResourceBinding(Binding):
    """A cluster that a ResourcePlacement has picked."""


class PlacementPolicySnapshot(PlacementPolicy):
    """A stored policy; the number of clusters stands in an annotation instead."""

    @model_validator(mode="before")
    @classmethod
    def _number_is_elsewhere(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("placementType") == "PickN":
            return {**data, "numberOfClusters": 0}
        return data


class PolicySnapshotSpec(KubeModel):
    """The policy at some time, without the number of clusters."""

    policy: PlacementPolicySnapshot | None = None


class PolicySnapshot(KubeObject):
    """What both kinds of policy snapshot have in common."""

    spec: PolicySnapshotSpec = PolicySnapshotSpec.defaults()

    @property
    def parent(self) -> str:
        """The placement it belongs to."""
        return self.metadata.labels.get(PARENT_LABEL, "")

    @property
    def latest(self) -> bool:
        """Whether bindings made under it are up to date."""
        return self.metadata.labels.get(LATEST_LABEL) == "true"


class ClusterSchedulingPolicySnapshot(PolicySnapshot):
    """A policy of a ClusterResourcePlacement."""


class SchedulingPolicySnapshot(PolicySnapshot):
    """A policy of a ResourcePlacement."""
