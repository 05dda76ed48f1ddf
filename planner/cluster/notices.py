"""What does not fit together in the input, said once with the objects' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from planner.cluster.missing_storage import missing_storage
from planner.cluster.snapshot import ELSEWHERE, PENDING
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory, counted, name_some
from planner_models.node import HOSTNAME, Node
from planner_models.notice import Notice
from planner_models.pod import DEFAULT_SCHEDULER, Pod, PodSpec

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label that the API server gives every namespace."""


def cluster_notices(
    inventory: Inventory, nodes: Sequence[Node], pods: Sequence[Pod], node_of: IntArray
) -> tuple[Notice, ...]:
    """All notices about how nodes, pods and namespaces go together."""
    specs = {id(pod.spec): pod.spec for pod in pods}.values()
    return (
        *_pods_elsewhere(pods, node_of),
        *_nodes_without_hostname(nodes, specs),
        *_nodes_on_their_way_out(nodes),
        *_unknown_namespaces(inventory, pods, specs),
        *missing_storage(inventory, pods, node_of),
        *_unreadable_affinity(pods, specs),
        *_foreign_schedulers(pods, node_of),
        *_resource_claims(pods),
        *_without_containers(pods, specs),
        *_who_else_decides(inventory),
    )


def _pods_elsewhere(pods: Sequence[Pod], node_of: IntArray) -> Iterator[Notice]:
    lost = [pods[i] for i in np.flatnonzero(node_of == ELSEWHERE).tolist()]
    if not lost:
        return
    counts = Counter(pod.node_name for pod in lost)
    per_node = ", ".join(f"{name}: {count}" for name, count in sorted(counts.items())[:6])
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    yield Notice(
        code="unknownNode",
        text=(
            f"{counted(len(lost), 'pod')} {'runs' if len(lost) == 1 else 'run'} on nodes that are "
            f"not in the input ({per_node}{more}); "
            "they use no room and count in no domain. Was the node list filtered?"
        ),
        objects=name_some(pod.key for pod in lost),
    )


def _nodes_without_hostname(nodes: Sequence[Node], specs: Iterable[PodSpec]) -> Iterator[Notice]:
    """Only where it matters: some pod spreads or keeps apart by hostname."""
    bare = [node.name for node in nodes if HOSTNAME not in node.labels]
    if bare and any(_uses(spec, HOSTNAME) for spec in specs):
        yield Notice(
            code="noHostname",
            text=f"{counted(len(bare), 'node')} without the label {HOSTNAME}, which pods spread by",
            objects=name_some(bare),
        )


def _nodes_on_their_way_out(nodes: Sequence[Node]) -> Iterator[Notice]:
    """kube-scheduler minds taints, not that a Node object is being deleted."""
    leaving = [node.name for node in nodes if node.metadata.deletion_timestamp is not None]
    if leaving:
        who, it = ("is", "it") if len(leaving) == 1 else ("are", "them")
        yield Notice(
            code="nodeBeingDeleted",
            text=f"{counted(len(leaving), 'node')} {who} being deleted, and pods on {it} will go, "
            f"too; unless a taint forbids it, new pods may still land on {it}",
            objects=name_some(leaving),
        )


def _uses(spec: PodSpec, key: str) -> bool:
    affinity = spec.affinity
    return any(c.topology_key == key for c in spec.topology_spread_constraints) or any(
        term.topology_key == key
        for term in (*affinity.pod_affinity.required, *affinity.pod_anti_affinity.required)
    )


def _unknown_namespaces(
    inventory: Inventory, pods: Sequence[Pod], specs: Iterable[PodSpec]
) -> Iterator[Notice]:
    """Namespaces matter only to a namespaceSelector that asks for more than their names."""
    used = {pod.namespace for pod in pods} - {each.name for each in inventory.namespaces}
    if used and any(_asks_for_labels(spec) for spec in specs):
        yield Notice(
            code="unknownNamespace",
            text=(
                f"the pods are in {counted(len(used), 'namespace')} that the input does not have; "
                f"namespaceSelector sees no labels there but {NAME_LABEL}. Add: kubectl get ns"
            ),
            objects=name_some(used),
        )


def _asks_for_labels(spec: PodSpec) -> bool:
    affinity = spec.affinity
    return any(
        term.namespace_selector is not None and term.namespace_selector.keys() - {NAME_LABEL}
        for terms in (affinity.pod_affinity, affinity.pod_anti_affinity)
        for term in (*terms.required, *(w.pod_affinity_term for w in terms.preferred))
    )


def _unreadable_affinity(pods: Sequence[Pod], specs: Iterable[PodSpec]) -> Iterator[Notice]:
    """kube-scheduler passes over such required terms; with a preferred one it fails to score."""
    odd = {id(spec) for spec in specs if spec.affinity.node_affinity.unreadable}
    if odd:
        having = [pod.key for pod in pods if id(pod.spec) in odd]
        yield Notice(
            code="notAnInteger",
            text=(
                f"{counted(len(having), 'pod')} with a node affinity in which Gt or Lt compares "
                "with no integer: no node matches such a term, and where it is preferred, "
                "kube-scheduler fails to choose between several nodes"
            ),
            objects=name_some(having),
        )


def _foreign_schedulers(pods: Sequence[Pod], node_of: IntArray) -> Iterator[Notice]:
    foreign = [
        pods[i]
        for i in np.flatnonzero(node_of == PENDING).tolist()
        if pods[i].spec.scheduler_name != DEFAULT_SCHEDULER
    ]
    if foreign:
        names = sorted({pod.spec.scheduler_name for pod in foreign})
        yield Notice(
            code="otherScheduler",
            text=f"{counted(len(foreign), 'pending pod')} of another scheduler: {', '.join(names)}",
            objects=name_some(pod.key for pod in foreign),
        )


def _resource_claims(pods: Sequence[Pod]) -> Iterator[Notice]:
    claiming = [pod for pod in pods if pod.spec.resource_claims]
    if claiming:
        yield Notice(
            code="resourceClaims",
            text=(
                f"{counted(len(claiming), 'pod')} with resource claims (dynamic resource "
                "allocation), which planner does not model"
            ),
            objects=name_some(pod.key for pod in claiming),
        )


def _without_containers(pods: Sequence[Pod], specs: Iterable[PodSpec]) -> Iterator[Notice]:
    empty = {id(spec) for spec in specs if not spec.containers}
    having = [pod.key for pod in pods if id(pod.spec) in empty] if empty else []
    if having:
        yield Notice(
            code="noContainers",
            text=(
                f"{counted(len(having), 'pod')} without containers, which the API server would "
                "refuse; kustomize patches look so"
            ),
            objects=name_some(having),
        )


def _who_else_decides(inventory: Inventory) -> Iterator[Notice]:
    """Objects that change how many pods there are; commands that count with them drop these."""
    for code, kind, objects, text in (
        (
            "quota",
            "ResourceQuota",
            inventory.quotas,
            "the API server refuses pods beyond what it allows, which is not looked at here",
        ),
        (
            "autoscaler",
            "HorizontalPodAutoscaler",
            inventory.autoscalers,
            "the replicas of now are taken, whatever it may make of them",
        ),
        ("cronJob", "CronJob", inventory.cron_jobs, "pods that it will make are not counted"),
    ):
        if objects:
            yield Notice(
                code=code,
                text=f"{counted(len(objects), kind)}: {text}",
                objects=name_some(each.key for each in objects),
            )
