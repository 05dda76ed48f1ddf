"""The immutable snapshot that scheduler and solver build on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.cluster.groups import PodGroup
from planner.cluster.matching import GroupIndex, TermScope
from planner.cluster.node_images import NodeImages
from planner.cluster.owners import Owners, WorkloadRef
from planner.cluster.resources import ResourceTable, sum_by
from planner.cluster.storage import Storage
from planner.cluster.topology import IntArray, Topology, topology_of
from planner.words import count_of
from planner_models.affinity import PodAffinityTerm
from planner_models.meta import ObjectMeta
from planner_models.node import Node, NodeSpec
from planner_models.notice import Notice
from planner_models.pod import Pod
from planner_models.policy import PodDisruptionBudget
from planner_models.workload import CronJob, PriorityClass, Service

if TYPE_CHECKING:
    from planner_models.quota import HorizontalPodAutoscaler, ResourceQuota

PENDING = -1
ELSEWHERE = -2
"""On a node that is not in the input: uses no room and counts in no domain."""
GONE = -3
"""Taken out of the snapshot; its index stays, so that other indexes keep their meaning."""

T = TypeVar("T")
WHATEVER_SPECS_SAY = frozenset(("index", "workloads", "groups of"))
"""What of the memo about groups rests on their labels and owners alone."""
EACH_GROUP = "each group"
"""What is known of groups one by one, in the memo of groups."""
SHARED = ("_topologies", "memo", "group_memo", "pod_memo", "node_images")
"""What holds for all snapshots that differ in placement: whoever finds it out tells the others."""


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """Nodes sorted by name, pods in the order of the input, and who runs where.

    `node_of[p]` is the node of pod p, or PENDING, ELSEWHERE, GONE. Snapshots that differ only in
    placement share everything else. Finished pods are apart: for the scheduler they don't exist.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    node_of: IntArray
    groups: tuple[PodGroup, ...]
    group_of: IntArray
    resources: ResourceTable
    owners: Owners
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    terminating_namespaces: frozenset[str] = frozenset()
    """Namespaces that are being deleted: nothing can be created in them."""
    services: tuple[Service, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()
    cron_jobs: tuple[CronJob, ...] = ()
    autoscalers: tuple[HorizontalPodAutoscaler, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    storage: Storage = field(default_factory=Storage)
    arrival: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    """Node indexes in the order of the input."""
    finished_pods: tuple[Pod, ...] = ()
    """Succeeded and failed pods: nothing to the scheduler, but the descheduler may remove them."""
    priority_classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    """The PriorityClasses of the input, by name."""
    ghosts: frozenset[int] = frozenset()
    """Nodes that were removed; their indexes stay, so that other indexes keep their meaning."""
    notices: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        nodes, pods = count_of(len(self.nodes), "node"), count_of(len(self.pods), "pod")
        return f"<Cluster: {nodes}, {pods}, {len(self.pending)} pending>"

    @property
    def finished(self) -> int:
        """How many pods have succeeded or failed."""
        return len(self.finished_pods)

    @cached_property
    def node_index(self) -> Mapping[str, int]:
        """Node names to indexes."""
        return {node.name: i for i, node in enumerate(self.nodes) if i not in self.ghosts}

    @property
    def pod_index(self) -> Mapping[str, int]:
        """`namespace/name` to indexes."""
        return _once(
            self.pod_memo, "index", lambda: {pod.key: i for i, pod in enumerate(self.pods)}
        )

    @property
    def group_index(self) -> GroupIndex:
        """Groups by namespace and label."""
        return _once(self.group_memo, "index", lambda: GroupIndex(self.groups))

    @cached_property
    def node_images(self) -> NodeImages:
        """The images that nodes have."""
        return NodeImages(self.nodes, self.arrival)

    def groups_about(self, term: PodAffinityTerm, namespace: str) -> IntArray:
        """The groups that a pod affinity term carried by a pod of `namespace` is about."""
        index = self.group_index
        names = TermScope.of(term, namespace).among(index.namespaces, self.namespaces)
        return index.matching(term.label_selector, names)

    @cached_property
    def _topologies(self) -> dict[str, Topology]:
        return {}

    def topology(self, key: str) -> Topology:
        """The domains of a node label key; computed once per snapshot of nodes."""
        found = self._topologies.get(key)
        if found is None:
            found = self._topologies[key] = topology_of(self.nodes, key)
        return found

    @cached_property
    def pending(self) -> IntArray:
        """Pods without a node."""
        return np.flatnonzero(self.node_of == PENDING)

    @cached_property
    def running(self) -> IntArray:
        """Pods on a node of the cluster."""
        return np.flatnonzero(self.node_of >= 0)

    @cached_property
    def used(self) -> IntArray:
        """`used[n, r]`: what the pods of each node request together."""
        pods = self.running
        return sum_by(
            self.node_of[pods], self.resources.requests[self.group_of[pods]], len(self.nodes)
        )

    @property
    def each_group(self) -> dict[str, tuple[Any, ...]]:
        """What others have found out about groups one by one, from labels, rules and volumes alone.

        Snapshots that have more groups behind these begin with it, so it may end before the last.
        """
        return _once(self.group_memo, EACH_GROUP, dict)

    @property
    def workloads(self) -> tuple[WorkloadRef, ...]:
        """The workload of each group."""
        find = self.owners.workload_of
        return _once(
            self.group_memo,
            "workloads",
            lambda: tuple(find(group.example) for group in self.groups),
        )

    def groups_of(self, workload: WorkloadRef) -> IntArray:
        """The groups that pods of a workload are in."""
        found = _once(self.group_memo, "groups of", lambda: _places(self.workloads))
        return np.array(found.get(workload, ()), np.int64)

    @property
    def terminating(self) -> NDArray[np.bool_]:
        """Which pods have a deletionTimestamp."""
        return _once(
            self.pod_memo, "terminating", lambda: _flags(pod.terminating for pod in self.pods)
        )

    @property
    def ready(self) -> NDArray[np.bool_]:
        """Which pods say that they are ready."""
        return _once(self.pod_memo, "ready", lambda: _flags(pod.ready for pod in self.pods))

    @property
    def controlled(self) -> Mapping[tuple[str, str, str], Sequence[int]]:
        """The pods of each controller, by its namespace, kind and name."""
        return _once(self.pod_memo, "controlled", lambda: _controlled(self.pods))

    @cached_property
    def own_memo(self) -> dict[str, Any]:
        """What others have found out about this very snapshot, with pods where they are."""
        return {}

    @cached_property
    def memo(self) -> dict[tuple[str, bytes], Any]:
        """What others have found out from nodes and groups alone, wherever pods run."""
        return {}

    @cached_property
    def group_memo(self) -> dict[str, Any]:
        """The same from groups and their owners alone, whatever the nodes are."""
        return {}

    @cached_property
    def pod_memo(self) -> dict[str, Any]:
        """The same from the pods alone, wherever they run."""
        return {}

    @property
    def _by_group(self) -> tuple[IntArray, IntArray]:
        """All pods sorted by group, and where each group begins."""
        return _once(
            self.pod_memo, "by group", lambda: _sorted_by_group(self.group_of, len(self.groups))
        )

    def pods_of(self, groups: IntArray) -> IntArray:
        """The pods of some groups, wherever they are."""
        order, first = self._by_group
        parts = [order[first[g] : first[g + 1]] for g in groups.tolist()]
        return parts[0] if len(parts) == 1 else np.concatenate([order[:0], *parts])

    def pods_on(self, node: int) -> IntArray:
        """The pods of one node."""
        return np.flatnonzero(self.node_of == node)

    def with_placement(self, placement: Mapping[int, int]) -> Cluster:
        """Pods on other nodes (or PENDING); everything else is shared with this snapshot."""
        node_of = self.node_of.copy()
        if placement:
            node_of[np.fromiter(placement, np.int64)] = np.fromiter(placement.values(), np.int64)
        return self.with_nodes_of_pods(node_of)

    def with_nodes_of_pods(self, node_of: IntArray) -> Cluster:
        """The same where the node of every pod is told."""
        now = node_of.copy()
        now.flags.writeable = False
        return self._derived(node_of=now)

    def without(self, pods: Iterable[int]) -> Cluster:
        """The cluster without these pods."""
        return self.with_placement(dict.fromkeys(pods, GONE))

    def with_pods(self, records: Mapping[int, Pod]) -> Cluster:
        """Newer records of the same pods: another name, age or state, the same labels and spec."""
        pods = list(self.pods)
        renamed = any(pods[index].key != pod.key for index, pod in records.items())
        for index, pod in records.items():
            pods[index] = pod
        changed = self._derived(pods=tuple(pods))
        kept = ("by group",) if renamed else ("by group", "index")
        changed.pod_memo.update(
            {name: self.pod_memo[name] for name in kept if name in self.pod_memo}
        )
        if "terminating" in self.pod_memo:
            changed.pod_memo["terminating"] = _terminating_now(self.terminating, records)
        return changed

    def with_budgets(self, budgets: tuple[PodDisruptionBudget, ...]) -> Cluster:
        """The same budgets as before with other numbers: they select the same pods."""
        return self._derived(budgets=budgets)

    def with_owners(self, owners: Owners) -> Cluster:
        """The same controllers as before, other numbers of replicas."""
        return self._derived(owners=owners)

    def with_more(self, pods: Iterable[Pod], groups: IntArray) -> Cluster:
        """More pods of these groups, behind all others; none of them is there yet."""
        node_of = np.append(self.node_of, np.full(len(groups), GONE))
        group_of = np.append(self.group_of, groups)
        node_of.flags.writeable = group_of.flags.writeable = False
        return self._derived(pods=(*self.pods, *pods), node_of=node_of, group_of=group_of)

    def with_nodes(self, records: Mapping[int, Node]) -> Cluster:
        """Newer records of the same nodes: other labels, taints or conditions, the same room."""
        nodes = list(self.nodes)
        for index, node in records.items():
            nodes[index] = node
        changed = self._with_nodes(nodes=tuple(nodes))
        if any(new.status.images is not self.nodes[i].status.images for i, new in records.items()):
            del changed.__dict__["node_images"]
        return changed

    def without_nodes(self, nodes: Iterable[int]) -> Cluster:
        """The cluster without these nodes and the pods on them: whoever is there is gone.

        The nodes stay as ghosts: no labels, no room, nothing that a rule could look at.
        """
        ghosts = self.ghosts.union(nodes)
        records, allocatable = list(self.nodes), self.resources.allocatable.copy()
        for index in ghosts:
            records[index] = _ghost(records[index])
        allocatable[list(ghosts)] = 0
        node_of = np.where(np.isin(self.node_of, list(ghosts)), GONE, self.node_of)
        node_of.flags.writeable = False
        return self._with_nodes(
            nodes=tuple(records),
            node_of=node_of,
            resources=replace(self.resources, allocatable=allocatable),
            arrival=self.arrival[~np.isin(self.arrival, list(ghosts))],
            ghosts=ghosts,
        )

    def with_nodes_of(self, other: Cluster) -> Cluster:
        """The nodes as another snapshot of the same nodes and groups has them, ghosts and all."""
        changed = self._with_nodes(
            nodes=other.nodes,
            resources=other.resources,
            arrival=other.arrival,
            ghosts=other.ghosts,
        )
        changed.__dict__["node_images"] = other.node_images
        return changed

    def _with_nodes(self, **changes: Any) -> Cluster:
        """What is known of pods and groups alone is shared."""
        return self._sharing(("group_memo", "pod_memo", "node_images"), changes)

    def _derived(self, **changes: Any) -> Cluster:
        shared = SHARED if "pods" not in changes else tuple(n for n in SHARED if n != "pod_memo")
        changed = self._sharing(shared, changes)
        if "node_index" in self.__dict__:
            changed.__dict__["node_index"] = self.node_index
        return changed

    def _sharing(self, names: Iterable[str], changes: Mapping[str, Any]) -> Cluster:
        changed = replace(self, **changes)
        for name in names:
            changed.__dict__[name] = getattr(self, name)
        return changed


def _once(memo: dict[str, Any], key: str, find: Callable[[], T]) -> T:
    """What `find` finds, asked once for all snapshots that share the memo."""
    if key not in memo:
        memo[key] = find()
    found: T = memo[key]
    return found


def _places(workloads: Sequence[WorkloadRef]) -> dict[WorkloadRef, list[int]]:
    found: dict[WorkloadRef, list[int]] = {}
    for group, workload in enumerate(workloads):
        found.setdefault(workload, []).append(group)
    return found


def _flags(values: Iterable[bool]) -> NDArray[np.bool_]:
    found = np.fromiter(values, np.bool_)
    found.flags.writeable = False
    return found


def _controlled(pods: Sequence[Pod]) -> dict[tuple[str, str, str], list[int]]:
    found: dict[tuple[str, str, str], list[int]] = {}
    for index, pod in enumerate(pods):
        owner = pod.owner
        if owner is not None:
            found.setdefault((pod.namespace, owner.kind, owner.name), []).append(index)
    return found


def _sorted_by_group(group_of: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    order = np.argsort(group_of, kind="stable")
    return order, np.searchsorted(group_of[order], np.arange(groups + 1))


def _terminating_now(before: NDArray[np.bool_], records: Mapping[int, Pod]) -> NDArray[np.bool_]:
    """Most newer records say the same: then it is the same array."""
    changed = [i for i, pod in records.items() if bool(before[i]) != pod.terminating]
    if not changed:
        return before
    found = before.copy()
    found[changed] = ~found[changed]
    found.flags.writeable = False
    return found


def _ghost(node: Node) -> Node:
    metadata = ObjectMeta().replace(name=node.name)
    return Node().replace(metadata=metadata, spec=NodeSpec().replace(unschedulable=True))
