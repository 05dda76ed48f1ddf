"""Small problems in few words, and what their solutions amount to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.cluster import Cluster, build_cluster
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.problem.solution import Solution
from planner.solver.route import solve_in_full as solve
from planner.sources.inventory import Inventory
from planner_models.meta import OwnerReference
from planner_models.node import Node
from planner_models.pod import Pod, PodSpec
from planner_models.volume import Volume

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
Json = dict[str, Any]


def node(name: str, zone: str = "", *, cpu: str = "32", spec: Json | None = None) -> Node:
    labels = {HOSTNAME: name, **({ZONE: zone} if zone else {})}
    offer = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    return Node.model_validate(
        {
            "metadata": {"name": name, "labels": labels},
            "spec": spec or {},
            "status": {"allocatable": offer},
        }
    )


def spread(skew: int = 1, key: str = ZONE, app: str = "web", **fields: Any) -> Json:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **fields,
    }


def term(app: str, key: str = HOSTNAME) -> Json:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def workload(
    app: str,
    *places: str,
    cpu: str = "1",
    constraints: tuple[Json, ...] = (),
    ports: tuple[Json, ...] = (),
    volumes: tuple[Json, ...] = (),
    bare: bool = False,
    **spec: Any,
) -> list[Pod]:
    """Replicas of one template, one for each place; "" is pending."""
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}, "ports": list(ports)}
    shared = PodSpec.model_validate(
        {"containers": [container], "topologySpreadConstraints": list(constraints), **spec}
    )
    owner = None if bare else OwnerReference(kind="ReplicaSet", name=app, controller=True)
    mounted = tuple(Volume.model_validate(volume) for volume in volumes)
    return [
        Pod(
            namespace="default",
            name=f"{app}-{i}",
            uid=f"uid-{app}-{i}",
            labels={"app": app},
            owner=owner,
            spec=shared,
            volumes=mounted,
            node_name=place,
            phase="Running" if place else "Pending",
        )
        for i, place in enumerate(places)
    ]


def cluster(nodes: list[Node], *pods: list[Pod], **inventory: Any) -> Cluster:
    everyone = tuple(pod for group in pods for pod in group)
    return build_cluster(Inventory(nodes=tuple(nodes), pods=everyone, **inventory))


def problem(nodes: list[Node], *pods: list[Pod], **options: Any) -> Problem:
    return build_problem(cluster(nodes, *pods), SolveOptions(**options))


def solved(nodes: list[Node], *pods: list[Pod], **options: Any) -> Solution:
    return solve(problem(nodes, *pods, **options))


def values(solution: Solution) -> dict[str, int]:
    """Level names to values."""
    return {level.name: level.value for level in solution.levels}


def on(built: Cluster, solution: Solution) -> Mapping[str, dict[str, int]]:
    """App -> node -> count, of the pods that could be decided about."""
    found: dict[str, dict[str, int]] = {}
    for (group, index), count in solution.counts.items():
        app = built.groups[group].example.labels["app"]
        found.setdefault(app, {})[built.nodes[index].name] = count
    return found


ABC = [node("n1", "a"), node("n2", "b"), node("n3", "c")]
