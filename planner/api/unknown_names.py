"""What a name was probably meant for, if nothing is called so: other kinds, other namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from planner.api.targets import Target
from planner.cluster import PENDING, Cluster
from planner.cluster.owners import WorkloadRef
from planner.sources.errors import SourceError

SHOWN = 3


def unknown(cluster: Cluster, target: Target, namespace: str | None) -> SourceError:
    """The error about a target that nothing in the input is; without a namespace, in none."""
    what = "pod" if target.kind == "Pod" else target.kind
    where = "" if namespace is None else f" in namespace {namespace}"
    message = f"there is no {what} {target.name}{where}"
    every = _every(cluster, target, namespace)
    found = _meant(every, target.name or "")
    if found is None:
        return SourceError(message, help=_listed(every, target, namespace))
    if (found.kind, found.name) == (target.kind, target.name):
        return SourceError(
            message, help=f"it is in namespace {found.namespace}: `namespace={found.namespace}`"
        )
    shown = found.name if found.kind == target.kind else found.short
    if namespace not in (None, found.namespace):
        shown += f" with `namespace={found.namespace}`"
    return SourceError(message, help=f"did you mean {shown}?{_facts(cluster, found, target)}")


def _every(cluster: Cluster, target: Target, namespace: str | None) -> list[WorkloadRef]:
    """All that has a name, the likeliest first: of the kind, of the namespace, owners of pods."""
    pods = (WorkloadRef(pod.namespace, "Pod", pod.name) for pod in cluster.pods)
    return sorted(
        {*cluster.owners.controllers, *cluster.workloads, *pods},
        key=lambda ref: (
            not target.bare and ref.kind != target.kind,
            ref.namespace != namespace,
            ref.kind == "Pod",
            ref,
        ),
    )


def _meant(every: Sequence[WorkloadRef], name: str) -> WorkloadRef | None:
    """The same name elsewhere, one that begins so, or one that looks alike."""
    for ref in every:
        if ref.name == name:
            return ref
    for ref in every:
        if ref.name.startswith(name):
            return ref
    close = get_close_matches(name, dict.fromkeys(ref.name for ref in every), n=1)
    return next((ref for ref in every if ref.name in close), None)


def _facts(cluster: Cluster, found: WorkloadRef, target: Target) -> str:
    """What is known of a pod: where it is, and whether it is a replica of the one meant."""
    index = cluster.pod_index.get(f"{found.namespace}/{found.name}")
    if found.kind != "Pod" or index is None:
        return ""
    pod = cluster.pods[index]
    facts = ["pending" if cluster.node_of[index] == PENDING else f"on {pod.node_name}"]
    workload = cluster.owners.workload_of(pod)
    if workload.kind != "Pod" and _stem(found.name) == _stem(target.name or ""):
        facts.append(f"same {workload.kind}")
    return f" ({', '.join(facts)})"


def _stem(name: str) -> str:
    return name.rpartition("-")[0]


def _listed(every: Sequence[WorkloadRef], target: Target, namespace: str | None) -> str | None:
    """Some of what there is of the kind."""
    names = [ref.short for ref in every if namespace in (None, ref.namespace)]
    if target.kind != "Pod":
        names = [ref.short for ref in every if ref.kind == target.kind]
    if not names:
        return None
    more = ", ..." if len(names) > SHOWN else ""
    return f"there are {', '.join(names[:SHOWN])}{more}"
