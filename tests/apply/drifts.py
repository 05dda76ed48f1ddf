"""What may happen to a cluster between a plan and the moment in which it is carried out."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.apply.world_api import WorldApi
from tests.world.world import leaving

Drift = Callable[[random.Random, WorldApi], None]


def nothing(draw: random.Random, api: WorldApi) -> None:
    """The plan is carried out as it was made."""


def pod_gone(draw: random.Random, api: WorldApi) -> None:
    """Somebody deletes a pod, and its controller makes another one."""
    running = [pod for pod in api.world.pods if pod["spec"].get("nodeName") and not leaving(pod)]
    if running:
        api.world.pods.remove(draw.choice(running))


def scaled(draw: random.Random, api: WorldApi) -> None:
    """A workload wants one pod more, or one less."""
    by = draw.choice((-1, 1))
    tops = [w for w in api.world.workloads if w["kind"] in ("Deployment", "StatefulSet")]
    if not tops:
        return
    top = draw.choice(tops)
    wanted = max(0, top["spec"]["replicas"] + by)
    name = top["metadata"]["name"]
    for each in api.world.workloads:
        owners = each["metadata"].get("ownerReferences", [])
        if each is top or any(owner["name"] == name for owner in owners):
            each["spec"]["replicas"] = wanted


def rolled_out(draw: random.Random, api: WorldApi) -> None:
    """A Deployment gets another template, and its ReplicaSet is not there yet."""
    tops = [w for w in api.world.workloads if w["kind"] == "Deployment"]
    if tops:
        draw.choice(tops)["spec"]["template"]["spec"]["hostNetwork"] = True


def node_cordoned(draw: random.Random, api: WorldApi) -> None:
    """An administrator cordons a node."""
    api.world.cordon(draw.choice(api.world.nodes)["metadata"]["name"], on=True)


def node_lost(draw: random.Random, api: WorldApi) -> None:
    """A node does not answer any more."""
    node = draw.choice(api.world.nodes)
    node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    node["spec"]["taints"] = [taint]
    for pod in api.world.pods:
        if pod["spec"].get("nodeName") == node["metadata"]["name"]:
            pod["ready"] = False


def smaller_node(draw: random.Random, api: WorldApi) -> None:
    """A node offers less than it did."""
    draw.choice(api.world.nodes)["status"]["allocatable"]["cpu"] = "1"


def budget_tightened(draw: random.Random, api: WorldApi) -> None:
    """A budget allows nothing any more."""
    if api.world.budgets:
        budget = draw.choice(api.world.budgets)
        budget["metadata"]["generation"] = budget["metadata"].get("generation", 1) + 1
        budget["spec"].pop("maxUnavailable", None)
        budget["spec"]["minAvailable"] = 50


def protected(draw: random.Random, api: WorldApi) -> None:
    """A pod gets an annotation that asks to leave it alone."""
    if api.world.pods:
        pod = draw.choice(api.world.pods)
        pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] = "true"


def room_taken(draw: random.Random, api: WorldApi) -> None:
    """A pod of nobody's comes to a node."""
    node = draw.choice(api.world.nodes)["metadata"]["name"]
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}],
        "nodeName": node,
    }
    meta = {"name": f"guest-{api.world.made}", "namespace": "default", "labels": {"app": "guest"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "annotations": {}}, "spec": spec}
    api.world.create(pod)


DRIFTS: dict[str, Drift] = {
    drift.__name__: drift
    for drift in (
        nothing,
        pod_gone,
        scaled,
        rolled_out,
        node_cordoned,
        node_lost,
        smaller_node,
        budget_tightened,
        protected,
        room_taken,
    )
}
