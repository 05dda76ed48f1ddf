"""Fields that Kubernetes does not know: what an API server with strict validation refuses.

kubectl asks for strict validation by default, so a misspelt `topologySpreadConstraint:` is refused
there; other tools pass it on, and the API server drops it silently. The tables name the fields of
workloads, pods, budgets and what planner looks at inside of them, as of v1.36. Fields whose type is
not in a table are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import msgspec

from planner.sources.read import RawDocument

_OBJECT = "apiVersion kind metadata:ObjectMeta status"

_FIELDS: Mapping[str, str] = {
    "Pod": f"{_OBJECT} spec:PodSpec",
    "Deployment": f"{_OBJECT} spec:DeploymentSpec",
    "ReplicaSet": f"{_OBJECT} spec:ReplicaSetSpec",
    "StatefulSet": f"{_OBJECT} spec:StatefulSetSpec",
    "DaemonSet": f"{_OBJECT} spec:DaemonSetSpec",
    "Job": f"{_OBJECT} spec:JobSpec",
    "CronJob": f"{_OBJECT} spec:CronJobSpec",
    "ReplicationController": f"{_OBJECT} spec:ReplicationControllerSpec",
    "PodDisruptionBudget": f"{_OBJECT} spec:PodDisruptionBudgetSpec",
    "PriorityClass": f"{_OBJECT} value globalDefault description preemptionPolicy",
    "ObjectMeta": "name generateName namespace selfLink uid resourceVersion generation "
    "creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations "
    "ownerReferences finalizers managedFields clusterName",
    "DeploymentSpec": "replicas selector:LabelSelector template:PodTemplateSpec "
    "strategy:DeploymentStrategy minReadySeconds revisionHistoryLimit paused "
    "progressDeadlineSeconds",
    "DeploymentStrategy": "type rollingUpdate:RollingUpdate",
    "RollingUpdate": "maxUnavailable maxSurge partition",
    "ReplicaSetSpec": "replicas minReadySeconds selector:LabelSelector template:PodTemplateSpec",
    "ReplicationControllerSpec": "replicas minReadySeconds selector template:PodTemplateSpec",
    "StatefulSetSpec": "replicas selector:LabelSelector template:PodTemplateSpec "
    "volumeClaimTemplates serviceName podManagementPolicy updateStrategy:UpdateStrategy "
    "revisionHistoryLimit minReadySeconds persistentVolumeClaimRetentionPolicy ordinals",
    "UpdateStrategy": "type rollingUpdate:RollingUpdate",
    "DaemonSetSpec": "selector:LabelSelector template:PodTemplateSpec "
    "updateStrategy:UpdateStrategy minReadySeconds revisionHistoryLimit",
    "JobSpec": "parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy "
    "backoffLimit backoffLimitPerIndex maxFailedIndexes selector:LabelSelector manualSelector "
    "template:PodTemplateSpec ttlSecondsAfterFinished completionMode suspend "
    "podReplacementPolicy managedBy",
    "CronJobSpec": "schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend "
    "jobTemplate:JobTemplateSpec successfulJobsHistoryLimit failedJobsHistoryLimit",
    "JobTemplateSpec": "metadata:ObjectMeta spec:JobSpec",
    "PodTemplateSpec": "metadata:ObjectMeta spec:PodSpec",
    "PodSpec": "volumes initContainers:Container containers:Container ephemeralContainers "
    "restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector "
    "serviceAccountName serviceAccount automountServiceAccountToken nodeName hostNetwork hostPID "
    "hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain "
    "affinity:Affinity schedulerName tolerations:Toleration hostAliases priorityClassName "
    "priority dnsConfig readinessGates runtimeClassName enableServiceLinks preemptionPolicy "
    "overhead topologySpreadConstraints:TopologySpreadConstraint setHostnameAsFQDN os hostUsers "
    "schedulingGates resourceClaims resources:ResourceRequirements hostnameOverride workloadRef "
    "schedulingGroup",
    "Container": "name image command args workingDir ports envFrom env "
    "resources:ResourceRequirements resizePolicy restartPolicy restartPolicyRules volumeMounts "
    "volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath "
    "terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty",
    "ResourceRequirements": "limits requests claims",
    "Toleration": "key operator value effect tolerationSeconds",
    "TopologySpreadConstraint": "maxSkew topologyKey whenUnsatisfiable "
    "labelSelector:LabelSelector minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys",
    "LabelSelector": "matchLabels matchExpressions:Requirement",
    "Requirement": "key operator values",
    "Affinity": "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAffinity",
    "NodeAffinity": "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector "
    "preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm",
    "NodeSelector": "nodeSelectorTerms:NodeSelectorTerm",
    "PreferredSchedulingTerm": "weight preference:NodeSelectorTerm",
    "NodeSelectorTerm": "matchExpressions:Requirement matchFields:Requirement",
    "PodAffinity": "requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm "
    "preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm",
    "WeightedPodAffinityTerm": "weight podAffinityTerm:PodAffinityTerm",
    "PodAffinityTerm": "labelSelector:LabelSelector namespaces topologyKey "
    "namespaceSelector:LabelSelector matchLabelKeys mismatchLabelKeys",
    "PodDisruptionBudgetSpec": "minAvailable selector:LabelSelector maxUnavailable "
    "unhealthyPodEvictionPolicy",
}
_TYPES: Mapping[str, Mapping[str, str]] = {
    name: {field: kind for field, _, kind in (each.partition(":") for each in fields.split())}
    for name, fields in _FIELDS.items()
}
_GROUPS = ("", "apps", "batch", "policy", "scheduling.k8s.io")
CLOSE = 0.75


@dataclass(frozen=True)
class UnknownField:
    """A field that its object does not have, with the one that was probably meant."""

    kind: str
    namespace: str
    name: str
    field: str
    meant: str | None


def unknown_fields(document: RawDocument) -> Iterator[UnknownField]:
    """All of one document; a List's items are looked at one by one."""
    yield from _in_value(msgspec.json.decode(document.data))


def _in_value(value: Any) -> Iterator[UnknownField]:
    if not isinstance(value, dict):
        return
    kind, items = str(value.get("kind") or ""), value.get("items")
    if kind.endswith("List") and isinstance(items, list):
        for each in items:
            yield from _in_value(each)
        return
    if kind not in _TYPES or str(value.get("apiVersion") or "").rpartition("/")[0] not in _GROUPS:
        return
    metadata = value.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    for path, meant in _in_object(value, kind, ""):
        yield UnknownField(
            kind=kind,
            namespace=str(named.get("namespace") or "default"),
            name=str(named.get("name") or ""),
            field=path,
            meant=meant,
        )


def _in_object(value: Any, kind: str, path: str) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _in_object(each, kind, f"{path}[{index}]")
        return
    if not isinstance(value, dict):
        return
    known = _TYPES[kind]
    for name, inner in value.items():
        place = f"{path}.{name}" if path else str(name)
        if name not in known:
            yield place, next(iter(get_close_matches(name, known, 1, CLOSE)), None)
        elif known[name]:
            yield from _in_object(inner, known[name], place)
