"""Whether the API server takes a new pod like one that runs.

A pod that runs was taken once. Since then its PriorityClass may have gone, or have another value,
and a ResourceQuota may have been lowered below what is used: admission asks them anew.
"""

from __future__ import annotations

from functools import cached_property

from planner.cluster import Cluster
from planner.cluster.quotas import Quotas
from planner_models.pod import Pod
from planner_models.workload import SYSTEM_PRIORITY_CLASSES


class Admission:
    """What admission plugins of Kubernetes itself say of new pods in a snapshot."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def _quotas(self) -> Quotas:
        return Quotas(self._cluster)

    def refusal(self, pod: Pod) -> str:
        """Why another pod of this spec would be refused; empty if nothing is known against it.

        Classes are judged only where the input has any: it may lack them.
        """
        classes = self._cluster.priority_classes
        name = pod.spec.priority_class_name
        if name and classes and name not in classes and name not in SYSTEM_PRIORITY_CLASSES:
            return f"the API server refuses new pods: there is no PriorityClass {name}"
        exceeded = self._quotas.exceeded(pod.namespace, pod.spec)
        return f"the quota {exceeded} is exceeded, so new pods are refused" if exceeded else ""

    def another(self, pod: Pod) -> str:
        """What would be different about a new pod."""
        name = pod.spec.priority_class_name
        found = self._cluster.priority_classes.get(name)
        if not name or found is None or found.value == pod.priority:
            return ""
        return f"PriorityClass {name} would give a new pod the priority {found.value}"
