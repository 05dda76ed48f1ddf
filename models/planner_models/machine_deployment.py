"""cluster-api's MachineDeployment: machines of one kind, whose number an autoscaler changes."""

from __future__ import annotations

from pydantic import Field

from planner_models.base import Count, KubeModel
from planner_models.labels import Labels
from planner_models.meta import KubeObject
from planner_models.taints import Taint


class MachineMeta(KubeModel):
    """What its machines are labelled with."""

    labels: Labels = Field(default_factory=dict)


class MachineSpec(KubeModel):
    """Where its machines are, and the taints that they pass on to their nodes."""

    failure_domain: str = ""
    taints: tuple[Taint, ...] = ()


class MachineTemplate(KubeModel):
    """The template of its machines."""

    metadata: MachineMeta = MachineMeta.defaults()
    spec: MachineSpec = MachineSpec.defaults()


class MachineDeploymentSpec(KubeModel):
    """How many machines there are to be, and of which kind."""

    replicas: Count | None = None
    template: MachineTemplate = MachineTemplate.defaults()


class MachineDeploymentStatus(KubeModel):
    """How many machines there are."""

    replicas: Count = 0


class MachineDeployment(KubeObject):
    """A group of machines; annotations say what a node of it offers, and how many there may be."""

    spec: MachineDeploymentSpec = MachineDeploymentSpec.defaults()
    status: MachineDeploymentStatus = MachineDeploymentStatus.defaults()

    @property
    def replicas(self) -> int:
        """How many machines are wanted, or else there."""
        wanted = self.spec.replicas
        return self.status.replicas if wanted is None else wanted
