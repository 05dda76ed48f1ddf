"""From files to an inventory: read, decode, settle duplicates, default, add missing replicas."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import BinaryIO, TypeVar

from pydantic import BaseModel

from planner.sources.admission import Admission
from planner.sources.decode import Decoded, decode_documents
from planner.sources.defaulting import with_default_class
from planner.sources.dump import Piece, UnevenDumpError
from planner.sources.dump_reader import PodRows, read_dump
from planner.sources.errors import SourceError
from planner.sources.input_text import STDIN, read_text
from planner.sources.inventory import Inventory, counted, name_some
from planner.sources.kinds import CLUSTER_SCOPED, FLEET
from planner.sources.options import DEFAULTS, SKIPPED, ReadOptions
from planner.sources.pod_row import PodPage
from planner.sources.read import Document, RawDocument, documents_of
from planner.sources.synthesise import Workloads, missing_pods
from planner_models.limit_range import LimitRange
from planner_models.meta import KubeObject
from planner_models.node import Node
from planner_models.notice import Notice
from planner_models.pod import Pod
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
    Controller,
    CronJob,
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


def load_paths(
    paths: Sequence[str],
    stdin: BinaryIO | None = None,
    options: ReadOptions = DEFAULTS,
    on_top: Sequence[Document] = (),
) -> Inventory:
    """Everything in files, directories and standard input (`-`); `on_top` is applied last."""

    @cache
    def piped() -> bytes:
        return read_text(STDIN, stdin or sys.stdin.buffer, options.max_input)

    try:
        with closing(_in_pieces(paths, piped, options)) as documents:
            return load_documents(chain(documents, on_top), options)
    except UnevenDumpError:
        return load_documents(chain(documents_of(paths, piped, options), on_top), options)


def _in_pieces(
    paths: Sequence[str], piped: Callable[[], bytes], options: ReadOptions
) -> Generator[Document | Piece | PodRows, None, None]:
    """Like documents_of, but big dumps come piece by piece."""
    for path in paths:
        pieces = None if path == "-" else read_dump(path, options.max_input)
        yield from documents_of([path], piped, options) if pieces is None else pieces


def load_documents(
    documents: Iterable[Document | Piece | PodRows],
    options: ReadOptions = DEFAULTS,
    live: Iterable[RawDocument | PodPage] = (),
) -> Inventory:
    """Everything in these documents, as the cluster would hold it after applying them in order.

    `live` are the pages of a running cluster, below them. Its controllers have made their pods, or
    something keeps them from it: only those of documents get missing replicas.
    """
    with no_garbage_collection():
        decoded = decode_documents(documents, skip_invalid=options.skip_invalid, live=live)
        inventory = _Loading(decoded, options).inventory()
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
    def __init__(self, decoded: Decoded, options: ReadOptions) -> None:
        self._decoded = decoded
        self._options = options
        self._kinds = {model.__name__ for model in decoded.others}
        self._notices: list[Notice] = []

    def inventory(self) -> Inventory:
        nodes = self._kind(Node)
        classes = {c.name: c for c in self._kind(PriorityClass)}
        distinct = self._distinct_pods()
        stored = (pod.spec for pod in distinct if pod.stored)
        limit_ranges = self._kind(LimitRange)
        admission = Admission(classes, limit_ranges, stored)
        pods = list(self._admitted(distinct, admission))
        workloads = Workloads(
            deployments=self._kind(Deployment),
            replica_sets=self._kind(ReplicaSet),
            stateful_sets=self._kind(StatefulSet),
            daemon_sets=self._kind(DaemonSet),
            jobs=self._kind(Job),
            replication_controllers=self._kind(ReplicationController),
        )
        claims = self._kind(PersistentVolumeClaim)
        storage_classes = self._kind(StorageClass)
        made = missing_pods(workloads, pods, nodes, claims, self._live())
        replicas = tuple(admission.replicas(made.pods))
        pods.extend(replicas)
        self._note_synthesised(replicas)
        self._note_unknown_kinds()
        self._note_made_names()
        self._note_refused()
        self._notices.extend(admission.notices())
        found = Inventory(
            nodes=nodes,
            pods=tuple(pods),
            deployments=tuple(workloads.deployments),
            replica_sets=(*workloads.replica_sets, *made.replica_sets),
            stateful_sets=tuple(workloads.stateful_sets),
            daemon_sets=tuple(workloads.daemon_sets),
            jobs=tuple(workloads.jobs),
            replication_controllers=tuple(workloads.replication_controllers),
            cron_jobs=self._kind(CronJob),
            limit_ranges=limit_ranges,
            services=self._kind(Service),
            namespaces=self._kind(Namespace),
            priority_classes=tuple(classes.values()),
            budgets=self._kind(PodDisruptionBudget),
            persistent_volumes=self._kind(PersistentVolume),
            claims=with_default_class((*claims, *made.claims), storage_classes),
            storage_classes=storage_classes,
            csi_nodes=self._kind(CSINode),
            csi_drivers=self._kind(CSIDriver),
            storage_capacities=self._kind(CSIStorageCapacity),
            volume_attachments=self._kind(VolumeAttachment),
        )
        found = self._with_fleet(self._with_configurations(self._with_limits(found)))
        return replace(
            found,
            notices=tuple(self._notices),
            refused=tuple(self._decoded.refused),
            origins=tuple(self._decoded.origins),
        )

    def _with_limits(self, found: Inventory) -> Inventory:
        """Who else decides how many pods there may be."""
        if not self._kinds & {"ResourceQuota", "HorizontalPodAutoscaler"}:
            return found
        from planner_models.quota import HorizontalPodAutoscaler, ResourceQuota

        return replace(
            found,
            quotas=self._kind(ResourceQuota),
            autoscalers=self._kind(HorizontalPodAutoscaler),
        )

    def _with_configurations(self, found: Inventory) -> Inventory:
        """What other programs are told; the models are imported where the input has any."""
        if self._kinds & {"KubeSchedulerConfiguration"}:
            from planner_models.scheduler_config import KubeSchedulerConfiguration

            found = replace(found, scheduler_configs=self._unnamed(KubeSchedulerConfiguration))
        if self._kinds & {"DeschedulerPolicy"}:
            from planner_models.descheduler_policy import DeschedulerPolicy

            found = replace(found, descheduler_policies=self._unnamed(DeschedulerPolicy))
        if self._kinds & {"RunPolicy"}:
            from planner_models.run_policy import RunPolicy

            found = replace(found, run_policies=self._unnamed(RunPolicy))
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

    def _live(self) -> Set[int]:
        """The controllers of a running cluster, or of a dump of one, by identity."""
        return self._decoded.complete | {
            id(each)
            for kind, count in self._decoded.live.items()
            if issubclass(kind, Controller)
            for each in self._decoded.others[kind][:count]
        }

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

    def _admitted(self, pods: Iterable[Pod], admission: Admission) -> Iterator[Pod]:
        """The pods as they are stored; manifests that the API server would refuse are errors."""
        for each in pods:
            if each.stored:
                yield each
                continue
            pod = admission.stored(each)
            refusal = admission.refusal(pod)
            if refusal is None:
                yield pod
                continue
            error = SourceError(
                refusal.message,
                file=self._decoded.files.get(id(each)),
                object=f"Pod {pod.key}",
                field=f"spec.{refusal.field}",
            )
            if not self._options.skip_invalid:
                raise error
            self._decoded.refused.append(error)

    def _note_duplicates(self, kind: str, keys: set[str]) -> None:
        if keys:
            verb = "is" if len(keys) == 1 else "are"
            text = (
                f"{counted(len(keys), f'{kind} object')} {verb} in the input more than once; "
                "the last one counts"
            )
            self._notices.append(Notice(code="duplicate", text=text, objects=name_some(keys)))

    def _note_synthesised(self, made: Sequence[Pod]) -> None:
        if made:
            verb = "was" if len(made) == 1 else "were"
            text = (
                f"{counted(len(made), 'pod')} {verb} made from templates: "
                "their controllers want more replicas than the input has"
            )
            names = name_some(pod.key for pod in made)
            self._notices.append(Notice(code="synthesised", text=text, objects=names))

    def _note_unknown_kinds(self) -> None:
        unknown = self._decoded.unknown
        if unknown:
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(unknown.items()))
            total = unknown.total()
            verb = "is of a kind" if total == 1 else "are of kinds"
            text = f"{counted(total, 'object')} {verb} that planner does not use: {counts}"
            self._notices.append(Notice(code="unknownKind", text=text))

    def _note_made_names(self) -> None:
        named = self._decoded.named
        if named:
            text = (
                f"{counted(len(named), 'object')} with generateName: planner chose the rest of the "
                "name, as the API server does"
            )
            self._notices.append(Notice(code="generatedName", text=text, objects=name_some(named)))

    def _note_refused(self) -> None:
        refused = self._decoded.refused
        if refused:
            verb = "is" if len(refused) == 1 else "are"
            objects = counted(len(refused), "object")
            text = f"{objects} can't be used and {verb} left out (--skip-invalid)"
            names = name_some(map(str, refused))
            self._notices.append(Notice(code=SKIPPED, text=text, objects=names))
