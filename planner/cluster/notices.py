"""What does not fit together in the input, said once with the objects' names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from planner.cluster.snapshot import ELSEWHERE, PENDING
from planner.cluster.topology import IntArray
from planner.sources.inventory import Inventory, counted, name_some
from planner_models.node import HOSTNAME, Node
from planner_models.notice import Notice
from planner_models.pod import DEFAULT_SCHEDULER, Pod


def cluster_notices(
    inventory: Inventory, nodes: Sequence[Node], pods: Sequence[Pod], node_of: IntArray
) -> tuple[Notice, ...]:
    """All notices about how nodes, pods and namespaces go together."""
    return (
        *_pods_elsewhere(pods, node_of),
        *_nodes_without_hostname(nodes, pods),
        *_unknown_namespaces(inventory, pods),
        *_foreign_schedulers(pods, node_of),
        *_resource_claims(pods),
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


def _nodes_without_hostname(nodes: Sequence[Node], pods: Sequence[Pod]) -> Iterator[Notice]:
    """Only where it matters: some pod spreads or keeps apart by hostname."""
    bare = [node.name for node in nodes if HOSTNAME not in node.labels]
    if bare and any(_uses(pod, HOSTNAME) for pod in {id(p.spec): p for p in pods}.values()):
        yield Notice(
            code="noHostname",
            text=f"{counted(len(bare), 'node')} without the label {HOSTNAME}, which pods spread by",
            objects=name_some(bare),
        )


def _uses(pod: Pod, key: str) -> bool:
    affinity = pod.spec.affinity
    return any(c.topology_key == key for c in pod.spec.topology_spread_constraints) or any(
        term.topology_key == key
        for term in (*affinity.pod_affinity.required, *affinity.pod_anti_affinity.required)
    )


def _unknown_namespaces(inventory: Inventory, pods: Sequence[Pod]) -> Iterator[Notice]:
    """Namespaces matter only to namespaceSelector; without any in the input nobody listed them."""
    known = {namespace.name for namespace in inventory.namespaces}
    used = {pod.namespace for pod in pods} - known
    if not used:
        return
    selecting = any(_selects_namespaces(pod) for pod in {id(p.spec): p for p in pods}.values())
    if known or selecting:
        yield Notice(
            code="unknownNamespace",
            text=(
                f"the pods are in {counted(len(used), 'namespace')} that the input does not have; "
                "namespaceSelector sees no labels there"
            ),
            objects=name_some(used),
        )


def _selects_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return any(
        term.namespace_selector is not None
        for terms in (affinity.pod_affinity, affinity.pod_anti_affinity)
        for term in (*terms.required, *(w.pod_affinity_term for w in terms.preferred))
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
