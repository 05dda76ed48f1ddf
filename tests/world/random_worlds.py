"""Random worlds that mix controllers, budgets, priorities, and whatever keeps pods from returning.

random_world(7)     the same world each time
"""

from __future__ import annotations

import random

from tests.objects import ZONE, merged, node
from tests.world.controllers import ALL, HASH, REVISION, new_pod
from tests.world.world import Json, World

KINDS = ("Deployment", "Deployment", "ReplicaSet", "StatefulSet", "StatefulSet", "Job")
GATE = {"schedulingGates": [{"name": "example.com/quota"}]}
IGNORE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def random_world(seed: int) -> World:
    """A world at rest, whose pods were once put anywhere."""
    draw = random.Random(seed)
    world = World(controllers=ALL, seed=seed)
    zones = draw.choice((2, 3))
    for i in range(draw.randint(zones, 5)):
        world.nodes.append(_node(draw, f"n{i}", "abc"[i % zones]))
    for number in range(draw.randint(1, 3)):
        _workload(draw, world, f"w{number}")
    if draw.random() < 0.3:
        _daemons(world)
    if draw.random() < 0.3:
        _foreign(draw, world)
    world.settle()
    _trouble(draw, world)
    return world


def _node(draw: random.Random, name: str, zone: str) -> Json:
    cpu = str(draw.choice((2, 3, 4, 16)))
    offer = {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return node(name, zone, status={**offer, **ready}, spec={})


def _template(draw: random.Random, app: str) -> Json:
    cpu = draw.choice(("100m", "500m", "1"))
    spec: Json = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    if draw.random() < 0.8:
        constraint = {
            "maxSkew": draw.choice((1, 1, 2)),
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        }
        spec["topologySpreadConstraints"] = [constraint]
    if draw.random() < 0.25:
        spec["priority"] = draw.choice((-5, 1000))
    return {"metadata": {"labels": {"app": app}}, "spec": spec}


def _workload(draw: random.Random, world: World, app: str) -> None:
    kind, replicas = draw.choice(KINDS), draw.randint(1, 5)
    template = _template(draw, app)
    owner: Json = {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": app, "namespace": "default", "uid": f"uid-{app}"},
        "spec": {"replicas": replicas, "template": template},
        "status": {},
    }
    if kind != "Job":
        owner["spec"]["selector"] = {"matchLabels": {"app": app}}
    making, labels = owner, {}
    if kind == "Deployment":
        making = _replica_set(owner)
        world.workloads.append(making)
    if kind == "StatefulSet":
        policy = draw.choice(("OrderedReady", "Parallel"))
        owner["spec"]["podManagementPolicy"] = policy
        owner["status"] = {
            "currentRevision": f"{app}-1",
            "updateRevision": f"{app}-1",
            "currentReplicas": replicas,
        }
        labels = {REVISION: f"{app}-1"}
    if kind == "Job":
        _as_job(draw, owner, replicas)
    world.workloads.append(owner)
    for ordinal in range(replicas):
        name = f"{app}-{ordinal}"
        pod = new_pod(making, name, labels)
        pod["metadata"]["uid"] = f"uid-{name}"
        _placed(draw, world, pod)
    _budget(draw, world, app)


def _replica_set(owner: Json) -> Json:
    name = f"{owner['metadata']['name']}-h1"
    reference = {"kind": "Deployment", "name": owner["metadata"]["name"], "uid": "d"}
    labels = {HASH: "h1"}
    made = merged(
        owner,
        {"kind": "ReplicaSet", "spec": {"template": {"metadata": {"labels": labels}}}},
    )
    references = [{**reference, "apiVersion": "apps/v1", "controller": True}]
    made["metadata"] = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "ownerReferences": references,
    }
    return made


def _as_job(draw: random.Random, owner: Json, replicas: int) -> None:
    del owner["spec"]["replicas"]
    limit = draw.choice((0, 1, 6))
    owner["spec"] |= {"parallelism": replicas, "completions": replicas, "backoffLimit": limit}
    if draw.random() < 0.4:
        owner["spec"]["podFailurePolicy"] = {"rules": [IGNORE]}


def _placed(draw: random.Random, world: World, pod: Json) -> None:
    """On a node with room whatever the spread says, mostly in the first zone; or waiting."""
    pod |= {"ready": True, "broken": False, "status": {"phase": "Running"}}
    nodes = [each for each in world.nodes if _fits(world, each, pod)]
    first = [each for each in nodes if each["metadata"]["labels"][ZONE] == "a"]
    chosen = first if first and draw.random() < 0.6 else nodes
    if chosen and draw.random() < 0.95:
        pod["spec"]["nodeName"] = draw.choice(chosen)["metadata"]["name"]
    else:
        pod |= {"ready": False, "status": {"phase": "Pending"}}
    world.pods.append(pod)


def _fits(world: World, on: Json, pod: Json) -> bool:
    name = on["metadata"]["name"]
    there = [each for each in world.pods if each["spec"].get("nodeName") == name]
    used = sum(_milli(each) for each in there)
    return used + _milli(pod) <= 1000 * int(on["status"]["allocatable"]["cpu"])


def _milli(pod: Json) -> int:
    text: str = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)


def _budget(draw: random.Random, world: World, app: str) -> None:
    for number in range(draw.choice((0, 0, 1, 1, 1, 2)) if draw.random() < 0.9 else 0):
        spec: Json = {"selector": {"matchLabels": {"app": app}}}
        if draw.random() < 0.5:
            spec["maxUnavailable"] = draw.choice((0, 1, 1, 2))
        else:
            spec["minAvailable"] = draw.choice((0, 1, 2, 5))
        if draw.random() < 0.2:
            spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
        world.budgets.append(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": f"{app}-{number}", "namespace": "default"},
                "spec": spec,
            }
        )


def _daemons(world: World) -> None:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "50m"}}}]}
    template = {"metadata": {"labels": {"app": "log"}}, "spec": spec}
    world.workloads.append(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "log", "namespace": "default", "uid": "uid-log"},
            "spec": {"selector": {"matchLabels": {"app": "log"}}, "template": template},
            "status": {},
        }
    )


def _foreign(draw: random.Random, world: World) -> None:
    """Pods of an owner that nobody knows, or of none: they never come back."""
    template = _template(draw, "task")
    owner = {"apiVersion": "tekton.dev/v1", "kind": "TaskRun", "spec": {"template": template}}
    for number in range(draw.randint(1, 3)):
        meta = {"name": f"task-{number}", "uid": f"uid-run-{number}"}
        pod = new_pod({**owner, "metadata": meta}, f"task-{number}-pod")
        pod["metadata"]["uid"] = f"uid-task-{number}"
        if draw.random() < 0.4:
            pod["metadata"]["ownerReferences"] = []
        _placed(draw, world, pod)


def _trouble(draw: random.Random, world: World) -> None:
    """What an administrator or the world does just before the dump."""
    running = [pod for pod in world.pods if pod["spec"].get("nodeName")]
    for pod in running:
        if draw.random() < 0.06:
            pod |= {"ready": False, "broken": True}
        if draw.random() < 0.04:
            pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] = "true"
    for owner in world.workloads:
        if owner["kind"] == "StatefulSet" and draw.random() < 0.15:
            owner["spec"]["updateStrategy"] = {"type": "OnDelete"}
            owner["status"]["updateRevision"] += "1"
            owner["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "new"}
        if owner["kind"] == "ReplicaSet" and draw.random() < 0.08:
            owner["spec"]["template"]["spec"] |= GATE
            for deployment in world.workloads:
                if deployment["kind"] == "Deployment" and (
                    f"{deployment['metadata']['name']}-h1" == owner["metadata"]["name"]
                ):
                    deployment["spec"]["template"]["spec"] |= GATE
    if draw.random() < 0.15:
        _lose(draw.choice(world.nodes), world)


def _lose(lost: Json, world: World) -> None:
    """The node no longer answers, and its pods are not ready."""
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    key = "node.kubernetes.io/unreachable"
    lost["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    for pod in world.pods:
        if pod["spec"].get("nodeName") == lost["metadata"]["name"]:
            pod["ready"] = False
