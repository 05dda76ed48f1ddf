"""The selector of the default spread constraints: which pods belong together by their owners.

kube-scheduler joins the selectors of the Services that select the pod with that of its controlling
ReplicaSet, StatefulSet or ReplicationController. Other controllers (a Job, say) add nothing.
"""

from __future__ import annotations

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.owners import WorkloadRef
from planner_models.selectors import LabelSelector, LabelSelectorRequirement
from planner_models.workload import ReplicaSet, ReplicationController, StatefulSet

_KINDS = {
    "ReplicationController": "v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}


def default_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    """The joint selector, or None if nothing selects the pod."""
    labels: dict[str, str] = {}
    for service in cluster.services:
        wanted = service.spec.selector
        if service.namespace == group.namespace and all(
            group.labels.get(key) == value for key, value in wanted.items()
        ):
            labels.update(wanted)
    selector = LabelSelector(match_labels=labels)
    owner = _owner_selector(cluster, group)
    if owner is not None:
        equal = (
            LabelSelectorRequirement(key=key, operator="In", values=(value,))
            for key, value in owner.match_labels.items()
        )
        selector = LabelSelector(
            match_labels=labels, match_expressions=(*owner.match_expressions, *equal)
        )
    return None if selector.is_empty else selector


def _owner_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    owner = group.owner
    if owner is None or owner.api_version not in ("", _KINDS.get(owner.kind)):
        return None
    found = cluster.owners.controllers.get(WorkloadRef(group.namespace, owner.kind, owner.name))
    if isinstance(found, ReplicationController):
        return LabelSelector(match_labels=found.spec.selector)
    return found.spec.selector if isinstance(found, ReplicaSet | StatefulSet) else None
