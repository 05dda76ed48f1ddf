"""Nodes and the small kinds (budgets, services, volumes...) in the API server's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.generate.managed_fields import managed_entry

Json = dict[str, Any]

ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"
HOSTNAME_LABEL = "kubernetes.io/hostname"
POOL_LABEL = "cloud.example.com/nodepool"

NODE_HEALTH = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def metadata(
    name: str, uid: str, created: str, version: str, namespace: str | None = None, **more: Any
) -> Json:
    """Object metadata; `more` holds labels, annotations, ownerReferences and the like."""
    meta: Json = {"creationTimestamp": created, "name": name, "resourceVersion": version}
    meta["uid"] = uid
    if namespace is not None:
        meta["namespace"] = namespace
    meta.update(more)
    return meta


def owner_reference(kind: str, name: str, uid: str, api_version: str = "apps/v1") -> Json:
    """The reference of a controller to what it made."""
    return {
        "apiVersion": api_version,
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": kind,
        "name": name,
        "uid": uid,
    }


def node_labels(name: str, zone: str, region: str, instance_type: str, pool: str) -> dict[str, str]:
    """The labels that a cloud provider's kubelet and controller set."""
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        POOL_LABEL: pool,
        "kubernetes.io/arch": "amd64",
        HOSTNAME_LABEL: name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": instance_type,
        REGION_LABEL: region,
        ZONE_LABEL: zone,
    }


def node(
    meta: Json,
    *,
    capacity: Mapping[str, str],
    allocatable: Mapping[str, str],
    taints: Sequence[Json],
    address: str,
    pod_cidr: str,
    images: Sequence[Json],
    machine: str,
    heartbeat: str,
    unschedulable: bool,
    with_managed_fields: bool,
) -> Json:
    """A ready node; cordoned nodes carry the taint that the node controller adds."""
    cordon = [
        {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": heartbeat}
    ]
    all_taints = [*taints, *(cordon if unschedulable else [])]
    spec: Json = {
        "podCIDR": pod_cidr,
        "podCIDRs": [pod_cidr],
        "providerID": f"cloud://{meta['labels'][ZONE_LABEL]}/{machine[:17]}",
    }
    if all_taints:
        spec["taints"] = all_taints
    if unschedulable:
        spec["unschedulable"] = True
    status = {
        "addresses": [
            {"address": address, "type": "InternalIP"},
            {"address": meta["name"], "type": "Hostname"},
        ],
        "allocatable": dict(allocatable),
        "capacity": dict(capacity),
        "conditions": [
            {
                "lastHeartbeatTime": heartbeat,
                "lastTransitionTime": meta["creationTimestamp"],
                "message": message,
                "reason": reason,
                "status": state,
                "type": kind,
            }
            for kind, state, reason, message in NODE_HEALTH
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "images": list(images),
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": machine[::-1],
            "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.12.40-cloud",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.36.4",
            "machineID": machine.replace("-", ""),
            "operatingSystem": "linux",
            "osImage": "Cloud Linux 12",
            "systemUUID": machine,
        },
    }
    if with_managed_fields:
        meta = meta | {
            "managedFields": [
                managed_entry("kubelet", "v1", meta["creationTimestamp"], {"metadata": meta}),
                managed_entry("kubelet", "v1", heartbeat, {"status": status}, "status"),
            ]
        }
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def namespace(meta: Json) -> Json:
    """An active namespace with the label that every namespace carries."""
    labels = {"kubernetes.io/metadata.name": meta["name"]}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": meta | {"labels": labels},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def priority_class(meta: Json, value: int, description: str) -> Json:
    """A PriorityClass that preempts."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "description": description,
        "kind": "PriorityClass",
        "metadata": meta,
        "preemptionPolicy": "PreemptLowerPriority",
        "value": value,
    }


def service(meta: Json, cluster_ip: str, selector: Mapping[str, str]) -> Json:
    """A ClusterIP service; `None` as the address makes it headless."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {
            "clusterIP": cluster_ip,
            "clusterIPs": [cluster_ip],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
            "selector": dict(selector),
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }


def disruption_budget(
    meta: Json, selector: Mapping[str, str], max_unavailable: int, expected: int, healthy: int
) -> Json:
    """A budget: disruptions allowed = max(0, healthy - (expected - maxUnavailable))."""
    desired = max(0, expected - max_unavailable)
    allowed = max(0, healthy - desired)
    condition = {
        "lastTransitionTime": meta["creationTimestamp"],
        "message": "",
        "observedGeneration": 1,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "status": "True" if allowed else "False",
        "type": "DisruptionAllowed",
    }
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"maxUnavailable": max_unavailable, "selector": {"matchLabels": dict(selector)}},
        "status": {
            "conditions": [condition],
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": 1,
        },
    }


def claim(meta: Json, volume_name: str, size: str) -> Json:
    """A bound claim of a zonal block device."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            "storageClassName": "zonal-ssd",
            "volumeMode": "Filesystem",
            "volumeName": volume_name,
        },
        "status": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "phase": "Bound",
        },
    }


def zonal_volume(meta: Json, claim_meta: Json, zone: str, size: str) -> Json:
    """The volume bound to a claim; its node affinity pins every user of it to one zone."""
    in_zone = {"key": ZONE_LABEL, "operator": "In", "values": [zone]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": claim_meta["name"],
                "namespace": claim_meta["namespace"],
                "uid": claim_meta["uid"],
            },
            "csi": {"driver": "block.csi.example.com", "volumeHandle": f"vol-{meta['uid'][:18]}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [in_zone]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "zonal-ssd",
            "volumeMode": "Filesystem",
        },
        "status": {"lastPhaseTransitionTime": meta["creationTimestamp"], "phase": "Bound"},
    }
