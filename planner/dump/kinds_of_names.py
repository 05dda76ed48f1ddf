"""The kinds of names in Kubernetes objects, and which of them say nothing about a cluster.

Names of one kind are numbered together. A word of Kubernetes itself stays as it is: nobody learns
anything from `default` or `node.kubernetes.io/not-ready`, and planner knows what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from planner.sources.kinds import KINDS
from planner_models.declared_features import RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK
from planner_models.pod import DEFAULT_SCHEDULER
from planner_models.workload import SYSTEM_PRIORITY_CLASSES


class NameKind(StrEnum):
    """The value is the word that new names of the kind begin with."""

    NODE = "node"
    NAMESPACE = "ns"
    NAME = "n"
    """Of pods, their controllers, claims, volumes of pods, and everything else in a namespace."""
    KEY = "k"
    """Of labels and taints."""
    VALUE = "value"
    RESOURCE = "resource"
    UID = "uid"
    IMAGE = "image"
    """That a node has."""
    WANTED_IMAGE = "wanted image"
    """Of a container: one without a tag is the image with `:latest`."""
    CONTAINER = "container"
    PERSISTENT_VOLUME = "pv"
    STORAGE_CLASS = "storage"
    DRIVER = "driver"
    DISK = "disk"
    ATTACHMENT = "attachment"
    PRIORITY_CLASS = "priority"
    SCHEDULER = "scheduler"
    RUNTIME_CLASS = "runtime"
    GATE = "gate"
    DEVICE_CLAIM = "device"
    ADDRESS = "address"
    OWNER_KIND = "kind"
    OWNER_GROUP = "group"
    MANAGER = "manager"
    WORD = "word"
    """What Kubernetes takes from a list of words, to which others may add their own."""


DASHED = frozenset((NameKind.NAMESPACE, NameKind.NAME, NameKind.KEY))
"""Names whose parts between dashes have a meaning of their own, and are renamed one by one.

A pod's name begins with its controller's, a claim's ends with its pod's: the new ones do, too. No
character of a name sorts before `-`, so that names keep their order by keeping that of the parts.
"""

WITH_DOMAIN = frozenset((NameKind.KEY, NameKind.RESOURCE, NameKind.OWNER_GROUP))
"""Names that may stand behind a domain and a slash."""

KEY_DOMAINS = frozenset(
    f"{domain}/"
    for domain in (
        "kubernetes.io",
        "beta.kubernetes.io",
        "app.kubernetes.io",
        "apps.kubernetes.io",
        "batch.kubernetes.io",
        "failure-domain.beta.kubernetes.io",
        "node.kubernetes.io",
        "node.cloudprovider.kubernetes.io",
        "node-role.kubernetes.io",
        "statefulset.kubernetes.io",
        "topology.kubernetes.io",
    )
)
KEY_WORDS = frozenset(
    re.findall(
        r"[^\s-]+",
        "arch component control-plane controller-revision-hash controller-uid disk-pressure "
        "hostname instance instance-type job-completion-index job-name managed-by master "
        "memory-pressure metadata.name name network-unavailable not-ready os out-of-service "
        "part-of pid-pressure pod-index pod-name pod-template-generation pod-template-hash region "
        "shutdown uninitialized unreachable unschedulable version zone",
    )
)
"""What the names of well-known labels and taints consist of."""

WORDS = frozenset(
    re.findall(
        r"\S+",
        "True False Unknown true false api file http "
        "Always Never OnFailure OnDelete Recreate RollingUpdate OrderedReady Parallel "
        "Exit Restart RestartAllContainers Count FailIndex FailJob Ignore Container Pod "
        "PersistentVolumeClaim Available Bound Pending Released Failed Lost Running Succeeded "
        "Guaranteed Burstable BestEffort "
        "Ready MemoryPressure DiskPressure PIDPressure NetworkUnavailable "
        "PodScheduled Initialized ContainersReady PodReadyToStartContainers DisruptionTarget "
        "PodResizePending PodResizeInProgress Infeasible Deferred Unschedulable SchedulingGated "
        "PreemptionByScheduler DeletionByTaintManager EvictionByEvictionAPI DeletionByPodGC "
        "TerminationByKubelet ContainersNotReady ContainersNotInitialized PodCompleted PodFailed "
        "ReplicaFailure FailedCreate Complete Suspended SuccessCriteriaMet FailureTarget "
        "BackoffLimitExceeded DeadlineExceeded DisruptionAllowed SufficientPods InsufficientPods "
        "SyncFailed CrashLoopBackOff ImagePullBackOff ErrImagePull InvalidImageName "
        "CreateContainerConfigError CreateContainerError RunContainerError ContainerCreating "
        "PodInitializing Completed Error OOMKilled ContainerCannotRun Evicted NodeLost "
        "NodeAffinity NodeShutdown Terminated Shutdown UnexpectedAdmissionError Preempting",
    )
) | {RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK}
"""What planner and Kubernetes compare: phases, types and reasons of conditions, policies."""

CHOICES = frozenset(
    re.findall(
        r"\S+",
        "In NotIn Exists DoesNotExist Gt Lt Equal NoSchedule PreferNoSchedule NoExecute TCP UDP "
        "SCTP Honor Ignore DoNotSchedule ScheduleAnyway PreemptLowerPriority Filesystem Block "
        "Immediate WaitForFirstConsumer ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod "
        "IfHealthyBudget AlwaysAllow NonIndexed Indexed cpu memory pods storage ephemeral-storage "
        "default kube-system kube-public kube-node-lease default-scheduler rbd metadata.name "
        "system-cluster-critical system-node-critical no-provisioner job-controller",
    )
)
"""Words of fields that the API server takes from a short list, and names that always stay."""

_NATIVE_RESOURCE = re.compile(
    r"cpu|memory|pods|count/|storage|ephemeral-storage|hugepages-\d+[KMG]i"
    r"|([a-z0-9-]+\.)*kubernetes\.io/"
)
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_API_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?|apps/|batch/|extensions/", re.ASCII)
_NAMESPACES = frozenset(("default", "kube", "system", "public", "node", "lease"))
"""The parts of `default`, `kube-system`, `kube-public` and `kube-node-lease`."""

_KEPT: dict[NameKind, Callable[[str], bool]] = {
    NameKind.NAMESPACE: _NAMESPACES.__contains__,
    NameKind.KEY: (KEY_DOMAINS | KEY_WORDS).__contains__,
    NameKind.RESOURCE: lambda part: _NATIVE_RESOURCE.fullmatch(part) is not None,
    NameKind.WORD: lambda word: word in WORDS or _NUMBER.fullmatch(word) is not None,
    NameKind.PRIORITY_CLASS: SYSTEM_PRIORITY_CLASSES.__contains__,
    NameKind.SCHEDULER: DEFAULT_SCHEDULER.__eq__,
    NameKind.DRIVER: "kubernetes.io/no-provisioner".__eq__,
    NameKind.MANAGER: "kubernetes.io/job-controller".__eq__,
    NameKind.DISK: "rbd".__eq__,
    NameKind.ADDRESS: ("0.0.0.0", "127.0.0.1", "::", "::1").__contains__,
    NameKind.OWNER_KIND: (*(kind for _, kind in KINDS), "Pod").__contains__,
    NameKind.OWNER_GROUP: lambda part: _API_VERSION.fullmatch(part) is not None,
}


def is_kept(kind: NameKind, part: str) -> bool:
    """Whether a part of a name stays: it is empty, or a word of Kubernetes itself."""
    return not part or (kind in _KEPT and _KEPT[kind](part))


def parts_of(kind: NameKind, name: str) -> list[str]:
    """The parts that are renamed one by one; a domain keeps the `/` behind it."""
    domain, slash, rest = name.partition("/") if kind in WITH_DOMAIN else (name, "", "")
    behind = rest if slash else name
    parts = behind.split("-") if kind in DASHED else [behind]
    return [f"{domain}/", *parts] if slash else parts


def joined(kind: NameKind, parts: list[str], *, domain: bool) -> str:
    """The name of such parts."""
    first = f"{parts[0].removesuffix('/')}/" if domain else ""
    return first + ("-" if kind in DASHED else "").join(parts[domain:])
