"""A workload's pod with marks where one pod differs from the next.

Marks: name, uid, version, created, started, ready, deleted, node, zone, host_ip, pod_ip, container,
access (the unique part of the token volume's name), index, message.
"""

from __future__ import annotations

from benchmarks.generate.identity import image_digest
from benchmarks.generate.managed_fields import managed_entry
from benchmarks.generate.objects import REGION_LABEL, ZONE_LABEL, Json
from benchmarks.generate.pod_spec import pod_spec
from benchmarks.generate.template import mark
from benchmarks.generate.workloads import Workload

TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
DAEMON_TAINTS = ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
ACCESS_VOLUME = f"kube-api-access-{mark('access')}"


def pod(workload: Workload, state: str, region: str, *, with_managed_fields: bool) -> Json:
    """The pod in one of the states Running, Pending, Succeeded or Terminating."""
    bound = state != "Pending"
    labels = workload.selector | _controller_labels(workload)
    meta: Json = {"labels": labels, "ownerReferences": [workload.owner]}
    if workload.kind != "StatefulSet":
        meta["generateName"] = _name_prefix(workload)
    spec = pod_spec(workload)
    status = _status(workload, state)
    managed = [_created_by(workload, meta, spec), _reported_by(state, status)]
    if bound:
        meta["labels"] = labels | {REGION_LABEL: region, ZONE_LABEL: mark("zone")}
    meta |= {
        "creationTimestamp": mark("created"),
        "generation": 1,
        "name": mark("name"),
        "namespace": workload.namespace,
        "resourceVersion": mark("version"),
        "uid": mark("uid"),
    }
    if state == "Terminating":
        meta |= {"deletionGracePeriodSeconds": 30, "deletionTimestamp": mark("deleted")}
        meta["generation"] = 2
    if with_managed_fields:
        meta["managedFields"] = managed
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": _admitted(workload, spec, bound=bound),
        "status": status,
    }


def _name_prefix(workload: Workload) -> str:
    if workload.kind == "Deployment":
        return f"{workload.name}-{workload.revision}-"
    return f"{workload.name}-"


def _controller_labels(workload: Workload) -> dict[str, str]:
    """What each controller adds to the labels of its template."""
    if workload.kind == "Deployment":
        return {"pod-template-hash": workload.revision}
    if workload.kind == "DaemonSet":
        return {"controller-revision-hash": workload.revision, "pod-template-generation": "1"}
    if workload.kind == "Job":
        return {
            "batch.kubernetes.io/controller-uid": workload.uid,
            "batch.kubernetes.io/job-name": workload.name,
        }
    return {
        "apps.kubernetes.io/pod-index": mark("index"),
        "controller-revision-hash": f"{workload.name}-{workload.revision}",
        "statefulset.kubernetes.io/pod-name": mark("name"),
    }


def _admitted(workload: Workload, spec: Json, *, bound: bool) -> Json:
    """The spec after the controller, admission (token, priority, tolerations) and binding."""
    container = dict(spec["containers"][0])
    mount = {"mountPath": TOKEN_PATH, "name": ACCESS_VOLUME, "readOnly": True}
    container["volumeMounts"] = [*container.get("volumeMounts", ()), mount]
    volumes = [_access_volume()]
    if workload.zonal_volume:
        claimed = {"claimName": f"data-{mark('name')}"}
        volumes.insert(0, {"name": "data", "persistentVolumeClaim": claimed})
    admitted = spec | {
        "containers": [container],
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": workload.priority,
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "tolerations": [*spec.get("tolerations", ()), *_tolerations(workload)],
        "volumes": volumes,
    }
    if bound:
        admitted["nodeName"] = mark("node")
    if workload.kind == "StatefulSet":
        admitted |= {"hostname": mark("name"), "subdomain": workload.name}
    if workload.kind == "DaemonSet":
        field = {"key": "metadata.name", "operator": "In", "values": [mark("node")]}
        term = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": term}
        admitted["affinity"] = {"nodeAffinity": required}
    return admitted


def _tolerations(workload: Workload) -> list[Json]:
    """Five minutes for lost nodes by default; the DaemonSet controller tolerates them for ever."""
    if workload.kind == "DaemonSet":
        return [
            {"effect": effect, "key": f"node.kubernetes.io/{taint}", "operator": "Exists"}
            for effect, taint in (
                ("NoExecute", "not-ready"),
                ("NoExecute", "unreachable"),
                *(("NoSchedule", taint) for taint in DAEMON_TAINTS),
            )
        ]
    return [
        {
            "effect": "NoExecute",
            "key": f"node.kubernetes.io/{taint}",
            "operator": "Exists",
            "tolerationSeconds": 300,
        }
        for taint in ("not-ready", "unreachable")
    ]


def _access_volume() -> Json:
    """The projected service account token that admission adds under a name of its own."""
    certificate = {"key": "ca.crt", "path": "ca.crt"}
    namespace = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "name": ACCESS_VOLUME,
        "projected": {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"items": [certificate], "name": "kube-root-ca.crt"}},
                {"downwardAPI": {"items": [namespace | {"path": "namespace"}]}},
            ],
        },
    }


def _status(workload: Workload, state: str) -> Json:
    if state == "Pending":
        unscheduled = {
            "lastProbeTime": None,
            "lastTransitionTime": mark("created"),
            "message": mark("message"),
            "observedGeneration": 1,
            "reason": "Unschedulable",
            "status": "False",
            "type": "PodScheduled",
        }
        return {"conditions": [unscheduled], "phase": "Pending", "qosClass": "Burstable"}
    done = state == "Succeeded"
    return {
        "conditions": _conditions(done=done),
        "containerStatuses": [_container_status(workload, done=done)],
        "hostIP": mark("host_ip"),
        "hostIPs": [{"ip": mark("host_ip")}],
        "observedGeneration": 1,
        "phase": "Succeeded" if done else "Running",
        "podIP": mark("pod_ip"),
        "podIPs": [{"ip": mark("pod_ip")}],
        "qosClass": "Burstable",
        "startTime": mark("started"),
    }


def _conditions(*, done: bool) -> list[Json]:
    """The kubelet's conditions; a completed pod is no longer ready."""
    kinds = (
        ("PodReadyToStartContainers", "started"),
        ("Initialized", "started"),
        ("Ready", "ready"),
        ("ContainersReady", "ready"),
        ("PodScheduled", "created"),
    )
    conditions = []
    for kind, moment in kinds:
        ended = done and kind not in ("Initialized", "PodScheduled")
        condition = {
            "lastProbeTime": None,
            "lastTransitionTime": mark(moment),
            "observedGeneration": 1,
            "status": "False" if ended else "True",
            "type": kind,
        }
        if done and kind != "PodScheduled":
            condition["reason"] = "PodCompleted"
        conditions.append(condition)
    return conditions


def _container_status(workload: Workload, *, done: bool) -> Json:
    container_id = f"containerd://{mark('container')}"
    ended = {
        "containerID": container_id,
        "exitCode": 0,
        "finishedAt": mark("ready"),
        "reason": "Completed",
        "startedAt": mark("started"),
    }
    return {
        "containerID": container_id,
        "image": workload.image,
        "imageID": image_digest(workload.image),
        "lastState": {},
        "name": "app",
        "ready": not done,
        "restartCount": 0,
        "started": not done,
        "state": {"terminated": ended} if done else {"running": {"startedAt": mark("started")}},
    }


def _created_by(workload: Workload, meta: Json, spec: Json) -> Json:
    owned = {"metadata": meta, "spec": spec}
    return managed_entry("kube-controller-manager", "v1", mark("created"), owned)


def _reported_by(state: str, status: Json) -> Json:
    """The scheduler reports on pods that wait, the kubelet on all others."""
    manager = "kube-scheduler" if state == "Pending" else "kubelet"
    moment = "created" if state == "Pending" else "ready"
    return managed_entry(manager, "v1", mark(moment), {"status": status}, "status")
