"""Which pods a plan leaves alone, and what it takes for granted of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from planner.cluster import PENDING, Cluster
from planner.disruption.movability import DEFAULT_POLICY, MovePolicy
from planner.disruption.replacement import replacements_of
from planner.replay.violations import Violation
from planner_models.notice import Notice
from planner_models.plan import AlsoEvicted, ProtectedCount, ProtectedPod


def protected_pods(
    cluster: Cluster, reasons: Mapping[int, str], remaining: Iterable[Violation]
) -> Iterator[ProtectedPod]:
    """Pods that still break a rule in the end, because nobody may evict them."""
    broken = {pod for violation in remaining for pod in violation.pods}
    for pod in sorted(broken & reasons.keys(), key=lambda pod: cluster.pods[pod].key):
        yield ProtectedPod(
            pod=cluster.pods[pod].key,
            node=cluster.nodes[cluster.node_of[pod]].name,
            reason=reasons[pod],
        )


def left_alone(cluster: Cluster, reasons: Mapping[int, str]) -> tuple[ProtectedCount, ...]:
    """How many pods stay for each reason, and whose they are."""
    counts = Counter(reasons.values())
    groups: dict[str, set[int]] = {}
    for pod, reason in reasons.items():
        groups.setdefault(reason, set()).add(int(cluster.group_of[pod]))
    return tuple(
        ProtectedCount(
            reason=reason,
            pods=pods,
            workloads=tuple(sorted({cluster.workloads[g].short for g in groups[reason]})),
        )
        for reason, pods in sorted(counts.items())
    )


def assumed_to_return(cluster: Cluster, evicted: Iterable[int]) -> Iterator[Notice]:
    """That controllers which the input lacks are taken to bring the same pods back."""
    replacements = replacements_of(cluster)
    examples = {_as_replaced(cluster, pod): pod for pod in evicted}.values()
    assumed = [pod for pod in examples if replacements.of(pod).fate == "assumed"]
    if assumed:
        workloads = {cluster.workloads[cluster.group_of[pod]].short for pod in assumed}
        yield Notice(
            code="controllerNotInInput",
            text=(
                "the input lacks the controllers of pods that the plan evicts; they are assumed to "
                "bring back the same pods (kubectl get deploy,rs,sts,rc -A -o json has them)"
            ),
            objects=tuple(sorted(workloads)),
        )


def _as_replaced(cluster: Cluster, pod: int) -> tuple[int, int]:
    """Equal for pods that controllers replace alike: all but the members of StatefulSets."""
    found = cluster.pods[pod]
    if found.owner is None or found.owner.kind == "StatefulSet":
        return -1, pod
    return int(cluster.group_of[pod]), id(found.labels)


def promised_nodes(given: Cluster, now: Cluster) -> Iterator[Notice]:
    """That pods which have preempted others count as running where they wait for these to end."""
    waited = (given.node_of == PENDING) & (now.node_of >= 0)
    names = tuple(given.pods[pod].key for pod in np.flatnonzero(waited).tolist())
    if names:
        who = "1 waiting pod counts" if len(names) == 1 else f"{len(names)} waiting pods count"
        yield Notice(
            code="nominated",
            text=f"{who} as running: kube-scheduler has promised the node, and others end for it",
            objects=names,
        )


def driven_off(cluster: Cluster, pods: Iterable[int]) -> Iterator[Notice]:
    """That replacements which wait for room may preempt others meanwhile."""
    names = tuple(sorted({cluster.pods[pod].key for pod in pods}))
    if names:
        text = "replacements that find no room may drive off pods of lower priority"
        yield Notice(code="preempts", text=text, objects=names)


def also_evicted(policy: MovePolicy) -> AlsoEvicted | None:
    """What may go beyond the usual, if anything."""
    if policy == DEFAULT_POLICY:
        return None
    return AlsoEvicted(
        bare_pods=policy.bare_pods,
        local_storage=policy.local_storage,
        jobs=policy.jobs,
        owners=tuple(sorted(policy.owners)),
    )
