"""What a controller looks like: the facts of one workload, and its API objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.generate.objects import Json, metadata, owner_reference
from benchmarks.generate.pod_spec import pod_spec

Kind = Literal["Deployment", "StatefulSet", "DaemonSet", "Job"]


@dataclass(frozen=True, slots=True)
class Workload:
    """One controller and what its pods ask for. Uids and times are drawn by the cluster."""

    kind: Kind
    name: str
    namespace: str
    replicas: int
    pools: tuple[str, ...]
    image: str
    uid: str
    owner_uid: str
    revision: str
    created: str
    cpu_milli: int = 100
    memory_mib: int = 128
    gpus: int = 0
    priority_class: str = ""
    priority: int = 0
    zone_skew: int = 0
    host_skew: int = 0
    host_hard: bool = False
    pool_affinity: bool = False
    missing_pool: bool = False
    anti_affinity: bool = False
    tolerates: tuple[str, ...] = ()
    zonal_volume: bool = False
    env_count: int = 0
    probes: bool = False
    old_revisions: tuple[tuple[str, str], ...] = ()
    budget: int = 0
    pending: int = 0
    terminating: int = 0
    finished: bool = False

    @property
    def selector(self) -> dict[str, str]:
        """The labels by which the controller finds its pods."""
        return {"app.kubernetes.io/name": self.name}

    @property
    def owner(self) -> Json:
        """The direct controller of the pods: a Deployment's is its current ReplicaSet."""
        if self.kind == "Deployment":
            name = f"{self.name}-{self.revision}"
            return owner_reference("ReplicaSet", name, self.owner_uid)
        api_version = "batch/v1" if self.kind == "Job" else "apps/v1"
        return owner_reference(self.kind, self.name, self.uid, api_version)

    @property
    def host_cap(self) -> int:
        """How many of its pods a node may hold; nodes that nobody can use keep the minimum at 0."""
        if self.anti_affinity:
            return 1
        return self.host_skew if self.host_hard else 1_000_000


def _template(workload: Workload, labels: dict[str, str]) -> Json:
    return {"metadata": {"labels": labels}, "spec": pod_spec(workload)}


def deployment(workload: Workload, version: str, ready: int) -> Json:
    """A Deployment that has finished its rollout, except for pods that can't be scheduled."""
    replicas = workload.replicas
    reason = "MinimumReplicasAvailable" if ready == replicas else "MinimumReplicasUnavailable"
    condition = {
        "lastTransitionTime": workload.created,
        "lastUpdateTime": workload.created,
        "message": "Deployment has minimum availability."
        if ready == replicas
        else "Deployment does not have minimum availability.",
        "reason": reason,
        "status": "True" if ready == replicas else "False",
        "type": "Available",
    }
    revision = {"deployment.kubernetes.io/revision": str(len(workload.old_revisions) + 1)}
    meta = metadata(
        workload.name, workload.uid, workload.created, version, workload.namespace,
        annotations=revision, generation=1, labels=workload.selector,
    )  # fmt: skip
    status: Json = {
        "availableReplicas": ready,
        "conditions": [condition],
        "observedGeneration": 1,
        "readyReplicas": ready,
        "replicas": replicas,
        "terminatingReplicas": 0,
        "updatedReplicas": replicas,
    }
    if ready < replicas:
        status["unavailableReplicas"] = replicas - ready
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {
            "progressDeadlineSeconds": 600,
            "replicas": replicas,
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": workload.selector},
            "strategy": {
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
                "type": "RollingUpdate",
            },
            "template": _template(workload, workload.selector),
        },
        "status": status,
    }


def replica_set(
    workload: Workload, version: str, revision: tuple[str, str], number: int, ready: int
) -> Json:
    """One revision's ReplicaSet; old revisions stay with no replicas for rollbacks."""
    pod_hash, uid = revision
    current = pod_hash == workload.revision
    replicas = workload.replicas if current else 0
    labels = workload.selector | {"pod-template-hash": pod_hash}
    annotations = {
        "deployment.kubernetes.io/desired-replicas": str(workload.replicas),
        "deployment.kubernetes.io/revision": str(number),
    }
    meta = metadata(
        f"{workload.name}-{pod_hash}", uid, workload.created, version, workload.namespace,
        annotations=annotations, generation=1, labels=labels,
        ownerReferences=[owner_reference("Deployment", workload.name, workload.uid)],
    )  # fmt: skip
    status: Json = {"observedGeneration": 1, "replicas": replicas, "terminatingReplicas": 0}
    if current:
        status |= {"availableReplicas": ready, "readyReplicas": ready}
        status["fullyLabeledReplicas"] = replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": _template(workload, labels),
        },
        "status": status,
    }


def stateful_set(workload: Workload, version: str) -> Json:
    """A StatefulSet; with volumes it carries the claim template that made its pods' claims."""
    spec: Json = {
        "podManagementPolicy": "OrderedReady",
        "replicas": workload.replicas,
        "revisionHistoryLimit": 10,
        "selector": {"matchLabels": workload.selector},
        "serviceName": workload.name,
        "template": _template(workload, workload.selector),
        "updateStrategy": {"rollingUpdate": {"partition": 0}, "type": "RollingUpdate"},
    }
    if workload.zonal_volume:
        claim_spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "50Gi"}},
            "storageClassName": "zonal-ssd",
            "volumeMode": "Filesystem",
        }
        spec["volumeClaimTemplates"] = [
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data"},
                "spec": claim_spec,
                "status": {"phase": "Pending"},
            }
        ]
    revision = f"{workload.name}-{workload.revision}"
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(
            workload.name, workload.uid, workload.created, version, workload.namespace,
            generation=1, labels=workload.selector,
        ),
        "spec": spec,
        "status": {
            "availableReplicas": workload.replicas,
            "collisionCount": 0,
            "currentReplicas": workload.replicas,
            "currentRevision": revision,
            "observedGeneration": 1,
            "readyReplicas": workload.replicas,
            "replicas": workload.replicas,
            "updateRevision": revision,
            "updatedReplicas": workload.replicas,
        },
    }  # fmt: skip


def daemon_set(workload: Workload, version: str) -> Json:
    """A DaemonSet with a ready pod on every node."""
    count = workload.replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(
            workload.name, workload.uid, workload.created, version, workload.namespace,
            generation=1, labels=workload.selector,
            annotations={"deprecated.daemonset.template.generation": "1"},
        ),
        "spec": {
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": workload.selector},
            "template": _template(workload, workload.selector),
            "updateStrategy": {
                "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
                "type": "RollingUpdate",
            },
        },
        "status": {
            "currentNumberScheduled": count,
            "desiredNumberScheduled": count,
            "numberAvailable": count,
            "numberMisscheduled": 0,
            "numberReady": count,
            "observedGeneration": 1,
            "updatedNumberScheduled": count,
        },
    }  # fmt: skip
