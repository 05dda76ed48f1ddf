"""Kubernetes' controllers: each looks at the world, acts, and says whether it did."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

from tests.objects import merged
from tests.world.world import Json, World, answers, leaving, of_kind, owned_by, owner_reference

HASH = "pod-template-hash"
REVISION = "controller-revision-hash"


def new_pod(owner: Json, name: str, labels: dict[str, str] | None = None) -> Json:
    """A pod from the owner's template."""
    template = owner["spec"]["template"]
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": {**template["metadata"]["labels"], **(labels or {})},
        "annotations": dict(template["metadata"].get("annotations", {})),
        "ownerReferences": [reference],
    }
    spec = copy.deepcopy(template["spec"])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def replica_sets(world: World) -> bool:
    """As many pods as wanted, those that are leaving not counted.

    Those go first that are not ready, then those with most others of the Deployment on their node.
    """
    changed = False
    for owner in of_kind(world, "ReplicaSet"):
        active = [pod for pod in world.pods_of(owner) if not leaving(pod)]
        missing = owner["spec"]["replicas"] - len(active)
        for _ in range(missing):
            world.create(new_pod(owner, f"{owner['metadata']['name']}-{world.made}n"))
        world.random.shuffle(active)
        together = _together(world, owner)
        active.sort(key=lambda pod: (bool(pod["ready"]), -together[pod["spec"].get("nodeName")]))
        for pod in active[: max(0, -missing)]:
            world.delete(pod)
        changed |= missing != 0
    return changed


def _together(world: World, replica_set: Json) -> Counter[str | None]:
    """Pods of all ReplicaSets of the same Deployment, by node."""
    owner = owner_reference(replica_set)
    sets = [each for each in of_kind(world, "ReplicaSet") if owner_reference(each) == owner]
    pods = (pod for each in sets if owner for pod in world.pods_of(each) if not leaving(pod))
    return Counter(pod["spec"].get("nodeName") for pod in pods)


def deployments(world: World) -> bool:
    """Rolling updates: up within the surge, down as far as enough pods are available."""
    acted = [_rolled(world, owner) for owner in of_kind(world, "Deployment")]
    return any(acted)


def _rolled(world: World, owner: Json) -> bool:
    sets = [w for w in world.workloads if w["kind"] == "ReplicaSet" and owned_by(w, owner)]
    new = next((each for each in sets if _same_template(each, owner)), None)
    if new is None or owner["spec"].get("paused"):
        return False
    old = [each for each in sets if each is not new]
    wanted = owner["spec"]["replicas"]
    surge, down = -(-wanted // 4), wanted // 4
    everyone = sum(each["spec"]["replicas"] for each in sets)
    more = min(wanted + surge - everyone, wanted - new["spec"]["replicas"])
    if more > 0 or (not any(each["spec"]["replicas"] for each in old) and more < 0):
        new["spec"]["replicas"] += more
        return True
    unavailable_new = new["spec"]["replicas"] - _available(world, new)
    least = wanted - max(down, 0 if surge else 1)
    room = everyone - least - unavailable_new
    for each in old:
        unhealthy = each["spec"]["replicas"] - _available(world, each)
        fewer = min(room, unhealthy)
        if fewer > 0:
            each["spec"]["replicas"] -= fewer
            return True
    spare = sum(_available(world, each) for each in sets) - least
    for each in old:
        fewer = min(room, spare, each["spec"]["replicas"])
        if fewer > 0:
            each["spec"]["replicas"] -= fewer
            return True
    return False


def _same_template(replica_set: Json, deployment: Json) -> bool:
    left, right = replica_set["spec"]["template"], deployment["spec"]["template"]
    labels = {k: v for k, v in left["metadata"]["labels"].items() if k != HASH}
    return bool(left["spec"] == right["spec"] and labels == right["metadata"]["labels"])


def _available(world: World, owner: Json) -> int:
    return sum(pod["ready"] and not leaving(pod) for pod in world.pods_of(owner))


def stateful_sets(world: World) -> bool:
    """Pods by name, made when the old one is gone; ordered ones wait for those below."""
    acted = [_ordered(world, owner) for owner in of_kind(world, "StatefulSet")]
    return any(acted)


def _ordered(world: World, owner: Json) -> bool:
    status, spec = owner["status"], owner["spec"]
    monotonic = spec.get("podManagementPolicy", "OrderedReady") != "Parallel"
    by_name = {pod["metadata"]["name"]: pod for pod in world.pods_of(owner)}
    changed = False
    for ordinal in range(spec["replicas"]):
        name = f"{owner['metadata']['name']}-{ordinal}"
        pod = by_name.get(name)
        if pod is None:
            world.create(new_pod(owner, name, {REVISION: status["updateRevision"]}))
            changed = True
        if monotonic and (pod is None or leaving(pod) or not pod["ready"]):
            return changed
    if changed or spec.get("updateStrategy", {}).get("type") == "OnDelete":
        return changed
    return _update_highest(world, owner, by_name)


def _update_highest(world: World, owner: Json, by_name: dict[str, Json]) -> bool:
    """A rolling update: the highest pod of an old revision goes when all above it are ready."""
    for ordinal in reversed(range(owner["spec"]["replicas"])):
        pod = by_name[f"{owner['metadata']['name']}-{ordinal}"]
        old = pod["metadata"]["labels"][REVISION] != owner["status"]["updateRevision"]
        if old and not leaving(pod):
            world.delete(pod)
            return True
        if leaving(pod) or not pod["ready"]:
            return False
    return False


def daemon_sets(world: World) -> bool:
    """A pod for each node that answers, pinned to it; one of an old template goes when all run."""
    changed = False
    for owner in of_kind(world, "DaemonSet"):
        pods = world.pods_of(owner)
        pinned = {_pin(pod) for pod in pods}
        missing = [n for n in world.nodes if n["metadata"]["name"] not in pinned and answers(n)]
        for node in missing:
            made = new_pod(owner, f"{owner['metadata']['name']}-{world.made}n")
            world.create(merged(made, {"spec": {"affinity": _affinity(node["metadata"]["name"])}}))
        changed |= bool(missing) or _update_a_node(world, owner, pods)
    return changed


def _update_a_node(world: World, owner: Json, pods: list[Json]) -> bool:
    """Old pods that are not ready go at once, another one only if all others are ready."""
    old = [pod for pod in pods if not leaving(pod) and not _is_of(pod, owner)]
    failed = [pod for pod in old if not pod["ready"]]
    down = sum(leaving(pod) or not pod["ready"] for pod in pods)
    healthy = [pod for pod in old if pod["ready"]]
    going = failed + (world.random.sample(healthy, 1) if healthy and not down else [])
    for pod in going:
        world.delete(pod)
    return bool(going)


def _is_of(pod: Json, owner: Json) -> bool:
    """Whether the pod is of the present template, which tells revisions apart by a label."""
    labels: dict[str, str] = owner["spec"]["template"]["metadata"]["labels"]
    return bool(labels.items() <= pod["metadata"]["labels"].items())


def _affinity(node: str) -> Json:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _pin(pod: Json) -> str:
    affinity: Any = pod["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return str(terms[0]["matchFields"][0]["values"][0])


def jobs(world: World) -> bool:
    """Failed beyond its limit a Job ends with all its pods; otherwise it makes what is missing."""
    changed = False
    for owner in of_kind(world, "Job"):
        status, spec = owner["status"], owner["spec"]
        active = [pod for pod in world.pods_of(owner) if not leaving(pod)]
        if status.get("failed", 0) > spec["backoffLimit"]:
            status["conditions"] = [{"type": "Failed", "status": "True"}]
            for pod in active:
                world.delete(pod)
            changed |= bool(active)
            continue
        for _ in range(spec["parallelism"] - len(active)):
            world.create(new_pod(owner, f"{owner['metadata']['name']}-{world.made}n"))
            changed = True
    return changed


ALL = (replica_sets, deployments, stateful_sets, daemon_sets, jobs)
