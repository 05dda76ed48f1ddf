"""Member clusters of a fleet: labels, taints, observed properties and whether they are alive.

Group `cluster.kubernetes-fleet.io`. A cluster is known by its name everywhere in Fleet.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from planner_models.base import KubeModel
from planner_models.fleet_quantity import PropertyQuantity
from planner_models.meta import KubeObject, ObjectMeta, Time
from planner_models.taints import Taint

MEMBER_AGENT = "MemberAgent"
RESOURCE_PREFIX = "resources.kubernetes-fleet.io/"
"""Properties of this prefix are read from the resource usage: `.../available-cpu`."""

CAPACITY_TYPES = ("total", "allocatable", "available")


class ClusterTaint(Taint):
    """A taint of a member cluster; Fleet knows one effect only."""

    effect: Literal["NoSchedule"]


class ClusterCondition(KubeModel):
    """One condition, of the cluster or of an agent in it."""

    type: str
    status: str = ""
    last_transition_time: Time | None = None


class AgentStatus(KubeModel):
    """What the hub knows of one agent; the member agent's heartbeat says whether all is well."""

    type: str
    conditions: tuple[ClusterCondition, ...] = ()
    last_received_heartbeat: Time | None = None

    def condition(self, kind: str) -> ClusterCondition | None:
        """The condition of this type, if the agent has reported it."""
        return next((each for each in self.conditions if each.type == kind), None)


class PropertyValue(KubeModel):
    """An observed property. Most are quantities; the Kubernetes version, for one, is not."""

    value: str


class ResourceUsage(KubeModel):
    """Resources of all nodes of a cluster together."""

    capacity: dict[str, PropertyQuantity] = Field(default_factory=dict)
    allocatable: dict[str, PropertyQuantity] = Field(default_factory=dict)
    available: dict[str, PropertyQuantity] = Field(default_factory=dict)


class MemberClusterSpec(KubeModel):
    """Taints; how the cluster reaches its hub does not matter here."""

    taints: tuple[ClusterTaint, ...] = ()


class MemberClusterStatus(KubeModel):
    """What the hub has observed."""

    conditions: tuple[ClusterCondition, ...] = ()
    properties: dict[str, PropertyValue] = Field(default_factory=dict)
    resource_usage: ResourceUsage = ResourceUsage.defaults()
    namespaces: dict[str, str] | None = None
    agent_status: tuple[AgentStatus, ...] = ()


class MemberClusterMeta(ObjectMeta):
    """The metadata, and whether an API server has stored the object."""

    resource_version: str = ""


class MemberCluster(KubeObject):
    """A cluster of the fleet."""

    metadata: MemberClusterMeta = MemberClusterMeta.defaults()
    spec: MemberClusterSpec = MemberClusterSpec.defaults()
    status: MemberClusterStatus | None = None

    @property
    def labels(self) -> dict[str, str]:
        """`metadata.labels`, by which placements select and spread."""
        return self.metadata.labels

    @property
    def leaving(self) -> bool:
        """Whether it is being deleted, which is how a cluster leaves its fleet."""
        return self.metadata.deletion_timestamp is not None

    @cached_property
    def observed(self) -> bool:
        """Whether it comes from a hub; by hand one writes properties at most."""
        stored = bool(self.metadata.uid or self.metadata.resource_version)
        status = self.status
        return stored or (status is not None and bool(status.agent_status or status.conditions))

    @cached_property
    def member_agent(self) -> AgentStatus | None:
        """The agent that applies what is placed; others (networking) don't matter to placement."""
        agents = self.status.agent_status if self.status else ()
        return next((agent for agent in agents if agent.type == MEMBER_AGENT), None)
