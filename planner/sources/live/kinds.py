"""The kinds that are read from a cluster, and the paths of their lists.

These paths are all that kubectl's proxy lets through, and all that `planner rbac` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A resource of the API server, by its plural as in paths and roles."""

    resource: str
    group: str = ""
    version: str = "v1"

    @property
    def path(self) -> str:
        """The list of all of them, in all namespaces."""
        prefix = f"/apis/{self.group}/{self.version}" if self.group else "/api/v1"
        return f"{prefix}/{self.resource}"


PODS = Kind("pods")
NODES = Kind("nodes")
BUDGETS = Kind("poddisruptionbudgets", "policy")
NAMESPACES = Kind("namespaces")
SERVICES = Kind("services")
WORKLOADS = (
    Kind("deployments", "apps"),
    Kind("replicasets", "apps"),
    Kind("statefulsets", "apps"),
    Kind("daemonsets", "apps"),
    Kind("jobs", "batch"),
    Kind("replicationcontrollers"),
)
VOLUMES = (
    Kind("persistentvolumes"),
    Kind("persistentvolumeclaims"),
    Kind("storageclasses", "storage.k8s.io"),
    Kind("csinodes", "storage.k8s.io"),
    Kind("csidrivers", "storage.k8s.io"),
    Kind("csistoragecapacities", "storage.k8s.io"),
    Kind("volumeattachments", "storage.k8s.io"),
)
ADMISSION = (Kind("priorityclasses", "scheduling.k8s.io"), Kind("limitranges"))
"""What the API server looks at when it stores a new pod."""

NUMBERS = (
    Kind("resourcequotas"),
    Kind("horizontalpodautoscalers", "autoscaling", "v2"),
    Kind("cronjobs", "batch"),
)
"""What decides how many pods there will be."""

OTHERS = (BUDGETS, NAMESPACES, *WORKLOADS, SERVICES, *VOLUMES, *ADMISSION, *NUMBERS)
"""Everything but nodes and pods, in the order of reading."""

KINDS = (NODES, PODS, *OTHERS)

VERSION = "/version"
"""What the server is; everybody who can log in may ask."""
