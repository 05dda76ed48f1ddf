"""Every field of pods and templates that planner reads, and of the metadata of all objects.

`tests/dump` compares these shapes with the models that read the input: none is missing.
"""

from __future__ import annotations

from planner.dump.kinds_of_names import NameKind
from planner.dump.shapes import (
    ByName,
    Each,
    Fields,
    Keyed,
    Metadata,
    Named,
    NodeFields,
    Owner,
    Shape,
    kept,
    labels,
    message,
    names_by_comma,
    present,
    time,
)
from planner.sources.pod_row import ANNOTATIONS as POD_ANNOTATIONS
from planner.sources.synthesise import MADE_PODS, MADE_REPLICA_SET, REVISION
from planner_models.affinity import PREFERRED, REQUIRED
from planner_models.pod import ContainerPort
from planner_models.volume import (
    BETA_STORAGE_CLASS,
    BIND_COMPLETED,
    DEFAULT_CLASS,
    SELECTED_NODE,
)

NODE, NAMESPACE, NAME = Named(NameKind.NODE), Named(NameKind.NAMESPACE), Named(NameKind.NAME)
KEY, UID, WORD = Named(NameKind.KEY), Named(NameKind.UID), Named(NameKind.WORD)
DRIVER, DISK = Named(NameKind.DRIVER), Named(NameKind.DISK)
STORAGE_CLASS = Named(NameKind.STORAGE_CLASS)
AMOUNTS = ByName(NameKind.RESOURCE, kept)

ANNOTATIONS = Fields(
    {
        **{key: WORD for _, key in POD_ANNOTATIONS},
        **dict.fromkeys((*DEFAULT_CLASS, BIND_COMPLETED, REVISION), WORD),
        SELECTED_NODE: NODE,
        BETA_STORAGE_CLASS: STORAGE_CLASS,
        MADE_PODS: names_by_comma,
        MADE_REPLICA_SET: NAME,
    }
)
OWNER = Owner(
    {
        "apiVersion": Named(NameKind.OWNER_GROUP),
        "kind": Named(NameKind.OWNER_KIND),
        "name": kept,
        "uid": UID,
        "controller": kept,
    }
)


def metadata_of(kind: str) -> Metadata:
    """`metadata` of an object."""
    shapes: dict[str, Shape] = {
        "name": kept,
        "namespace": NAMESPACE,
        "uid": UID,
        "labels": labels,
        "annotations": ANNOTATIONS,
        "ownerReferences": Each(OWNER),
        "creationTimestamp": time,
        "deletionTimestamp": time,
        "generation": kept,
    }
    if kind == "Pod":
        shapes["finalizers"] = Each(WORD)
    return Metadata(shapes, kind)


REQUIREMENT = Keyed({"key": KEY, "operator": kept, "values": kept})
SELECTOR = Fields({"matchLabels": labels, "matchExpressions": Each(REQUIREMENT)})
NODE_TERM = Fields(
    {
        "matchExpressions": Each(REQUIREMENT),
        "matchFields": Each(NodeFields({"key": kept, "operator": kept, "values": kept})),
    }
)
NODE_SELECTOR = Fields({"nodeSelectorTerms": Each(NODE_TERM)})
POD_TERM = Fields(
    {
        "topologyKey": KEY,
        "labelSelector": SELECTOR,
        "namespaces": Each(NAMESPACE),
        "namespaceSelector": SELECTOR,
        "matchLabelKeys": Each(KEY),
        "mismatchLabelKeys": Each(KEY),
    }
)
POD_AFFINITY = Fields(
    {
        REQUIRED: Each(POD_TERM),
        PREFERRED: Each(Fields({"weight": kept, "podAffinityTerm": POD_TERM})),
    }
)
AFFINITY = Fields(
    {
        "nodeAffinity": Fields(
            {
                REQUIRED: NODE_SELECTOR,
                PREFERRED: Each(Fields({"weight": kept, "preference": NODE_TERM})),
            }
        ),
        "podAffinity": POD_AFFINITY,
        "podAntiAffinity": POD_AFFINITY,
    }
)
SPREAD = Fields(
    {
        "maxSkew": kept,
        "topologyKey": KEY,
        "whenUnsatisfiable": kept,
        "labelSelector": SELECTOR,
        "minDomains": kept,
        "nodeAffinityPolicy": kept,
        "nodeTaintsPolicy": kept,
        "matchLabelKeys": Each(KEY),
    }
)
TAINT = Keyed({"key": KEY, "value": kept, "effect": kept})
TOLERATION = Keyed(
    {"key": KEY, "operator": kept, "value": kept, "effect": kept, "tolerationSeconds": kept}
)
DEVICE_CLAIMS = Each(Fields({"name": Named(NameKind.DEVICE_CLAIM)}))
RESOURCES = Fields({"requests": AMOUNTS, "limits": AMOUNTS, "claims": DEVICE_CLAIMS})
PORT = Fields(
    {
        **{field.alias or name: kept for name, field in ContainerPort.model_fields.items()},
        "hostIP": Named(NameKind.ADDRESS),
    }
)
"""Numbers and a protocol, beside the address."""
CONTAINER = Fields(
    {
        "name": Named(NameKind.CONTAINER),
        "image": Named(NameKind.WANTED_IMAGE),
        "resources": RESOURCES,
        "ports": Each(PORT),
        "restartPolicy": WORD,
        "restartPolicyRules": Each(Fields({"action": WORD})),
    }
)
CLAIM_SPEC = Fields(
    {
        "accessModes": kept,
        "selector": SELECTOR,
        "resources": Fields({"requests": AMOUNTS}),
        "volumeName": Named(NameKind.PERSISTENT_VOLUME),
        "storageClassName": STORAGE_CLASS,
        "volumeMode": kept,
    }
)
CLAIM_TEMPLATE = Fields(
    {"metadata": metadata_of("PersistentVolumeClaim"), "spec": CLAIM_SPEC},
)
VOLUME = Fields(
    {
        "name": NAME,
        "persistentVolumeClaim": Fields({"claimName": NAME, "readOnly": kept}),
        "ephemeral": Fields({"volumeClaimTemplate": CLAIM_TEMPLATE}),
        "gcePersistentDisk": Fields({"pdName": DISK, "readOnly": kept}),
        "awsElasticBlockStore": Fields({"volumeID": DISK}),
        "iscsi": Fields({"iqn": DISK, "readOnly": kept}),
        "rbd": Fields({"monitors": Each(DISK), "image": DISK, "pool": DISK, "readOnly": kept}),
        "emptyDir": present,
        "hostPath": present,
    }
)
POD_SPEC = Fields(
    {
        "nodeName": NODE,
        "containers": Each(CONTAINER),
        "initContainers": Each(CONTAINER),
        "volumes": Each(VOLUME),
        "resources": RESOURCES,
        "overhead": AMOUNTS,
        "nodeSelector": labels,
        "affinity": AFFINITY,
        "tolerations": Each(TOLERATION),
        "topologySpreadConstraints": Each(SPREAD),
        "priority": kept,
        "priorityClassName": Named(NameKind.PRIORITY_CLASS),
        "preemptionPolicy": kept,
        "schedulerName": Named(NameKind.SCHEDULER),
        "schedulingGates": Each(Fields({"name": Named(NameKind.GATE)})),
        "hostNetwork": kept,
        "hostUsers": kept,
        "runtimeClassName": Named(NameKind.RUNTIME_CLASS),
        "resourceClaims": DEVICE_CLAIMS,
    }
)
STATE = Fields({"reason": WORD, "exitCode": kept})
CONTAINER_STATUS = Fields(
    {
        "name": Named(NameKind.CONTAINER),
        "resources": RESOURCES,
        "allocatedResources": AMOUNTS,
        "restartCount": kept,
        "state": Fields({"waiting": STATE, "terminated": STATE}),
    }
)
POD_CONDITION = Fields(
    {
        "type": WORD,
        "status": WORD,
        "reason": WORD,
        "lastTransitionTime": time,
        "message": message,
        "observedGeneration": kept,
    }
)
POD_STATUS = Fields(
    {
        "phase": WORD,
        "reason": WORD,
        "qosClass": WORD,
        "nominatedNodeName": NODE,
        "startTime": time,
        "conditions": Each(POD_CONDITION),
        "containerStatuses": Each(CONTAINER_STATUS),
        "initContainerStatuses": Each(CONTAINER_STATUS),
        "ephemeralContainerStatuses": Each(CONTAINER_STATUS),
        "resources": RESOURCES,
        "allocatedResources": AMOUNTS,
    }
)
TEMPLATE = Fields(
    {"metadata": Fields({"labels": labels, "annotations": ANNOTATIONS}), "spec": POD_SPEC}
)
