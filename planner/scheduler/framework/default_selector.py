"""The selector of the default spread constraints: which pods belong together by their owners.

kube-scheduler joins the selectors of the Services that select the pod with that of its controlling
ReplicaSet, StatefulSet or ReplicationController. Other controllers (a Job, say) add nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

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


_MEMO = "selectors of services"


def default_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    """The joint selector, or None if nothing selects the pod."""
    labels: dict[str, str] = {}
    for wanted in _service_selectors(cluster).get(group.namespace, ()):
        if all(group.labels.get(key) == value for key, value in wanted.items()):
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


def _service_selectors(cluster: Cluster) -> Mapping[str, Sequence[Mapping[str, str]]]:
    """By namespace; found once for all snapshots with these Services."""
    memo = cluster.group_memo
    if _MEMO not in memo:
        memo[_MEMO] = by_namespace = defaultdict(list)
        for service in cluster.services:
            by_namespace[service.namespace].append(service.spec.selector)
    found: Mapping[str, Sequence[Mapping[str, str]]] = memo[_MEMO]
    return found


def _owner_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    owner = group.owner
    if owner is None or owner.api_version not in ("", _KINDS.get(owner.kind)):
        return None
    found = cluster.owners.controllers.get(WorkloadRef(group.namespace, owner.kind, owner.name))
    if isinstance(found, ReplicationController):
        return LabelSelector(match_labels=found.spec.selector)
    return found.spec.selector if isinstance(found, ReplicaSet | StatefulSet) else None
