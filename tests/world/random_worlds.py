"""Random worlds that mix controllers, budgets, priorities, and whatever keeps pods from returning.

random_world(7)     the same world each time
"""

from __future__ import annotations

import random

from tests.objects import ZONE, merged, node
from tests.world.controllers import ALL, HASH, REVISION, new_pod
from tests.world.world import Json, World, owned_by

KINDS = ("Deployment", "Deployment", "ReplicaSet", "StatefulSet", "StatefulSet", "Job")
GATE = {"schedulingGates": [{"name": "example.com/quota"}]}
IGNORE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def random_world(seed: int) -> World:
    """A world whose pods were once put anywhere, and that has mostly come to rest since."""
    draw = random.Random(seed)
    world = World(controllers=ALL, seed=seed)
    zones = draw.choice((2, 3))
    sizes = draw.choice(((2, 3, 4, 16), (1, 2), (1, 2, 3)))
    for i in range(draw.randint(zones, 5)):
        world.nodes.append(_node(draw.choice(sizes), f"n{i}", "abc"[i % zones]))
    for number in range(draw.randint(1, 4)):
        _workload(draw, world, f"w{number}")
    if draw.random() < 0.3:
        _daemons(world)
    if draw.random() < 0.3:
        _foreign(draw, world)
    world.settle()
    for owner in [each for each in world.workloads if each["kind"] == "Deployment"]:
        if draw.random() < 0.12:
            _roll_out(draw, world, owner)
    world.settle()
    _trouble(draw, world)
    return world


def _roll_out(draw: random.Random, world: World, owner: Json) -> None:
    """A new template, of which pods run or never do."""
    pool = {"nodeSelector": {"pool": "new"}} if draw.random() < 0.7 else {"hostNetwork": True}
    owner["spec"]["template"] = merged(owner["spec"]["template"], {"spec": pool})
    made = _replica_set(owner, "h2")
    made["spec"]["replicas"] = 0
    world.workloads.append(made)


def _node(cpu: int, name: str, zone: str) -> Json:
    offer = {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}}
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
        making = _replica_set(owner, "h1")
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


def _replica_set(owner: Json, hashed: str) -> Json:
    name = f"{owner['metadata']['name']}-{hashed}"
    reference = {"kind": "Deployment", "name": owner["metadata"]["name"], "uid": "d"}
    labels = {HASH: hashed}
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
    for pod in world.pods:
        if pod["spec"].get("nodeName") and draw.random() < 0.06:
            pod |= {"ready": False, "broken": True}
        if draw.random() < 0.04:
            pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] = "true"
    for owner in world.workloads:
        _change(draw, world, owner)
    if draw.random() < 0.15:
        _lose(draw.choice(world.nodes), world)


def _change(draw: random.Random, world: World, owner: Json) -> None:
    kind, spec = owner["kind"], owner["spec"]
    if kind == "StatefulSet" and draw.random() < 0.15:
        spec["updateStrategy"] = {"type": "OnDelete"}
        owner["status"]["updateRevision"] += "1"
        spec["template"]["spec"]["nodeSelector"] = {"pool": "new"}
    if kind == "Deployment" and draw.random() < 0.08:
        for each in (owner, *(w for w in world.workloads if owned_by(w, owner))):
            each["spec"]["template"]["spec"] |= GATE
    if kind != "ReplicaSet" and draw.random() < 0.05:
        owner["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    if kind in ("Deployment", "StatefulSet") and draw.random() < 0.05:
        spec["replicas"] = max(0, spec["replicas"] - 1)


def _lose(lost: Json, world: World) -> None:
    """The node no longer answers, and its pods are not ready."""
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    key = "node.kubernetes.io/unreachable"
    lost["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    for pod in world.pods:
        if pod["spec"].get("nodeName") == lost["metadata"]["name"]:
            pod["ready"] = False
