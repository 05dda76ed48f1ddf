"""Pods that a controller would create: replicas of a workload that are missing from the input.

A scaled-up Deployment, or a manifest that was never applied, has no pods yet; planner makes them
from the template as the controller would, marks them, and treats them as pending.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from planner.sources.daemons import daemon_spec, pinned_node, pinned_spec, runs_on
from planner.sources.errors import SourceError
from planner.sources.names import generated_name, suffix
from planner.sources.replicas import Mould, mould, owner_of, stateful_pod
from planner_models.meta import KubeObject, ObjectMeta
from planner_models.node import Node
from planner_models.pod import Pod, PodTemplate
from planner_models.pod_status import FINISHED
from planner_models.volume import PersistentVolumeClaim
from planner_models.workload import (
    HASH_LABEL,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicatedSpec,
    ReplicationController,
    StatefulSet,
)

MOST_PODS = 500_000
"""More than three times what a cluster can hold; beyond it the number is a slip of the pen."""

MADE_PODS = "planner/made-pods"
MADE_REPLICA_SET = "planner/made-replica-set"
"""Annotations of a controller in an anonymous dump: the names of its missing pods, and the
hash of its missing ReplicaSet. Names made from the new ones would come in another order."""
REVISION = "deployment.kubernetes.io/revision"
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)

Replicated = ReplicaSet | ReplicationController | Job
K = TypeVar("K", bound=KubeObject)
OwnerKey = tuple[str, str, str]
"""Kind, namespace and name of a controller."""


@dataclass(frozen=True)
class Workloads:
    """The controllers of the input."""

    deployments: Sequence[Deployment] = ()
    replica_sets: Sequence[ReplicaSet] = ()
    stateful_sets: Sequence[StatefulSet] = ()
    daemon_sets: Sequence[DaemonSet] = ()
    jobs: Sequence[Job] = ()
    replication_controllers: Sequence[ReplicationController] = ()


@dataclass(frozen=True)
class Synthesised:
    """What the controllers would create."""

    pods: tuple[Pod, ...]
    replica_sets: tuple[ReplicaSet, ...]
    claims: tuple[PersistentVolumeClaim, ...]


def missing_pods(
    workloads: Workloads,
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    claims: Iterable[PersistentVolumeClaim],
    complete: Set[int] = frozenset(),
) -> Synthesised:
    """The pods that controllers would add now; finished and terminating ones don't count.

    `complete` are the controllers, by identity, that have made all pods that they can make.
    """
    wanting = (
        *(*workloads.deployments, *workloads.replica_sets, *workloads.stateful_sets),
        *(*workloads.daemon_sets, *workloads.jobs, *workloads.replication_controllers),
    )
    if all(id(each) in complete for each in wanting):
        return Synthesised((), (), ())
    return _Synthesis(workloads, pods, nodes, claims, complete).run()


class _Synthesis:
    """Who has which pods, and what was made so far."""

    def __init__(
        self,
        workloads: Workloads,
        pods: Sequence[Pod],
        nodes: Sequence[Node],
        claims: Iterable[PersistentVolumeClaim],
        complete: Set[int],
    ) -> None:
        self._workloads = workloads
        self._complete = complete
        self._nodes = nodes
        self._claims = {claim.key for claim in claims}
        self._pods = pods
        self._revisions: dict[str, list[ReplicaSet]] = defaultdict(list)
        for replica_set in workloads.replica_sets:
            owner = replica_set.metadata.controller
            if owner is not None and owner.kind == "Deployment":
                self._revisions[f"{replica_set.namespace}/{owner.name}"].append(replica_set)
        self._active: Counter[OwnerKey] = Counter()
        self._siblings: dict[OwnerKey, Pod] = {}
        self._guessed: dict[str, set[str]] = defaultdict(set)
        self._daemons: dict[str, set[str]] = defaultdict(set)
        self._made: list[Pod] = []
        self._made_sets: list[ReplicaSet] = []
        self._made_claims: list[PersistentVolumeClaim] = []
        for pod in pods:
            self._count(pod)

    @cached_property
    def _taken(self) -> set[tuple[str, str]]:
        """The names that new pods can't have; most inputs want none."""
        return {(pod.namespace, pod.name) for pod in self._pods if pod.phase not in FINISHED}

    def _count(self, pod: Pod) -> None:
        owner = pod.owner
        if owner is None or pod.phase in FINISHED:
            return
        if owner.kind == "DaemonSet":
            # The DaemonSet controller waits until a terminating pod has left its node.
            self._daemons[f"{pod.namespace}/{owner.name}"].add(pod.node_name or pinned_node(pod))
        if pod.terminating:
            return
        key = (owner.kind, pod.namespace, owner.name)
        self._active[key] += 1
        self._siblings.setdefault(key, pod)
        if owner.kind == "ReplicaSet" and self._active[key] == 1:
            name = owner.name.removesuffix(f"-{pod.labels.get(HASH_LABEL, '')}")
            self._guessed[f"{pod.namespace}/{name}"].add(owner.name)

    def run(self) -> Synthesised:
        """Every controller in turn; those that are being deleted create nothing."""
        wanted = self._workloads
        for deployment in self._wanting(wanted.deployments):
            self._deployment(deployment)
        managed = {deployment.key for deployment in wanted.deployments}
        for replica_set in self._wanting(wanted.replica_sets):
            if _deployment_of(replica_set) not in managed:
                self._replicas("ReplicaSet", replica_set, replica_set.spec.replicas)
        for controller in self._wanting(wanted.replication_controllers):
            self._replicas("ReplicationController", controller, controller.spec.replicas)
        for job in self._wanting(wanted.jobs):
            self._replicas("Job", job, job.wanted)
        for stateful_set in self._wanting(wanted.stateful_sets):
            self._stateful(stateful_set)
        for daemon_set in self._wanting(wanted.daemon_sets):
            self._daemon(daemon_set)
        return Synthesised(tuple(self._made), tuple(self._made_sets), tuple(self._made_claims))

    def _wanting(self, owners: Iterable[K]) -> Iterator[K]:
        return (
            owner
            for owner in owners
            if owner.metadata.deletion_timestamp is None and id(owner) not in self._complete
        )

    def _deployment(self, deployment: Deployment) -> None:
        """Missing replicas belong to the newest ReplicaSet; without one, to a new one.

        Where the input has pods but no ReplicaSets, these are known by name: the Deployment's,
        then the hash in the pods' labels.
        """
        revisions = self._revisions.get(deployment.key, [])
        guessed = sorted(self._guessed.get(deployment.key, ()))
        names = {replica_set.name for replica_set in revisions} | set(guessed)
        namespace = deployment.namespace
        running = sum(self._active[("ReplicaSet", namespace, name)] for name in names)
        missing = deployment.spec.replicas - running
        if missing <= 0:
            return
        if revisions:
            current = max(revisions, key=revision_key)
        elif guessed:
            newest = max(guessed, key=lambda name: self._active[("ReplicaSet", namespace, name)])
            current = replica_set_of(deployment, newest.removeprefix(f"{deployment.name}-"))
        else:
            made = suffix(template_text(deployment.spec.template), 9)
            told = deployment.metadata.annotations.get(MADE_REPLICA_SET, made)
            current = replica_set_of(deployment, told)
            self._made_sets.append(current)
        sibling = self._siblings.get(("ReplicaSet", namespace, current.name))
        if deployment.spec.template.spec != current.spec.template.spec:
            sibling = None
        template = deployment.spec.template.replace(metadata=_with_hash(deployment, current))
        reference = owner_of("ReplicaSet", current.metadata)
        self._check(missing, "Deployment", deployment, "spec.replicas")
        replica = mould(template, namespace, reference, sibling)
        self._make(replica, current.name, missing, _told_names(deployment))

    def _replicas(self, kind: str, owner: Replicated, wanted: int) -> None:
        key = (kind, owner.namespace, owner.name)
        missing = wanted - self._active[key]
        field = "spec.parallelism" if kind == "Job" else "spec.replicas"
        self._check(missing, kind, owner, field)
        reference = owner_of(kind, owner.metadata)
        sibling = self._siblings.get(key)
        made = mould(owner.spec.template, owner.namespace, reference, sibling)
        self._make(made, owner.name, missing, _told_names(owner))

    def _make(self, replica: Mould, base: str, count: int, told: Iterator[str]) -> None:
        salt = 0
        for _ in range(count):
            seed = f"{replica.namespace}/{base}#{salt}"
            name = next(told, None) or generated_name(f"{base}-", seed)
            while (replica.namespace, name) in self._taken:
                salt += 1
                name = generated_name(f"{base}-", f"{replica.namespace}/{base}#{salt}")
            self._add(replica.pod(name))

    def _stateful(self, owner: StatefulSet) -> None:
        """Pods keep their names, so one that is still terminating holds its own."""
        self._check(owner.spec.replicas, "StatefulSet", owner, "spec.replicas")
        reference = owner_of("StatefulSet", owner.metadata)
        sibling = self._siblings.get(("StatefulSet", owner.namespace, owner.name))
        replica = mould(owner.spec.template, owner.namespace, reference, sibling)
        start = owner.spec.ordinals.start
        for ordinal in range(start, start + owner.spec.replicas):
            name = f"{owner.name}-{ordinal}"
            if (owner.namespace, name) in self._taken:
                continue
            self._claim(owner, name)
            self._add(stateful_pod(replica, owner, ordinal))

    def _claim(self, owner: StatefulSet, pod_name: str) -> None:
        """Claims that don't exist yet are made."""
        for template in owner.spec.volume_claim_templates:
            name = f"{template.metadata.name}-{pod_name}"
            if f"{owner.namespace}/{name}" not in self._claims:
                metadata = ObjectMeta(name=name, namespace=owner.namespace)
                claim = PersistentVolumeClaim(metadata=metadata, spec=template.spec)
                self._made_claims.append(claim)
                self._claims.add(claim.key)

    def _daemon(self, owner: DaemonSet) -> None:
        """One pod for each node that the template's own rules admit and that has none."""
        template = owner.spec.template
        spec = daemon_spec(template.spec)
        covered = self._daemons.get(owner.key, set())
        reference, told = owner_of("DaemonSet", owner.metadata), _told_names(owner)
        for node in self._nodes:
            if node.name in covered or not runs_on(spec, node):
                continue
            pinned = template.replace(spec=pinned_spec(spec, node.name))
            self._make(mould(pinned, owner.namespace, reference, None), owner.name, 1, told)

    def _add(self, pod: Pod) -> None:
        self._taken.add((pod.namespace, pod.name))
        self._made.append(pod)

    def _check(self, count: int, kind: str, owner: KubeObject, field: str) -> None:
        if count + len(self._made) > MOST_PODS:
            raise SourceError(
                f"{count} pods are missing; planner makes at most {MOST_PODS} from templates",
                object=f"{kind} {owner.key}",
                field=field,
            )


def _told_names(owner: KubeObject) -> Iterator[str]:
    told = owner.metadata.annotations.get(MADE_PODS)
    return iter(told.split(",") if told else ())


def _deployment_of(replica_set: ReplicaSet) -> str | None:
    owner = replica_set.metadata.controller
    if owner is None or owner.kind != "Deployment":
        return None
    return f"{replica_set.namespace}/{owner.name}"


def revision_key(replica_set: ReplicaSet) -> tuple[int, int, str]:
    """Newest last: by the revision annotation, then by age."""
    text = replica_set.metadata.annotations.get(REVISION, "")
    revision = int(text) if _NUMBER.fullmatch(text) else 0
    return revision, replica_set.metadata.creation_timestamp or 0, replica_set.name


def template_text(template: PodTemplate) -> str:
    """Equal for equal templates: what a new ReplicaSet's name is made from."""
    return repr((sorted(template.metadata.labels.items()), template.spec))


def replica_set_of(deployment: Deployment, hashed: str) -> ReplicaSet:
    """The ReplicaSet that the Deployment's controller would make, or has made."""
    metadata = ObjectMeta().replace(
        name=f"{deployment.name}-{hashed}",
        namespace=deployment.namespace,
        labels={**deployment.spec.template.metadata.labels, HASH_LABEL: hashed},
        owner_references=(owner_of("Deployment", deployment.metadata),),
    )
    return ReplicaSet(
        metadata=metadata,
        spec=ReplicatedSpec(
            replicas=deployment.spec.replicas,
            selector=deployment.spec.selector,
            template=deployment.spec.template,
        ),
    )


def _with_hash(deployment: Deployment, replica_set: ReplicaSet) -> ObjectMeta:
    metadata = deployment.spec.template.metadata
    hashed = replica_set.metadata.labels.get(HASH_LABEL)
    labels = {**metadata.labels, HASH_LABEL: hashed} if hashed else metadata.labels
    return metadata.replace(labels=labels)
