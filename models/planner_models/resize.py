"""Requests during an in-place resize (KEP 1287), as kube-scheduler counts pods that have a node.

The spec says what is wanted, `allocatedResources` what the kubelet has promised, `resources` of the
status what the container runs with. Until the three agree the largest counts for each resource; of
a resize that the node can never grant (Infeasible), the wish does not count. The helper of v1.36
does the same for `spec.resources` of the whole pod (KEP 5419).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import Field

from planner_models.base import KubeModel
from planner_models.pod import Container, PodSpec
from planner_models.resources import Amounts, ResourceRequirements, is_pod_level


class ResourceStatus(KubeModel):
    """What the status of a container, or of the pod, says about its resources."""

    resources: ResourceRequirements = ResourceRequirements.defaults()
    allocated_resources: Amounts = Field(default_factory=dict)


class ContainerResourceStatus(ResourceStatus):
    """The same with the container's name."""

    name: str = ""


class PodResourceStatus(ResourceStatus):
    """`status` of a pod, as far as a resize shows in it."""

    container_statuses: tuple[ContainerResourceStatus, ...] = ()
    init_container_statuses: tuple[ContainerResourceStatus, ...] = ()


@dataclass(frozen=True)
class Resize:
    """The statuses that differ from the spec: of containers by name, and of the whole pod."""

    containers: Mapping[str, ResourceStatus] = field(default_factory=dict)
    pod: ResourceStatus | None = None
    infeasible: bool = False

    def effective(self, spec: PodSpec) -> PodSpec:
        """The spec with the requests that count.

        Init containers that end are not resized: of them only sidecars have a status that counts.
        """
        return spec.replace(
            containers=tuple(self._container(each) for each in spec.containers),
            init_containers=tuple(
                self._container(each) if each.sidecar else each for each in spec.init_containers
            ),
            resources=self._pod_level(spec.resources),
        )

    def _container(self, container: Container) -> Container:
        status = self.containers.get(container.name)
        if status is None:
            return container
        requests = self._requests(container.resources.requests, status)
        return container.replace(resources=container.resources.replace(requests=requests))

    def _pod_level(self, resources: ResourceRequirements) -> ResourceRequirements:
        if self.pod is None:
            return resources
        found = self._requests(resources.requests, self.pod)
        requests = {
            name: found.get(name, 0) if is_pod_level(name) else amount
            for name, amount in resources.requests.items()
        }
        return resources.replace(requests=requests)

    def _requests(self, wanted: Mapping[str, int], status: ResourceStatus) -> dict[str, int]:
        """The largest of what is wanted, allocated and actual, resource by resource."""
        known = [] if self.infeasible else [wanted]
        known += [status.resources.requests, status.allocated_resources]
        names = dict.fromkeys(name for each in known for name in each)
        return {name: max(each.get(name, 0) for each in known) for name in names}
