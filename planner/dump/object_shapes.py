"""Every field that planner reads, kind by kind.

`tests/dump` compares these shapes with the models that read the input: none is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.dump.kinds_of_names import NameKind
from planner.dump.pod_shape import (
    AMOUNTS,
    CLAIM_SPEC,
    CLAIM_TEMPLATE,
    DISK,
    DRIVER,
    KEY,
    NAME,
    NAMESPACE,
    NODE,
    NODE_SELECTOR,
    POD_SPEC,
    POD_STATUS,
    SELECTOR,
    STORAGE_CLASS,
    TAINT,
    TEMPLATE,
    UID,
    WORD,
    metadata_of,
)
from planner.dump.shapes import (
    ByName,
    Each,
    Fields,
    Keyed,
    Named,
    Owner,
    Shape,
    kept,
    labels,
    message,
    quota_amounts,
    time,
)

CONDITIONS = Each(Fields({"type": WORD, "status": WORD, "reason": WORD}))


ROLLOUT = Fields(
    {
        "type": WORD,
        "rollingUpdate": Fields({"maxSurge": kept, "maxUnavailable": kept, "partition": kept}),
    }
)
JOB_RULE = Fields({"action": WORD, "onPodConditions": Each(Fields({"type": WORD, "status": WORD}))})
JOB: dict[str, Shape] = {
    "parallelism": kept,
    "completions": kept,
    "suspend": kept,
    "completionMode": kept,
    "backoffLimit": kept,
    "backoffLimitPerIndex": kept,
    "podFailurePolicy": Fields({"rules": Each(JOB_RULE)}),
    "podReplacementPolicy": kept,
    "managedBy": Named(NameKind.MANAGER),
    "template": TEMPLATE,
}
JOB_STATUS: dict[str, Shape] = {"succeeded": kept, "failed": kept, "conditions": CONDITIONS}
SCOPE = Fields(
    {"scopeName": kept, "operator": kept, "values": Each(Named(NameKind.PRIORITY_CLASS))}
)


def _object(kind: str, **shapes: Shape) -> Fields:
    return Fields({"metadata": metadata_of(kind), **shapes})


def _workload(kind: str, status: Mapping[str, Shape] | None = None, **spec: Shape) -> Fields:
    return _object(kind, spec=Fields({**spec, "template": TEMPLATE}), status=Fields(status or {}))


SHAPES: dict[str, Fields] = {
    "Pod": _object("Pod", spec=POD_SPEC, status=POD_STATUS),
    "Node": _object(
        "Node",
        spec=Fields({"unschedulable": kept, "taints": Each(TAINT)}),
        status=Fields(
            {
                "capacity": AMOUNTS,
                "allocatable": AMOUNTS,
                "conditions": Each(Fields({"type": WORD, "status": WORD})),
                "images": Each(Fields({"names": Each(Named(NameKind.IMAGE)), "sizeBytes": kept})),
                "declaredFeatures": Each(WORD),
            }
        ),
    ),
    "Deployment": _workload(
        "Deployment",
        replicas=kept,
        minReadySeconds=kept,
        selector=SELECTOR,
        strategy=ROLLOUT,
        paused=kept,
    ),
    "ReplicaSet": _workload(
        "ReplicaSet",
        {"conditions": CONDITIONS},
        replicas=kept,
        minReadySeconds=kept,
        selector=SELECTOR,
    ),
    "ReplicationController": _workload(
        "ReplicationController",
        {"conditions": CONDITIONS},
        replicas=kept,
        minReadySeconds=kept,
        selector=labels,
    ),
    "StatefulSet": _workload(
        "StatefulSet",
        {"currentRevision": NAME, "updateRevision": NAME, "currentReplicas": kept},
        replicas=kept,
        minReadySeconds=kept,
        selector=SELECTOR,
        serviceName=NAME,
        volumeClaimTemplates=Each(CLAIM_TEMPLATE),
        ordinals=Fields({"start": kept}),
        podManagementPolicy=WORD,
        updateStrategy=ROLLOUT,
    ),
    "DaemonSet": _workload("DaemonSet", selector=SELECTOR, updateStrategy=ROLLOUT),
    "Job": _object("Job", spec=Fields(JOB), status=Fields(JOB_STATUS)),
    "CronJob": _object(
        "CronJob",
        spec=Fields(
            {"schedule": kept, "suspend": kept, "jobTemplate": Fields({"spec": Fields(JOB)})}
        ),
    ),
    "HorizontalPodAutoscaler": _object(
        "HorizontalPodAutoscaler",
        spec=Fields(
            {
                "scaleTargetRef": Owner({"kind": Named(NameKind.OWNER_KIND), "name": kept}),
                "minReplicas": kept,
                "maxReplicas": kept,
            }
        ),
    ),
    "ResourceQuota": _object(
        "ResourceQuota",
        spec=Fields(
            {
                "hard": quota_amounts,
                "scopes": kept,
                "scopeSelector": Fields({"matchExpressions": Each(SCOPE)}),
            }
        ),
        status=Fields({"hard": quota_amounts, "used": quota_amounts}),
    ),
    "Service": _object("Service", spec=Fields({"selector": labels})),
    "Namespace": _object("Namespace"),
    "PriorityClass": _object(
        "PriorityClass", value=kept, globalDefault=kept, preemptionPolicy=kept
    ),
    "LimitRange": _object(
        "LimitRange",
        spec=Fields(
            {
                "limits": Each(
                    Fields(
                        {
                            "type": WORD,
                            "max": AMOUNTS,
                            "min": AMOUNTS,
                            "default": AMOUNTS,
                            "defaultRequest": AMOUNTS,
                            "maxLimitRequestRatio": AMOUNTS,
                        }
                    )
                )
            }
        ),
    ),
    "PodDisruptionBudget": _object(
        "PodDisruptionBudget",
        spec=Fields(
            {
                "minAvailable": kept,
                "maxUnavailable": kept,
                "selector": SELECTOR,
                "unhealthyPodEvictionPolicy": kept,
            }
        ),
        status=Fields(
            {
                "disruptionsAllowed": kept,
                "currentHealthy": kept,
                "desiredHealthy": kept,
                "expectedPods": kept,
                "observedGeneration": kept,
                "disruptedPods": ByName(NameKind.NAME, time),
                "conditions": Each(
                    Fields({"type": WORD, "status": WORD, "reason": WORD, "message": message})
                ),
            }
        ),
    ),
    "PersistentVolume": _object(
        "PersistentVolume",
        spec=Fields(
            {
                "capacity": AMOUNTS,
                "accessModes": kept,
                "claimRef": Fields({"namespace": NAMESPACE, "name": NAME, "uid": UID}),
                "storageClassName": STORAGE_CLASS,
                "volumeMode": kept,
                "nodeAffinity": Fields({"required": NODE_SELECTOR}),
                "csi": Fields({"driver": DRIVER, "volumeHandle": DISK}),
            }
        ),
        status=Fields({"phase": WORD}),
    ),
    "PersistentVolumeClaim": _object(
        "PersistentVolumeClaim", spec=CLAIM_SPEC, status=Fields({"phase": WORD})
    ),
    "StorageClass": _object(
        "StorageClass",
        provisioner=DRIVER,
        volumeBindingMode=kept,
        allowedTopologies=Each(
            Fields({"matchLabelExpressions": Each(Keyed({"key": KEY, "values": kept}))})
        ),
    ),
    "CSINode": _object(
        "CSINode",
        spec=Fields(
            {
                "drivers": Each(
                    Fields(
                        {
                            "name": DRIVER,
                            "topologyKeys": Each(KEY),
                            "allocatable": Fields({"count": kept}),
                        }
                    )
                )
            }
        ),
    ),
    "CSIDriver": _object("CSIDriver", spec=Fields({"storageCapacity": kept})),
    "CSIStorageCapacity": _object(
        "CSIStorageCapacity",
        nodeTopology=SELECTOR,
        storageClassName=STORAGE_CLASS,
        capacity=kept,
        maximumVolumeSize=kept,
    ),
    "VolumeAttachment": _object(
        "VolumeAttachment",
        spec=Fields(
            {
                "attacher": DRIVER,
                "nodeName": NODE,
                "source": Fields({"persistentVolumeName": Named(NameKind.PERSISTENT_VOLUME)}),
            }
        ),
        status=Fields({"attached": kept}),
    ),
}
"""Every kind that tells something about a cluster; configuration files and fleets don't."""
