"""What Fleet has decided before: the clusters picked (bindings), and under which policies.

Group `placement.kubernetes-fleet.io`. Every change of a policy but that of its number of clusters
makes a new snapshot, and the bindings made under an older one obsolete.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator

from planner_models.base import Int32, KubeModel
from planner_models.meta import KubeObject

BindingState = Literal["Scheduled", "Bound", "Unscheduled"]

PARENT_LABEL = "kubernetes-fleet.io/parent-CRP"
"""On bindings and policy snapshots: the placement they belong to, of either kind."""

LATEST_LABEL = "kubernetes-fleet.io/is-latest-snapshot"
INDEX_LABEL = "kubernetes-fleet.io/policy-index"
GENERATION_ANNOTATION = "kubernetes-fleet.io/CRP-generation"
NUMBER_ANNOTATION = "kubernetes-fleet.io/number-of-clusters"
PREVIOUS_STATE_ANNOTATION = "kubernetes-fleet.io/previous-binding-state"
"""On a binding that is given up: what it was, should its cluster be picked again in time."""


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


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError("is not the base64 of a hash") from error


class PolicySnapshotSpec(KubeModel):
    """The policy at some time: its hash tells whether it is still the same."""

    policy_hash: Annotated[str, AfterValidator(_decoded)] = ""


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
