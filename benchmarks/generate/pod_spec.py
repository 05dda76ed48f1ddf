"""The pod template of a workload, as its author wrote it and the API server defaulted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.generate.objects import HOSTNAME_LABEL, POOL_LABEL, ZONE_LABEL, Json

if TYPE_CHECKING:
    from benchmarks.generate.workloads import Workload

ENVIRONMENT = (
    ("LOG_LEVEL", "info"),
    ("HTTP_PORT", "8080"),
    ("CACHE_SIZE_MB", "256"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.observability:4317"),
)


def pod_spec(workload: Workload) -> Json:
    """The template's `spec`; what admission and binding add is left to the pod."""
    spec: Json = {
        "containers": [_container(workload)],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Never" if workload.kind == "Job" else "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    if workload.priority_class:
        spec["priorityClassName"] = workload.priority_class
    if workload.missing_pool:
        spec["nodeSelector"] = {POOL_LABEL: "spot"}
    elif workload.pool_affinity:
        spec |= _pool_choice(workload)
    if workload.anti_affinity:
        spec.setdefault("affinity", {})["podAntiAffinity"] = _apart(workload)
    if workload.tolerates:
        spec["tolerations"] = [
            {"effect": "NoSchedule", "key": key, "operator": "Exists"} for key in workload.tolerates
        ]
    if spread := _spread(workload):
        spec["topologySpreadConstraints"] = spread
    return spec


def _container(workload: Workload) -> Json:
    requests = {"cpu": _cpu(workload.cpu_milli), "memory": f"{workload.memory_mib}Mi"}
    resources: Json = {"requests": requests}
    if workload.gpus:
        gpus = {"nvidia.com/gpu": str(workload.gpus)}
        resources = {"limits": gpus, "requests": requests | gpus}
    container: Json = {
        "image": workload.image,
        "imagePullPolicy": "IfNotPresent",
        "name": "app",
        "resources": resources,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    if workload.env_count:
        environment = ENVIRONMENT[: workload.env_count]
        container["env"] = [{"name": name, "value": value} for name, value in environment]
    if workload.probes:
        container["ports"] = [{"containerPort": 8080, "name": "http", "protocol": "TCP"}]
        container["readinessProbe"] = {
            "failureThreshold": 3,
            "httpGet": {"path": "/ready", "port": "http", "scheme": "HTTP"},
            "periodSeconds": 10,
            "successThreshold": 1,
            "timeoutSeconds": 1,
        }
    if workload.zonal_volume:
        container["volumeMounts"] = [{"mountPath": "/data", "name": "data"}]
    return container


def _cpu(milli: int) -> str:
    """The canonical form of a CPU quantity: whole cores without a suffix."""
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def _pool_choice(workload: Workload) -> Json:
    """One pool by nodeSelector, several by required node affinity: both are common."""
    if len(workload.pools) == 1:
        return {"nodeSelector": {POOL_LABEL: workload.pools[0]}}
    within = {"key": POOL_LABEL, "operator": "In", "values": list(workload.pools)}
    term = {"nodeSelectorTerms": [{"matchExpressions": [within]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}}


def _apart(workload: Workload) -> Json:
    """No two pods of the workload on one node."""
    term = {"labelSelector": {"matchLabels": workload.selector}, "topologyKey": HOSTNAME_LABEL}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _spread(workload: Workload) -> list[Json]:
    constraints = []
    if workload.zone_skew:
        constraints.append((ZONE_LABEL, workload.zone_skew, "DoNotSchedule"))
    if workload.host_skew:
        strictness = "DoNotSchedule" if workload.host_hard else "ScheduleAnyway"
        constraints.append((HOSTNAME_LABEL, workload.host_skew, strictness))
    return [
        {
            "labelSelector": {"matchLabels": workload.selector},
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": strictness,
        }
        for key, skew, strictness in constraints
    ]
