"""From files to an inventory: read, decode, settle duplicates, default, add missing replicas."""

from __future__ import annotations

import gc
import io
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import BinaryIO, TypeVar

import msgspec
from pydantic import BaseModel

from planner.sources.decode import Decoded, decode_documents
from planner.sources.defaulting import (
    default_spec,
    label_keys,
    unknown_class,
    with_priority,
)
from planner.sources.dump import Piece, UnevenDumpError
from planner.sources.dump_reader import PodRows, read_dump
from planner.sources.inventory import Inventory, counted, name_some
from planner.sources.kinds import CLUSTER_SCOPED, FLEET
from planner.sources.read import RawDocument, read_paths
from planner.sources.synthesise import Synthesised, Workloads, missing_pods
from planner_models.meta import KubeObject
from planner_models.node import Node
from planner_models.notice import Notice
from planner_models.pod import Pod, PodSpec
from planner_models.policy import PodDisruptionBudget
from planner_models.volume import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from planner_models.workload import (
    DaemonSet,
    Deployment,
    Job,
    Namespace,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

FREEZE_FROM = 10_000
"""Pods from which on what was loaded is kept out of later garbage collections."""

K = TypeVar("K", bound=KubeObject)
M = TypeVar("M", bound=BaseModel)


def load_paths(paths: Sequence[str], stdin: BinaryIO | None = None) -> Inventory:
    """Everything in files, directories and standard input (`-`)."""
    source = io.BytesIO((stdin or sys.stdin.buffer).read() if "-" in paths else b"")
    try:
        with closing(_in_pieces(paths, source)) as documents:
            return load_documents(documents)
    except UnevenDumpError:
        source.seek(0)
        return load_documents(read_paths(paths, source))


def _in_pieces(
    paths: Sequence[str], stdin: BinaryIO
) -> Generator[RawDocument | Piece | PodRows, None, None]:
    """Like read_paths, but big dumps come piece by piece."""
    for path in paths:
        pieces = None if path == "-" else read_dump(path)
        yield from read_paths([path], stdin) if pieces is None else pieces


def load_documents(documents: Iterable[RawDocument | Piece | PodRows]) -> Inventory:
    """Everything in these documents, as the cluster would hold it after applying them in order."""
    with no_garbage_collection():
        inventory = _Loading(decode_documents(documents)).inventory()
        if len(inventory.pods) >= FREEZE_FROM:
            gc.freeze()
    return inventory


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Loading makes millions of objects and no garbage cycles: scanning for them costs 3x."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Loading:
    def __init__(self, decoded: Decoded) -> None:
        self._decoded = decoded
        self._kinds = {model.__name__ for model in decoded.others}
        self._notices: list[Notice] = []
        self._unknown_classes: dict[str, list[str]] = defaultdict(list)
        self._specs: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[PodSpec, PodSpec]] = {}
        """By identity, beside which the original stands: it lives as long as its id is a key."""
        self._stored: set[int] = set()

    def inventory(self) -> Inventory:
        nodes = self._kind(Node)
        self._classes = {c.name: c for c in self._kind(PriorityClass)}
        distinct = self._distinct_pods()
        self._stored = {id(pod.spec) for pod in distinct if pod.stored}
        pods = [self._prepared(pod) for pod in distinct]
        workloads = Workloads(
            deployments=self._kind(Deployment),
            replica_sets=self._kind(ReplicaSet),
            stateful_sets=self._kind(StatefulSet),
            daemon_sets=self._kind(DaemonSet),
            jobs=self._kind(Job),
            replication_controllers=self._kind(ReplicationController),
        )
        claims = self._kind(PersistentVolumeClaim)
        made = missing_pods(workloads, pods, nodes, claims)
        pods.extend(self._prepared(pod) for pod in made.pods)
        self._note_synthesised(made)
        self._note_unknown_kinds()
        self._note_unknown_classes()
        found = Inventory(
            nodes=nodes,
            pods=tuple(pods),
            deployments=tuple(workloads.deployments),
            replica_sets=(*workloads.replica_sets, *made.replica_sets),
            stateful_sets=tuple(workloads.stateful_sets),
            daemon_sets=tuple(workloads.daemon_sets),
            jobs=tuple(workloads.jobs),
            replication_controllers=tuple(workloads.replication_controllers),
            services=self._kind(Service),
            namespaces=self._kind(Namespace),
            priority_classes=tuple(self._classes.values()),
            budgets=self._kind(PodDisruptionBudget),
            persistent_volumes=self._kind(PersistentVolume),
            claims=(*claims, *made.claims),
            storage_classes=self._kind(StorageClass),
            csi_nodes=self._kind(CSINode),
            csi_drivers=self._kind(CSIDriver),
            storage_capacities=self._kind(CSIStorageCapacity),
            volume_attachments=self._kind(VolumeAttachment),
        )
        found = self._with_fleet(self._with_configurations(found))
        return replace(found, notices=tuple(self._notices))

    def _with_configurations(self, found: Inventory) -> Inventory:
        """What other programs are told; the models are imported where the input has any."""
        if self._kinds & {"KubeSchedulerConfiguration"}:
            from planner_models.scheduler_config import KubeSchedulerConfiguration

            found = replace(found, scheduler_configs=self._unnamed(KubeSchedulerConfiguration))
        if self._kinds & {"DeschedulerPolicy"}:
            from planner_models.descheduler_policy import DeschedulerPolicy

            found = replace(found, descheduler_policies=self._unnamed(DeschedulerPolicy))
        return found

    def _with_fleet(self, found: Inventory) -> Inventory:
        """Member clusters and what Fleet places on them, likewise."""
        if not self._kinds & FLEET:
            return found
        from planner_models.fleet import ClusterResourcePlacement, ResourcePlacement
        from planner_models.fleet_binding import (
            ClusterResourceBinding,
            ClusterSchedulingPolicySnapshot,
            ResourceBinding,
            SchedulingPolicySnapshot,
        )
        from planner_models.member_cluster import MemberCluster

        return replace(
            found,
            member_clusters=self._kind(MemberCluster),
            cluster_placements=self._kind(ClusterResourcePlacement),
            resource_placements=self._kind(ResourcePlacement),
            cluster_bindings=self._kind(ClusterResourceBinding),
            resource_bindings=self._kind(ResourceBinding),
            cluster_policy_snapshots=self._kind(ClusterSchedulingPolicySnapshot),
            policy_snapshots=self._kind(SchedulingPolicySnapshot),
        )

    def _kind(self, kind: type[K]) -> tuple[K, ...]:
        """Objects of a kind; of two with the same name the later one wins, as by kubectl apply."""
        found: dict[str, K] = {}
        again: set[str] = set()
        for each in self._unnamed(kind):
            key = each.name if kind.__name__ in CLUSTER_SCOPED else each.key
            if key in found:
                again.add(key)
            found[key] = each
        self._note_duplicates(kind.__name__, again)
        return tuple(found.values())

    def _unnamed(self, kind: type[M]) -> tuple[M, ...]:
        found = self._decoded.others.get(kind, ())
        return tuple(each for each in found if isinstance(each, kind))

    def _distinct_pods(self) -> Sequence[Pod]:
        found: dict[tuple[str, str], Pod] = {}
        again: set[str] = set()
        for pod in self._decoded.pods:
            key = (pod.namespace, pod.name)
            if key in found:
                again.add(pod.key)
            found[key] = pod
        self._note_duplicates("Pod", again)
        return tuple(found.values())

    def _prepared(self, pod: Pod) -> Pod:
        """A pod as the API server would have stored it.

        Those with a uid, and new replicas that have their spec from one, are stored that way.
        """
        if pod.stored or id(pod.spec) in self._stored:
            return pod
        if unknown_class(pod.spec, self._classes):
            self._unknown_classes[pod.spec.priority_class_name].append(pod.key)
        return msgspec.structs.replace(pod, spec=self._defaulted(pod))

    def _defaulted(self, pod: Pod) -> PodSpec:
        """Defaulted specs are shared by replicas, as stored ones are."""
        values = tuple((k, pod.labels[k]) for k in label_keys(pod.spec) if k in pod.labels)
        key = (id(pod.spec), values)
        if key not in self._specs:
            spec = with_priority(default_spec(pod.spec, pod.labels), self._classes)
            self._specs[key] = (pod.spec, spec)
        return self._specs[key][1]

    def _note_duplicates(self, kind: str, keys: set[str]) -> None:
        if keys:
            verb = "is" if len(keys) == 1 else "are"
            text = (
                f"{counted(len(keys), f'{kind} object')} {verb} in the input more than once; "
                "the last one counts"
            )
            self._notices.append(Notice(code="duplicate", text=text, objects=name_some(keys)))

    def _note_synthesised(self, made: Synthesised) -> None:
        if made.pods:
            verb = "was" if len(made.pods) == 1 else "were"
            text = (
                f"{counted(len(made.pods), 'pod')} {verb} made from templates: "
                "their controllers want more replicas than the input has"
            )
            names = name_some(pod.key for pod in made.pods)
            self._notices.append(Notice(code="synthesised", text=text, objects=names))

    def _note_unknown_kinds(self) -> None:
        unknown = self._decoded.unknown
        if unknown:
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(unknown.items()))
            total = unknown.total()
            verb = "is of a kind" if total == 1 else "are of kinds"
            text = f"{counted(total, 'object')} {verb} that planner does not use: {counts}"
            self._notices.append(Notice(code="unknownKind", text=text))

    def _note_unknown_classes(self) -> None:
        for name, pods in sorted(self._unknown_classes.items()):
            text = f"PriorityClass {name} is not in the input; its pods count as priority 0"
            notice = Notice(code="unknownPriorityClass", text=text, objects=name_some(pods))
            self._notices.append(notice)
