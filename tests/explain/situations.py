"""Clusters in a few lines: nodes by zone, workloads with their pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.cluster import Cluster
from tests.objects import ZONE, cluster_of, merged, node

Json = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
THREE_ZONES = {"eu-1a": ["a1", "a2"], "eu-1b": ["b1", "b2"], "eu-1c": ["c1", "c2"]}


def nodes(zones: Mapping[str, Sequence[str]], cpu: str = "4", **changes: Any) -> list[Json]:
    """4 CPU, 16Gi and 110 pods each, unless told otherwise."""
    offer = {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}
    return [
        node(name, zone, **merged({"status": offer}, changes))
        for zone, names in zones.items()
        for name in names
    ]


def spread(app: str, key: str = ZONE, skew: int = 1, **more: Any) -> Json:
    """A hard constraint over the pods of an app."""
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }


def requests(cpu: str, memory: str = "") -> Json:
    """Containers with one request."""
    asked = {"cpu": cpu, **({"memory": memory} if memory else {})}
    return {"containers": [{"name": "main", "resources": {"requests": asked}}]}


def workload(
    name: str,
    on: Iterable[str] = (),
    pending: int = 0,
    *,
    spec: Json | None = None,
    kind: str = "Deployment",
    names: Sequence[str] = (),
) -> list[Json]:
    """A Deployment with its ReplicaSet (or another controller) and its pods."""
    places = [*on, *([""] * pending)]
    body = {"containers": [{"name": "main"}], **(spec or requests("500m"))}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": body}
    owned = {"selector": {"matchLabels": labels}, "replicas": len(places), "template": template}
    found: list[Json] = []
    owner = ("ReplicaSet", f"{name}-7d9f") if kind == "Deployment" else (kind, name)
    group = "batch/v1" if kind == "Job" else "apps/v1"
    top: Json = {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template, "parallelism": len(places)} if kind == "Job" else owned,
    }
    found.append(top)
    if kind == "Deployment":
        metadata = {
            "name": owner[1],
            "namespace": "default",
            "ownerReferences": [
                {"kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
            ],
        }
        found.append(
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": owned}
        )
    for index, place in enumerate(places):
        pod = names[index] if names else f"{owner[1]}-{index:05}"
        found.append(_pod(pod, labels, owner, body, place))
    return found


def _pod(name: str, labels: Json, owner: tuple[str, str], spec: Json, place: str) -> Json:
    reference = {"kind": owner[0], "name": owner[1], "uid": f"uid-{owner[1]}", "controller": True}
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "labels": labels,
        "ownerReferences": [reference],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**spec, **({"nodeName": place} if place else {})},
        "status": {"phase": "Running" if place else "Pending"},
    }


def volume(claim: str, zone: str) -> list[Json]:
    """A bound claim whose volume is in a zone."""
    name = claim.replace("data", "pv")
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": claim,
                "namespace": "default",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {
                "storageClassName": "zonal-ssd",
                "volumeName": name,
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "storageClassName": "zonal-ssd",
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": "default", "name": claim},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
            "status": {"phase": "Bound"},
        },
    ]


ZONAL_CLASS: Json = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "zonal-ssd"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def stateful(name: str, claim: str, spec: Json) -> Json:
    """The spec of one pod of a StatefulSet, with its own claim."""
    source = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return {**spec, "volumes": [source]}


def one_zone_full() -> Cluster:
    """A2: the third zone has room for one web pod only."""
    web = {**requests("1", "512Mi"), "topologySpreadConstraints": [spread("web")]}
    return cluster_of(
        *nodes(THREE_ZONES),
        *workload("web", ["a1", "a2", "b1", "b2", "c1"], 1, spec=web),
        *_database({"db-0": ("c1", "2500m"), "db-1": ("c2", "3250m")}),
        *workload("api", ["a1", "b1"], spec=requests("1", "1Gi")),
        ZONAL_CLASS,
    )


def _database(pods: Mapping[str, tuple[str, str]]) -> list[Json]:
    found: list[Json] = []
    for name, (place, cpu) in pods.items():
        claim = f"data-{name}"
        body = stateful(name, claim, requests(cpu, "4Gi"))
        found += volume(claim, "eu-1c")
        found.append(_pod(name, {"app": "db"}, ("StatefulSet", "db"), body, place))
    return found


def tainted_zone() -> Cluster:
    """A3: a zone of GPU nodes counts all the same."""
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    web = {**requests("500m"), "topologySpreadConstraints": [spread("web")]}
    return cluster_of(
        *nodes({"eu-1a": ["a1", "a2"], "eu-1b": ["b1", "b2"]}),
        *nodes({"eu-1c": ["gpu1", "gpu2"]}, spec={"taints": [taint]}),
        *workload("web", ["a1", "b1"], 1, spec=web),
    )


def pigeonhole() -> Cluster:
    """A4: four replicas that keep apart by zone, three zones."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "etcd"}}}
    etcd = {
        **requests("500m", "1Gi"),
        "affinity": {"podAntiAffinity": {REQUIRED: [term]}},
    }
    return cluster_of(*nodes(THREE_ZONES), *workload("etcd", ["a1", "b1", "c1"], 1, spec=etcd))


def zonal_volume() -> Cluster:
    """A5: the volume is where the pod must not go."""
    body = {**requests("1"), "topologySpreadConstraints": [spread("db")]}
    places = {"db-0": ("a1", "eu-1a"), "db-1": ("b1", "eu-1b"), "db-2": ("", "eu-1a")}
    found: list[Json] = [
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": {"app": "db"}},
                "template": {"metadata": {"labels": {"app": "db"}}, "spec": body},
            },
        }
    ]
    for name, (place, zone) in places.items():
        found += volume(f"data-{name}", zone)
        spec = stateful(name, f"data-{name}", body)
        found.append(_pod(name, {"app": "db"}, ("StatefulSet", "db"), spec, place))
    return cluster_of(*nodes(THREE_ZONES), ZONAL_CLASS, *found)


def too_many_domains() -> Cluster:
    """A6: minDomains 4, three zones."""
    web = {**requests("500m"), "topologySpreadConstraints": [spread("web", minDomains=4)]}
    return cluster_of(*nodes(THREE_ZONES), *workload("web", ["a1", "b1", "c1"], 1, spec=web))


def greedy_got_stuck() -> Cluster:
    """A8: batch pods fill the zone that web needs."""
    web = {**requests("1"), "topologySpreadConstraints": [spread("web")]}
    return cluster_of(
        *nodes({"eu-1a": ["a1", "a2"], "eu-1b": ["b1", "b2"]}),
        *workload("web", ["a1", "a2", "b1"], 1, spec=web),
        *workload("batch", ["b1", "b1", "b2", "b2", "b2"], spec=requests("1250m")),
    )


def on_paper_only() -> Cluster:
    """A9: an even arrangement exists that no order of steps reaches."""
    hostname = spread("web", "kubernetes.io/hostname")
    web = {**requests("100m"), "topologySpreadConstraints": [spread("web"), hostname]}
    return cluster_of(
        *nodes({"eu-1a": ["worker-1"], "eu-1b": ["worker-2", "worker-3"]}),
        *workload("web", ["worker-1", *["worker-3"] * 5], 1, spec=web),
    )


def competing() -> Cluster:
    """A10: two workloads, three places."""
    zones = {"eu-1a": ["n1"], "eu-1b": ["n2"], "eu-1c": ["n3"]}
    offer = {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}
    places = ["n1", "n2", "n3"]
    return cluster_of(
        *nodes(zones, status=offer),
        *workload("web", places * 2, spec=requests("2", "4Gi")),
        *workload("db", places, spec=requests("2", "8Gi")),
        *workload("log", places, spec=requests("500m", "1Gi"), kind="DaemonSet"),
        *workload("train", pending=2, spec=requests("1500m", "4Gi")),
        *workload("render", pending=2, spec=requests("1500m", "6Gi")),
    )


def preemption_would_help() -> Cluster:
    """A11: a policy of Never, and lower priorities in the way."""
    zones = {"eu-1a": ["a1"], "eu-1b": ["b1"], "eu-1c": ["c1"]}
    places = ["a1", "b1", "c1"]
    auth = {**requests("1", "512Mi"), "priority": 1000, "preemptionPolicy": "Never"}
    return cluster_of(
        *nodes(zones),
        *workload("batch", places * 2, spec={**requests("1500m"), "priority": 0}),
        *workload("web", places, spec={**requests("600m"), "priority": 100}),
        *workload("auth", pending=1, spec=auth),
    )


def grid() -> Cluster:
    """A12: three racks by three rows."""
    body = {
        **requests("3"),
        "topologySpreadConstraints": [spread("store", "rack"), spread("store", "row")],
    }
    cells = [
        node(
            f"r{rack}w{row}",
            metadata={"labels": {"rack": f"rack{rack}", "row": f"row{row}"}},
            status={"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
        )
        for rack in (1, 2, 3)
        for row in (1, 2, 3)
    ]
    places = ["r1w1", "r1w2", "r2w1", "r2w2", "r3w3"]
    return cluster_of(*cells, *workload("store", places, 1, spec=body))


def all_pending() -> Cluster:
    """A14: five workloads wait for five reasons."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "etcd"}}}
    etcd = {**requests("500m"), "affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    web = {**requests("1"), "topologySpreadConstraints": [spread("web")]}
    gated = {**requests("1"), "schedulingGates": [{"name": "quota"}]}
    return cluster_of(
        *nodes(THREE_ZONES),
        *workload("etcd", ["a1", "b1", "c1"], 1, spec=etcd),
        *workload("web", ["a1", "a2", "b1", "b2", "c1"], 2, spec=web),
        *_database({"db-0": ("c1", "2250m")}),
        ZONAL_CLASS,
        *workload("batch", ["c2"] * 3, spec=requests("1250m")),
        *workload("report", pending=1, spec=requests("6"), kind="Job"),
        *workload("cron", pending=2, spec=requests("200m")),
        *workload("ml", pending=1, spec=gated, kind="Job"),
    )


def large() -> Cluster:
    """A13, a tenth of it: 500 nodes in four classes."""
    dedicated = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    offer = {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}
    ssd = {"labels": {"disktype": "ssd"}}
    found: list[Json] = []
    for zone, general, special in (("eu-1a", 120, 30), ("eu-1b", 120, 30), ("eu-1c", 120, 20)):
        letter = zone[-1]
        found += nodes({zone: [f"gen-{letter}-{i:03}" for i in range(general)]}, status=offer)
        found += nodes(
            {zone: [f"ml-{letter}-{i:03}" for i in range(special)]},
            status=offer,
            metadata=ssd,
            spec={"taints": [dedicated]},
        )
        found += nodes(
            {zone: [f"ssd-{letter}-{i:03}" for i in range(20)]}, status=offer, metadata=ssd
        )
    body = {**requests("6"), "nodeSelector": {"disktype": "ssd"}}
    etl = {**body, "topologySpreadConstraints": [spread("etl")]}
    places = [f"ssd-{z}-{i:03}" for z, n in (("a", 4), ("b", 4), ("c", 3)) for i in range(n)]
    rest = [f"ssd-c-{i:03}" for i in range(20) for _ in range(1 if i < 3 else 2)]
    return cluster_of(
        *found, *workload("etl", places, 1, spec=etl), *workload("spark", rest, spec=body)
    )
