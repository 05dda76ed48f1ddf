"""Nodes, pods and workloads by the names that users give them."""

from __future__ import annotations

from collections.abc import Iterator

from planner.api.arguments import meant
from planner.api.kinds import KINDS, kind_of
from planner.api.targets import EXAMPLES, Target
from planner.api.unknown_names import unknown
from planner.cluster import Cluster
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.words import count_of


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
    """The node of that name; `node/a1` is how kubectl prints it."""
    kind, slash, bare = name.partition("/")
    if slash and kind_of(kind) == "Node":
        name = bare
    index = cluster.node_index.get(name)
    if index is None:
        raise SourceError(f"there is no node {name}", help=meant(name, cluster.node_index))
    return index


def named_pods(cluster: Cluster, target: Target, namespace: str | None, command: str) -> list[int]:
    """The pods of a target, wherever they are; in any namespace if none is given."""
    if target.kind == "Service":
        raise UsageError(
            f"svc/{target.name or ''} is a Service; {command} takes pods and their owners",
            help=_service_help(cluster, target, namespace, command) or EXAMPLES,
        )
    pods = list(_pods(cluster, target, namespace))
    if not pods and target.kind not in KINDS:
        raise UsageError(
            f'"{target.kind}/{target.name}" names no kind that planner knows, or that owns pods',
            help=f"{command} takes pods and their owners: {EXAMPLES}",
        )
    if not pods and target.name is not None and not _known(cluster, target, namespace):
        raise unknown(cluster, target, namespace)
    return pods


def _pods(cluster: Cluster, target: Target, namespace: str | None) -> Iterator[int]:
    if target.kind == "Pod" and target.name is not None and namespace is not None:
        index = cluster.pod_index.get(f"{namespace}/{target.name}")
        if index is not None:
            yield index
        return
    for index, pod in enumerate(cluster.pods):
        if namespace in (None, pod.namespace) and _belongs(cluster, index, target):
            yield index


def _known(cluster: Cluster, target: Target, namespace: str | None) -> bool:
    """A controller that has no pods."""
    return any(
        (ref.kind, ref.name) == (target.kind, target.name) and namespace in (None, ref.namespace)
        for ref in cluster.owners.controllers
    )


def _belongs(cluster: Cluster, index: int, target: Target) -> bool:
    """The pod itself; or its owner, directly or through the chain of owners."""
    pod = cluster.pods[index]
    workload = cluster.workloads[int(cluster.group_of[index])]
    owners = [(workload.kind, workload.name)]
    if pod.owner is not None:
        owners.append((pod.owner.kind, pod.owner.name))
    if target.kind == "Pod":
        owners = [("Pod", pod.name)]
    return any(
        target.kind in (kind, kind.lower()) and target.name in (None, name) for kind, name in owners
    )


def _service_help(
    cluster: Cluster, target: Target, namespace: str | None, command: str
) -> str | None:
    """The workload that a Service selects is what was probably meant."""
    for service in cluster.services:
        wanted = service.spec.selector
        if service.name != target.name or namespace not in (None, service.namespace) or not wanted:
            continue
        for group in cluster.groups:
            if group.namespace == service.namespace and wanted.items() <= group.labels.items():
                selector = ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))
                found = cluster.workloads[group.index].short
                return f"its selector {selector} matches {found}: planner {command} {found}"
    return None
