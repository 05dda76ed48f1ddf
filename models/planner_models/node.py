"""Nodes."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from planner_models.base import Bool, Int, KubeModel
from planner_models.meta import KubeObject
from planner_models.quantity import NonNegativeResourceList
from planner_models.resources import in_scheduler_units
from planner_models.taints import Taint

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""The label by which kubeadm and others mark nodes of the control plane."""
REGION = "topology.kubernetes.io/region"
PLANNER_CORDON = "planner/cordon"
"""The annotation of a node that planner has cordoned: which plan, and in which wave."""
UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"


class ContainerImage(KubeModel):
    """An image present on a node."""

    names: tuple[str, ...] = ()
    size_bytes: Int = 0


class NodeCondition(KubeModel):
    """One condition, of which `Ready` matters to the descheduler."""

    type: str
    status: str = ""


class NodeSpec(KubeModel):
    """Cordon and taints."""

    unschedulable: Bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(KubeModel):
    """What the node offers."""

    capacity: NonNegativeResourceList = Field(default_factory=dict)
    allocatable: NonNegativeResourceList = Field(default_factory=dict)
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(KubeObject):
    """A node of the cluster."""

    spec: NodeSpec = NodeSpec.defaults()
    status: NodeStatus = NodeStatus.defaults()

    @property
    def labels(self) -> dict[str, str]:
        """`metadata.labels`."""
        return self.metadata.labels

    @cached_property
    def allocatable(self) -> dict[str, int]:
        """Allocatable resources in scheduler units; capacity where allocatable is absent.

        The API server fills allocatable from capacity (SetDefaults_NodeStatus).
        """
        return in_scheduler_units(self.status.allocatable or self.status.capacity)

    @property
    def ready(self) -> bool:
        """The Ready condition is True, or nobody said anything about it (a manifest)."""
        states = [c.status for c in self.status.conditions if c.type == "Ready"]
        return not states or states[-1] == "True"
