"""Nodes, pods and workloads as users name them: `web-1`, `pod/web-1`, `deploy/web`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from planner.api.arguments import meant
from planner.cluster import PENDING, Cluster
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.words import count_of

EXAMPLES = "pod/web-1, deploy/web, sts/db"

KINDS = {
    "Pod": ("pod", "pods", "po"),
    "Deployment": ("deploy", "deployment", "deployments"),
    "ReplicaSet": ("rs", "replicaset", "replicasets"),
    "StatefulSet": ("sts", "statefulset", "statefulsets"),
    "DaemonSet": ("ds", "daemonset", "daemonsets"),
    "Job": ("job", "jobs"),
    "ReplicationController": ("rc", "replicationcontroller", "replicationcontrollers"),
}
OTHERS = {
    "Service": ("svc", "service", "services"),
    "Node": ("no", "node", "nodes"),
    "PersistentVolumeClaim": ("pvc", "persistentvolumeclaim", "persistentvolumeclaims"),
}
_KIND_OF = {name: kind for kind, names in (KINDS | OTHERS).items() for name in names}


def require_nodes(cluster: Cluster) -> None:
    """Without nodes there is nothing to say about any pod."""
    if cluster.nodes:
        return
    workloads = {ref for ref in cluster.workloads if ref.kind != "Pod"}
    kinds = sorted({ref.kind for ref in workloads})
    read = [
        count_of(len(cluster.pods), "pod"),
        *(count_of(sum(ref.kind == kind for ref in workloads), kind) for kind in kinds),
    ]
    were = "was" if len(read) == 1 and len(cluster.pods) == 1 else "were"
    raise SourceError(
        "the input has no nodes, so nothing can be placed",
        help=f"{' and '.join(read)} {were} read; add: kubectl get nodes -o json",
    )


def find_node(cluster: Cluster, name: str) -> int:
    """The node of that name."""
    index = cluster.node_index.get(name)
    if index is None:
        raise SourceError(f"there is no node {name}", help=meant(name, cluster.node_index))
    return index


def find_pods(
    cluster: Cluster, targets: Iterable[str], namespace: str | None, command: str
) -> list[int]:
    """The pods that the targets name, in their order; of a workload those that are pending."""
    found: dict[int, None] = {}
    for target in targets:
        kind, pods = _named(cluster, target, namespace or "default", command)
        waiting = (pod for pod in pods if kind == "Pod" or cluster.node_of[pod] == PENDING)
        found.update(dict.fromkeys(waiting))
    return list(found)


def find_running(
    cluster: Cluster, targets: Iterable[str], namespace: str | None, command: str
) -> frozenset[int]:
    """The running pods that the targets name, by themselves or as their workloads."""
    named = (_named(cluster, target, namespace or "default", command) for target in targets)
    return frozenset(pod for _, pods in named for pod in pods if cluster.node_of[pod] >= 0)


def _named(
    cluster: Cluster, target: str, namespace: str, command: str
) -> tuple[str, Sequence[int]]:
    """The kind of the target, and its pods wherever they are."""
    word, slash, name = target.rpartition("/")
    kind = _KIND_OF.get(word.partition(".")[0].lower()) if slash else "Pod"
    if kind is None:
        raise UsageError(
            f'"{target}" names no kind that planner knows',
            help=f"{command} takes pods and their owners: {EXAMPLES}",
        )
    if kind in OTHERS:
        raise UsageError(
            f"{target} is a {kind}; {command} takes pods and their owners",
            help=_service_help(cluster, name, namespace, command) or EXAMPLES,
        )
    if kind == "Pod":
        return kind, [_pod(cluster, name, namespace)]
    return kind, _workload(cluster, kind, name, namespace)


def _service_help(cluster: Cluster, name: str, namespace: str, command: str) -> str | None:
    """The workload that a Service selects is what was probably meant."""
    for service in cluster.services:
        wanted = service.spec.selector
        if (service.namespace, service.name) != (namespace, name) or not wanted:
            continue
        for group in cluster.groups:
            if group.namespace == namespace and wanted.items() <= group.labels.items():
                selector = ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))
                found = cluster.workloads[group.index].short
                return f"its selector {selector} matches {found}: planner {command} {found}"
    return None


def _pod(cluster: Cluster, name: str, namespace: str) -> int:
    index = cluster.pod_index.get(f"{namespace}/{name}")
    if index is None:
        raise SourceError(
            f"there is no pod {name} in namespace {namespace}",
            help=_pod_help(cluster, name, namespace),
        )
    return index


def _pod_help(cluster: Cluster, name: str, namespace: str) -> str | None:
    for pod in cluster.pods:
        if pod.name == name:
            return f"it is in namespace {pod.namespace}: `namespace={pod.namespace}`"
    names = [pod.name for pod in cluster.pods if pod.namespace == namespace]
    close = get_close_matches(name, names, n=1)
    if not close:
        return f"pods in {namespace}: {_some(names)}" if names else None
    index = cluster.pod_index[f"{namespace}/{close[0]}"]
    pod = cluster.pods[index]
    facts = ["pending" if cluster.node_of[index] == PENDING else f"on {pod.node_name}"]
    workload = cluster.owners.workload_of(pod)
    if workload.kind != "Pod" and _stem(close[0]) == _stem(name):
        facts.append(f"same {workload.kind}")
    return f"did you mean {close[0]}? ({', '.join(facts)})"


def _stem(name: str) -> str:
    return name.rpartition("-")[0]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(sorted(names)[:3])
    return shown if len(names) <= 3 else f"{shown}, ..."


def _workload(cluster: Cluster, kind: str, name: str, namespace: str) -> list[int]:
    pods = [
        index
        for index, pod in enumerate(cluster.pods)
        if pod.namespace == namespace and _belongs(cluster, index, kind, name)
    ]
    known = any(
        (ref.kind, ref.name, ref.namespace) == (kind, name, namespace)
        for ref in cluster.owners.controllers
    )
    if not pods and not known:
        names = sorted(set(_workload_names(cluster, kind, namespace)))
        raise SourceError(
            f"there is no {kind} {name} in namespace {namespace}", help=meant(name, names)
        )
    return pods


def _workload_names(cluster: Cluster, kind: str, namespace: str) -> Iterator[str]:
    for ref in (*cluster.owners.controllers, *cluster.workloads):
        if ref.kind == kind and ref.namespace == namespace:
            yield ref.name


def _belongs(cluster: Cluster, index: int, kind: str, name: str) -> bool:
    """Directly, or through the chain of owners."""
    pod = cluster.pods[index]
    if pod.owner is not None and (pod.owner.kind, pod.owner.name) == (kind, name):
        return True
    workload = cluster.workloads[int(cluster.group_of[index])]
    return (workload.kind, workload.name) == (kind, name)
