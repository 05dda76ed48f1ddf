"""Deployments, StatefulSets and DaemonSets that run, with their pods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.replay.trial import Manner
from planner.scenario.rollout import rollout_of
from planner.scenario.rollout_run import RolloutRun
from planner.scheduler.profile import default_profile
from planner_models.pod import PodTemplate, TemplatePodSpec
from tests.objects import HOSTNAME, Json, merged, owned, pod, template, workload

ZONE = "topology.kubernetes.io/zone"
TOLERATED = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]
"""What the DaemonSet controller adds to its pods."""


def deployed(
    name: str,
    nodes: Iterable[str],
    *,
    spec: Json | None = None,
    replicas: int | None = None,
    surge: int | str = "25%",
    unavailable: int | str = "25%",
    **fields: Any,
) -> list[Json]:
    """A Deployment with a pod on each of these nodes; `spec` is that of its pods.

    `fields` are others of the Deployment's own spec.
    """
    nodes = list(nodes)
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    shared: Json = {
        "replicas": len(nodes) if replicas is None else replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": template({"app": name}, spec),
    }
    deployment = workload("Deployment", name, {**shared, "strategy": rolling})
    return [merged(deployment, {"spec": fields}), *revision_of(name, "v1", nodes, spec)]


def revision_of(
    name: str, revision: str, nodes: Iterable[str], spec: Json | None = None, **metadata: Any
) -> list[Json]:
    """A ReplicaSet of a Deployment and its pods."""
    nodes = list(nodes)
    labels = {"app": name, "pod-template-hash": revision}
    made = template(labels, spec)
    replica_set = workload(
        "ReplicaSet",
        f"{name}-{revision}",
        {"replicas": len(nodes), "selector": {"matchLabels": labels}, "template": made},
        metadata={**owned("Deployment", name), "labels": labels, **metadata},
    )
    owner = {"labels": labels, **owned("ReplicaSet", f"{name}-{revision}")}
    pods = [
        pod(f"{name}-{revision}-{i}", node_name, spec=made["spec"], metadata=owner)
        for i, node_name in enumerate(nodes)
    ]
    return [replica_set, *pods]


def stateful(
    name: str, nodes: Iterable[str], *, spec: Json | None = None, **fields: Any
) -> list[Json]:
    """A StatefulSet with a pod on each of these nodes, by ordinal; an empty name: it waits."""
    nodes = list(nodes)
    own = {"replicas": len(nodes), "selector": {"matchLabels": {"app": name}}, **fields}
    owner = workload("StatefulSet", name, {**own, "template": template({"app": name}, spec)})
    owner["status"] = {"currentRevision": f"{name}-v1", "updateRevision": f"{name}-v1"}
    labels = {"app": name, "controller-revision-hash": f"{name}-v1"}
    metadata = {"labels": labels, **owned("StatefulSet", name)}
    made = template(spec=spec)["spec"]
    pods = [pod(f"{name}-{i}", on, spec=made, metadata=metadata) for i, on in enumerate(nodes)]
    return [owner, *pods]


def daemons(
    name: str, nodes: Iterable[str], *, spec: Json | None = None, **fields: Any
) -> list[Json]:
    """A DaemonSet with a pod on each of these nodes; `fields` are its updateStrategy's."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": fields}
    own = {"selector": {"matchLabels": {"app": name}}, "updateStrategy": strategy}
    owner = workload("DaemonSet", name, {**own, "template": template({"app": name}, spec)})
    labels = {"app": name, "controller-revision-hash": "v1"}
    metadata = {"labels": labels, **owned("DaemonSet", name)}
    pods = []
    for on in nodes:
        field = {"key": "metadata.name", "operator": "In", "values": [on]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        made = {**template(spec=spec)["spec"], "affinity": affinity, "tolerations": TOLERATED}
        pods.append(pod(f"{name}-{on}", on, spec=made, metadata=metadata))
    return [owner, *pods]


def ref(name: str, kind: str = "Deployment") -> WorkloadRef:
    return WorkloadRef("default", kind, name)


def rolled(
    cluster: Cluster,
    name: str,
    template: PodTemplate | None = None,
    cordoned: Iterable[str] = (),
    kind: str = "Deployment",
    **manner: Any,
) -> RolloutRun:
    rollout = rollout_of(cluster, default_profile(), ref(name, kind), template)
    nodes = [cluster.node_index[each] for each in cordoned]
    return rollout.run(Manner(**{"seed": 0, **manner}), nodes)


def changed(cluster: Cluster, name: str, spec: Json, kind: str = "Deployment") -> PodTemplate:
    """The workload's template with other fields in the spec of its pods."""
    found = cluster.owners.controllers[ref(name, kind)]
    given = TemplatePodSpec.model_validate(spec)
    fields = {name: getattr(given, name) for name in given.model_fields_set}
    return found.spec.template.replace(spec=found.spec.template.spec.replace(**fields))


def where(cluster: Cluster, run: RolloutRun) -> list[str]:
    """The nodes of the new pods."""
    nodes = (int(run.ended.node_of[pod]) for pod in run.updated)
    return sorted(cluster.nodes[node].name if node >= 0 else "waits" for node in nodes)


def apart(key: str = HOSTNAME, app: str = "web", **term: Any) -> Json:
    """Required anti-affinity of an app to itself."""
    terms = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **term}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return {"affinity": {"podAntiAffinity": required}}


def spread(app: str = "web", key: str = ZONE, skew: int = 1, **more: Any) -> Json:
    """A hard spread constraint of an app over itself."""
    selector = {"matchLabels": {"app": app}}
    constraint = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": selector, **more}]}
