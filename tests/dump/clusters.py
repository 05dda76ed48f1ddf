"""Random clusters with everything that names are used for.

random_cluster(7)     the same objects each time
"""

from __future__ import annotations

import random

from tests.objects import ZONE, Json, merged, node, template, workload

RACK = "acme.example/rack"
TEAM = "team-name"
SIZE = "acme.example/size"
GPU = "acme.example/gpu"
NAMESPACES = ("default", "acme", "acme-prod", "zoo", "kube-system")
APPS = ("acme-web", "db", "db-proxy", "cart", "a", "worker-7")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def random_cluster(seed: int) -> list[Json]:
    """Nodes, workloads of every kind with their pods, budgets, volumes, classes, namespaces."""
    draw = random.Random(seed)
    nodes = [_node(draw, number) for number in range(draw.randint(3, 6))]
    draw.shuffle(nodes)
    found: list[Json] = [*nodes, *_classes(), *map(_namespace, NAMESPACES)]
    for number in range(draw.randint(2, 5)):
        app = f"{draw.choice(APPS)}{'' if draw.random() < 0.7 else '-2'}"
        namespace = draw.choice(NAMESPACES)
        kind = draw.choice(("Deployment", "Deployment", "StatefulSet", "Job", "DaemonSet"))
        found += _workload(draw, kind, app, namespace, nodes, number)
        if draw.random() < 0.4:
            found.append(_budget(draw, app, namespace))
        if draw.random() < 0.4:
            found.append(_service(app, namespace))
    if draw.random() < 0.3:
        found += _limits(draw, draw.choice(NAMESPACES))
    return found


def _limits(draw: random.Random, namespace: str) -> list[Json]:
    """Who else decides about pods: a quota, an autoscaler, a LimitRange."""
    hard = {"pods": "4", "requests.cpu": "3", f"requests.{GPU}": "1", "count/pods": "9"}
    scaled = {"kind": "Deployment", "name": draw.choice(APPS)}
    default = {"type": "Container", "defaultRequest": {"cpu": "100m"}}
    metadata = {"name": "acme-limits", "namespace": namespace}
    return [
        _object("v1", "ResourceQuota", metadata, {"hard": hard}),
        _object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            metadata,
            {"scaleTargetRef": scaled, "maxReplicas": 9},
        ),
        _object("v1", "LimitRange", metadata, {"limits": [default]}),
    ]


def _node(draw: random.Random, number: int) -> Json:
    name = draw.choice((f"ip-10-0-{number}.acme.example", f"worker{number}", f"acme-{number}-x"))
    labels = {
        ZONE: draw.choice(("eu-west-1a", "eu-west-1b", "b")),
        RACK: draw.choice(("r1", "r10", "r2")),
        SIZE: str(draw.choice((2, 8, 16))),
        TEAM: draw.choice(("red", "blue")),
        "own": name,
    }
    if draw.random() < 0.1:
        del labels[ZONE]
    taints: list[Json] = []
    if draw.random() < 0.3:
        taints.append({"key": "acme.example/dedicated", "value": "gpu", "effect": "NoSchedule"})
    if draw.random() < 0.1:
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"})
    offer = {"cpu": str(draw.choice((2, 4, 8))), "memory": "16Gi", "pods": "20"}
    if draw.random() < 0.5:
        offer[GPU] = "2"
    made = node(name, metadata={"labels": labels}, spec={"taints": taints})
    made["status"] = {
        "allocatable": offer,
        "conditions": [{"type": "Ready", "status": "True", "message": "acme kubelet is ready"}],
        "images": [{"names": ["registry.acme.example/web:1"], "sizeBytes": 400_000_000}],
        "addresses": [{"type": "InternalIP", "address": f"10.0.0.{number}"}],
    }
    return made


def _classes() -> list[Json]:
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "acme-urgent"},
            "value": 1000,
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "acme-ssd"},
            "provisioner": "csi.acme.example",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    ]


def _namespace(name: str) -> Json:
    labels = {"tenant": "acme" if name.startswith("acme") else "others"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _template(draw: random.Random, app: str) -> Json:
    labels = {"app": app, "tier": draw.choice(("front", "back"))}
    selector = {"matchLabels": {"app": app}}
    container: Json = {
        "name": "main",
        "image": "registry.acme.example/web:1",
        "env": [{"name": "SECRET", "value": "acme-secret"}],
        "resources": {"requests": {"cpu": draw.choice(("250m", "500m", "1"))}},
    }
    spec: Json = {"containers": [container]}
    if draw.random() < 0.6:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": draw.choice((ZONE, RACK, "own")),
                "whenUnsatisfiable": draw.choice(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": selector,
                **({"matchLabelKeys": ["pod-template-hash"]} if draw.random() < 0.3 else {}),
            }
        ]
    affinity: Json = {}
    if draw.random() < 0.3:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
        affinity["podAntiAffinity"] = {REQUIRED: [term]}
    if draw.random() < 0.3:
        near = {
            "topologyKey": ZONE,
            "labelSelector": {"matchLabels": {"tier": "back"}},
            "namespaceSelector": {"matchLabels": {"tenant": "acme"}},
        }
        affinity["podAffinity"] = {PREFERRED: [{"weight": 7, "podAffinityTerm": near}]}
    if draw.random() < 0.3:
        asked = {"key": SIZE, "operator": draw.choice(("Gt", "Lt")), "values": ["4"]}
        affinity["nodeAffinity"] = {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [asked]}]}
        }
    if affinity:
        spec["affinity"] = affinity
    _more(draw, spec, container)
    return template(labels, spec)


def _more(draw: random.Random, spec: Json, container: Json) -> None:
    if draw.random() < 0.3:
        spec["tolerations"] = [{"key": "acme.example/dedicated", "operator": "Exists"}]
    if draw.random() < 0.2:
        spec["nodeSelector"] = {TEAM: "red"}
    if draw.random() < 0.2:
        spec["priorityClassName"], spec["priority"] = "acme-urgent", 1000
    if draw.random() < 0.2:
        container["resources"]["requests"][GPU] = "1"
    if draw.random() < 0.1:
        container["ports"] = [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.9"}]


def _workload(
    draw: random.Random, kind: str, app: str, namespace: str, nodes: list[Json], number: int
) -> list[Json]:
    """A workload with its pods: on nodes wherever, or waiting, or not even made."""
    made = _template(draw, app)
    replicas = draw.randint(1, 5)
    changes: Json = {"template": made}
    if kind in ("Deployment", "StatefulSet"):
        changes["replicas"] = replicas
        changes["selector"] = {"matchLabels": {"app": app}}
    if kind == "DaemonSet":
        changes["selector"] = {"matchLabels": {"app": app}}
    if kind == "Job":
        changes |= {"parallelism": replicas, "completions": replicas}
    metadata = {"name": app, "namespace": namespace, "uid": f"0000-{kind}-{number}"}
    owner = workload(kind, app, changes, metadata=metadata)
    if draw.random() < 0.15:
        del owner["metadata"]["uid"]
        return [owner]
    found = [owner]
    labels = dict(made["metadata"]["labels"])
    direct = owner
    if kind == "Deployment":
        hashed = f"{draw.randrange(16**8):08x}"
        labels["pod-template-hash"] = hashed
        direct = merged(owner, {"kind": "ReplicaSet", "metadata": {"name": f"{app}-{hashed}"}})
        direct["metadata"] |= {
            "uid": f"1111-{number}",
            "ownerReferences": [_reference(owner)],
            "labels": labels,
        }
        direct["spec"]["template"] = merged(made, {"metadata": {"labels": labels}})
        found.append(direct)
    claims = kind == "StatefulSet" and draw.random() < 0.5
    for ordinal in range(len(nodes) if kind == "DaemonSet" else replicas):
        name = _pod_name(draw, kind, direct["metadata"]["name"], ordinal)
        there = draw.choice((*nodes, None, nodes[ordinal % len(nodes)]))
        if kind == "DaemonSet":
            there = nodes[ordinal]
        found.append(_pod(draw, made, name, namespace, labels, direct, there))
        if claims:
            claim = f"data-{name}"
            volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
            found[-1]["spec"]["volumes"] = [volume]
            found += _claimed(draw, claim, namespace, number * 10 + ordinal)
    return found


def _pod_name(draw: random.Random, kind: str, owner: str, ordinal: int) -> str:
    suffix = "".join(draw.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
    return f"{owner}-{ordinal}" if kind == "StatefulSet" else f"{owner}-{suffix}"


def _reference(owner: Json) -> Json:
    names = {key: owner["metadata"].get(key, "") for key in ("name", "uid")}
    api = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    return {**api, **names, "controller": True}


def _pod(
    draw: random.Random,
    made: Json,
    name: str,
    namespace: str,
    labels: dict[str, str],
    owner: Json,
    there: Json | None,
) -> Json:
    hour, minute = draw.randint(0, 23), draw.randint(0, 59)
    created = f"2026-11-16T{hour:02}:{minute:02}:00Z"
    spec = merged(made["spec"], {"nodeName": there["metadata"]["name"]} if there else {})
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": created}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"{draw.randrange(16**12):012x}-{name}",
            "labels": labels,
            "annotations": {"acme.example/owner": "acme-team"},
            "creationTimestamp": created,
            "ownerReferences": [_reference(owner)],
            **({"deletionTimestamp": created} if draw.random() < 0.05 else {}),
        },
        "spec": spec,
        "status": {"phase": "Running", "conditions": [ready]} if there else {"phase": "Pending"},
    }


def _claimed(draw: random.Random, claim: str, namespace: str, number: int) -> list[Json]:
    """A claim, bound to a volume of one zone or still waiting."""
    bound = draw.random() < 0.7
    volume = f"pvc-{number:04}-acme"
    spec: Json = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "acme-ssd",
    }
    metadata: Json = {"name": claim, "namespace": namespace, "uid": f"2222-{number}"}
    if not bound:
        return [_object("v1", "PersistentVolumeClaim", metadata, spec)]
    metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    zone = {"key": ZONE, "operator": "In", "values": [draw.choice(("eu-west-1a", "b"))]}
    of_volume: Json = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": "acme-ssd",
        "claimRef": {"namespace": namespace, "name": claim, "uid": f"2222-{number}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}},
        "csi": {"driver": "csi.acme.example", "volumeHandle": f"acme-vol-{number}"},
    }
    return [
        _object("v1", "PersistentVolumeClaim", metadata, {**spec, "volumeName": volume}),
        _object("v1", "PersistentVolume", {"name": volume, "uid": f"3333-{number}"}, of_volume),
    ]


def _budget(draw: random.Random, app: str, namespace: str) -> Json:
    allowed = draw.choice(({"minAvailable": 1}, {"maxUnavailable": "50%"}, {"minAvailable": "80%"}))
    spec = {**allowed, "selector": {"matchLabels": {"app": app}}}
    metadata = {"name": f"{app}-budget", "namespace": namespace}
    return _object("policy/v1", "PodDisruptionBudget", metadata, spec)


def _service(app: str, namespace: str) -> Json:
    return _object(
        "v1", "Service", {"name": app, "namespace": namespace}, {"selector": {"app": app}}
    )


def _object(api_version: str, kind: str, metadata: Json, spec: Json) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
