"""A small Kubernetes: objects, the Eviction API, kubelets, controllers and kube-scheduler.

Written from Kubernetes' own rules and without planner's planning code, so that what planner
promises can be carried out and looked at. Only where pods land is asked of `scheduler.simulate`,
whose decisions are checked against recordings. Whatever may happen in any order happens in an order
drawn by the seed.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from planner.cluster import Cluster
from planner.scheduler.simulate import simulate
from tests.objects import cluster_of, merged

Json = dict[str, Any]
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
MOST_TURNS = 300


class RefusedError(Exception):
    """The Eviction API says no: 404, 409, 429 or 500."""

    def __init__(self, code: int, pod: str) -> None:
        super().__init__(f"{code}: {pod}")
        self.code = code


@dataclass
class World:
    """Everything that the API server stores; pods carry `ready` and `broken` for the kubelet."""

    nodes: list[Json] = field(default_factory=list)
    workloads: list[Json] = field(default_factory=list)
    budgets: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=list)
    controllers: tuple[Callable[[World], bool], ...] = ()
    seed: int = 0
    made: int = 0
    preempted: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def again(self, seed: int) -> World:
        """The same world under another seed."""
        return World(
            copy.deepcopy(self.nodes),
            copy.deepcopy(self.workloads),
            copy.deepcopy(self.budgets),
            copy.deepcopy(self.pods),
            self.controllers,
            seed,
            self.made,
        )

    # What is there

    def dump(self) -> Cluster:
        """What `kubectl get -o json` would show."""
        return cluster_of(*self.nodes, *self.workloads, *self.budgets, *map(shown, self.pods))

    def pods_of(self, owner: Json) -> list[Json]:
        """The pods that a controller owns, terminating ones included."""
        return [pod for pod in self.pods if owned_by(pod, owner)]

    def owner_of(self, pod: Json) -> Json | None:
        return next((each for each in self.workloads if owned_by(pod, each)), None)

    def node(self, name: str) -> Json:
        return next(node for node in self.nodes if node["metadata"]["name"] == name)

    def waiting(self) -> list[Json]:
        return [pod for pod in self.pods if not pod["spec"].get("nodeName") and not leaving(pod)]

    # Acts

    def create(self, pod: Json) -> None:
        """A new pod, pending; one whose template names a node is on it at once."""
        self.made += 1
        pod["metadata"]["uid"] = f"made-{self.made}"
        pod["ready"] = pod["broken"] = False
        pod["status"] = {"phase": "Pending"}
        self.pods.append(pod)

    def delete(self, pod: Json) -> None:
        """Graceful: a pod without a node is gone at once, others when their kubelet says so."""
        if pod["spec"].get("nodeName"):
            pod["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
        else:
            self.pods.remove(pod)

    def evict(self, key: str, uid: str) -> None:
        """The Eviction API, with budgets as the disruption controller has just counted them."""
        name = key.partition("/")[2]
        found = next((pod for pod in self.pods if pod["metadata"]["name"] == name), None)
        if found is None:
            raise RefusedError(404, name)
        if found["metadata"]["uid"] != uid:
            raise RefusedError(409, name)
        if leaving(found) or found["status"]["phase"] == "Pending":
            self.delete(found)
            return
        budgets = [budget for budget in self.budgets if selects(budget, found)]
        if len(budgets) > 1:
            raise RefusedError(500, name)
        if budgets and not self._lets_go(budgets[0], found):
            raise RefusedError(429, name)
        found["disrupted"] = True
        self.delete(found)

    def _lets_go(self, budget: Json, pod: Json) -> bool:
        selected = [each for each in self.pods if selects(budget, each)]
        healthy = sum(each["ready"] and not leaving(each) for each in selected)
        desired, expected = self._desired(budget, selected)
        if not pod["ready"] and (
            budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
            or healthy >= desired > 0
        ):
            return True
        return expected > 0 and healthy - desired > 0

    def _desired(self, budget: Json, selected: list[Json]) -> tuple[int, int]:
        spec = budget["spec"]
        if "minAvailable" in spec:
            return spec["minAvailable"], len(selected)
        scales: dict[str, int] = {}
        for pod in selected:
            owner = self.owner_of(pod)
            if owner is None:
                continue
            top = owner_reference(owner)
            if top is not None and top["kind"] == "Deployment":
                owner = next(
                    w for w in self.workloads
                    if w["kind"] == "Deployment" and w["metadata"]["name"] == top["name"]
                )  # fmt: skip
            if "replicas" not in owner["spec"]:
                return len(selected), 0
            scales[f"{owner['kind']}/{owner['metadata']['name']}"] = owner["spec"]["replicas"]
        expected = sum(scales.values())
        return max(0, expected - spec["maxUnavailable"]), expected

    def cordon(self, name: str, *, on: bool) -> None:
        node = self.node(name)
        taints = [each for each in node["spec"].get("taints", []) if each["key"] != CORDON["key"]]
        node["spec"] = {**node["spec"], "unschedulable": on, "taints": taints + [CORDON] * on}

    # Time passes

    def settle(self) -> None:
        """Controllers, kube-scheduler and kubelets act in any order until nothing changes."""
        actors: list[Callable[[World], bool]] = [*self.controllers, schedule, run_kubelets]
        for _ in range(MOST_TURNS):
            self.random.shuffle(actors)
            changed = [actor(self) for actor in actors]
            if not any(changed):
                return
        raise AssertionError("this world never comes to rest")


def schedule(world: World) -> bool:
    """kube-scheduler places what waits, and drives off what has to give way."""
    if not world.waiting():
        return False
    cluster = world.dump()
    by_name = {pod["metadata"]["name"]: pod for pod in world.pods}
    waiting = [cluster.pod_index[f"default/{pod['metadata']['name']}"] for pod in world.waiting()]
    seed = world.random.randrange(1, 1 << 30)
    run = simulate(cluster, pods=waiting, seed=seed, preempt=True)
    changed = False
    for victim in run.victims:
        gone = by_name[cluster.pods[victim].name]
        if not leaving(gone):
            world.preempted.append(gone["metadata"]["name"])
            gone["disrupted"] = True
        world.pods.remove(gone)
        gone["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
        note_end(world, gone)
        changed = True
    for result in run.results:
        if result.node is not None:
            placed = by_name[cluster.pods[result.pod].name]
            placed["spec"]["nodeName"] = cluster.nodes[result.node].name
            changed = True
    return changed


def run_kubelets(world: World) -> bool:
    """Pods start and end, some sooner than others; on a node that is away nothing happens."""
    changed = False
    for pod in list(world.pods):
        name = pod["spec"].get("nodeName")
        if not name or not answers(world.node(name)):
            continue
        if leaving(pod):
            changed = True
            if world.random.random() < 0.5:
                world.pods.remove(pod)
                note_end(world, pod)
        elif not pod["ready"] and not pod["broken"]:
            pod["ready"], changed = True, True
            pod["status"]["phase"] = "Running"
    return changed


def note_end(world: World, pod: Json) -> None:
    """A Job counts its pods that ended without success, unless its policy ignores evictions."""
    owner = world.owner_of(pod)
    if owner is None or owner["kind"] != "Job":
        return
    rules = owner["spec"].get("podFailurePolicy", {}).get("rules", [])
    if not (rules and rules[0]["action"] == "Ignore" and pod.get("disrupted")):
        owner["status"]["failed"] = owner["status"].get("failed", 0) + 1


# Reading objects


def shown(pod: Json) -> Json:
    """The pod as the API shows it."""
    made = {k: v for k, v in pod.items() if k not in ("ready", "broken", "disrupted")}
    conditions = [{"type": "Ready", "status": str(pod["ready"])}]
    return merged(made, {"status": {"conditions": conditions}})


def leaving(pod: Json) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def answers(node: Json) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return all(c["status"] == "True" for c in conditions if c["type"] == "Ready")


def owner_reference(each: Json) -> Json | None:
    owners: list[Json] = each["metadata"].get("ownerReferences", [])
    return owners[0] if owners else None


def owned_by(each: Json, owner: Json) -> bool:
    found = owner_reference(each)
    return found is not None and (found["kind"], found["name"]) == (
        owner["kind"],
        owner["metadata"]["name"],
    )


def selects(budget: Json, pod: Json) -> bool:
    wanted = budget["spec"]["selector"]["matchLabels"]
    return bool(wanted.items() <= pod["metadata"]["labels"].items())


def of_kind(world: World, kind: str) -> Iterator[Json]:
    """The workloads of a kind that are not being deleted."""
    return (w for w in world.workloads if w["kind"] == kind and not leaving(w))
