"""Small random clusters with every rule of the scheduler mixed.

    random_cluster(7)              the same cluster each time, for loops over seeds
    clusters(pods=5)               a hypothesis strategy that shrinks to the smallest failing one
    random_cluster(7, plain=True)  capacity and spread only

Both go through one builder that asks a `Chooser` for numbers. Pods are put on nodes without asking
any rule, so running pods may break all of them: a plan has to cope with what it finds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

from planner.cluster import Cluster, build_cluster
from planner.disruption.movability import PREFER_NO_EVICTION
from planner.sources.inventory import Inventory
from planner_models.meta import OwnerReference
from planner_models.node import Node
from planner_models.pod import Pod, PodSpec

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
RACK = "rack"
KEYS = (ZONE, HOSTNAME, RACK)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
APPS = ("a", "b", "c")

T = TypeVar("T")
Json = dict[str, Any]


@dataclass(frozen=True)
class Chooser:
    """Decisions, all from whole numbers; 0 and the first option are the dull ones."""

    number: Callable[[int, int], int]
    """A number between two bounds, both included."""

    def one_of(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """Whether something unusual happens."""
        return self.number(1, 100) > 100 - percent


@dataclass(frozen=True)
class Size:
    """How large the cluster gets at most; `plain` leaves everything but capacity and spread out."""

    nodes: int = 5
    pods: int = 8
    workloads: int = 3
    plain: bool = False


def random_cluster(
    seed: int, *, nodes: int = 5, pods: int = 8, workloads: int = 3, plain: bool = False
) -> Cluster:
    """The cluster that belongs to a seed."""
    chooser = Chooser(random.Random(seed).randint)
    return build(chooser, Size(nodes, pods, workloads, plain))


@st.composite
def clusters(
    draw: st.DrawFn, nodes: int = 5, pods: int = 8, workloads: int = 3, plain: bool = False
) -> Cluster:
    """Any such cluster."""
    chooser = Chooser(lambda low, high: draw(st.integers(low, high)))
    return build(chooser, Size(nodes, pods, workloads, plain))


def build(choose: Chooser, size: Size) -> Cluster:
    """A cluster, decision by decision."""
    loose = choose.chance(50)
    nodes = [_node(choose, i, loose, size) for i in range(choose.number(2, size.nodes))]
    pods: list[Pod] = []
    for index in range(choose.number(1, size.workloads)):
        room = size.pods - len(pods)
        if room > 0:
            pods += _workload(choose, index, [node.name for node in nodes], room, size)
    return build_cluster(Inventory(nodes=tuple(nodes), pods=tuple(pods)))


def _node(choose: Chooser, index: int, loose: bool, size: Size) -> Node:
    name = f"n{index}"
    labels = {HOSTNAME: name, ZONE: choose.one_of(("z0", "z1", "z2")), RACK: f"r{index % 2}"}
    spec: Json = {}
    if choose.chance(6):
        del labels[choose.one_of((ZONE, RACK))]
    if not size.plain and choose.chance(12):
        spec["taints"] = [{"key": "special", "effect": choose.one_of(("NoSchedule", "NoExecute"))}]
    if not size.plain and choose.chance(12):
        spec["unschedulable"] = True
    offer = {"cpu": "40", "memory": "40Gi", "pods": "20"}
    if not loose:
        offer = {
            "cpu": str(choose.number(1, 5)),
            "memory": f"{choose.number(2, 6)}Gi",
            "pods": str(choose.number(2, 6)),
        }
    return Node.model_validate(
        {
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {"allocatable": offer},
        }
    )


def _workload(
    choose: Chooser, index: int, nodes: Sequence[str], room: int, size: Size
) -> list[Pod]:
    """Replicas of one template, in up to two revisions that only a label tells apart."""
    app = APPS[index % len(APPS)]
    namespace = "other" if not size.plain and choose.chance(8) else "default"
    spec = PodSpec.model_validate(_spec(choose, app, size))
    labels = [{"app": app, "tier": "x" if index < 2 else "y", "version": v} for v in ("1", "2")]
    owner: OwnerReference | None = OwnerReference(kind="ReplicaSet", name=app, controller=True)
    if choose.chance(8):
        owner = None
    two_revisions = choose.chance(25)
    return [
        Pod(
            namespace=namespace,
            name=f"{app}-{i}",
            uid=f"uid-{app}-{i}",
            spec=spec,
            labels=labels[choose.number(0, 1) if two_revisions else 0],
            owner=owner,
            **_fate(choose, () if spec.scheduling_gates else nodes, size),
        )
        for i in range(choose.number(1, room))
    ]


def _fate(choose: Chooser, nodes: Sequence[str], size: Size) -> Json:
    """Where a pod is: it waits, or runs on any node; a few are leaving or have to stay."""
    waits = not nodes or choose.chance(35)
    fate: Json = {"node_name": "" if waits else choose.one_of(nodes)}
    if not waits:
        fate["phase"] = "Running"
    if not waits and not size.plain and choose.chance(6):
        fate["terminating"] = True
    if not size.plain and choose.chance(6):
        fate["annotations"] = {PREFER_NO_EVICTION: "true"}
    return fate


def _spec(choose: Chooser, app: str, size: Size) -> Json:
    spec: Json = {
        "containers": [_container(choose, size)],
        "topologySpreadConstraints": _spread(choose, app),
    }
    if choose.chance(40):
        spec["priority"] = choose.one_of((10, 100, -5))
    if size.plain:
        return spec
    if choose.chance(25):
        spec["tolerations"] = [{"key": "special", "operator": "Exists"}]
    if choose.chance(4):
        spec["tolerations"] = [{"operator": "Exists"}]
    if choose.chance(8):
        spec["nodeSelector"] = {ZONE: choose.one_of(("z0", "z1"))}
    if choose.chance(2):
        spec["schedulingGates"] = [{"name": "wait"}]
    spec["affinity"] = _affinity(choose, app)
    return spec


def _container(choose: Chooser, size: Size) -> Json:
    requests = {
        "cpu": choose.one_of(("500m", "0", "1", "2")),
        "memory": choose.one_of(("256Mi", "0", "1Gi", "2Gi")),
    }
    container: Json = {"name": "main", "resources": {"requests": requests}}
    if not size.plain and choose.chance(8):
        container["ports"] = [{"containerPort": 80, "hostPort": choose.one_of((8080, 9090))}]
    return container


def _spread(choose: Chooser, app: str) -> list[Json]:
    count = choose.one_of((1, 0, 1, 2, 2, 3))
    first = choose.number(0, len(KEYS) - 1)
    return [_constraint(choose, app, KEYS[(first + i) % len(KEYS)]) for i in range(count)]


def _constraint(choose: Chooser, app: str, key: str) -> Json:
    constraint: Json = {
        "maxSkew": choose.number(1, 2),
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway" if choose.chance(8) else "DoNotSchedule",
    }
    if not choose.chance(3):
        constraint["labelSelector"] = _selector(choose, app)
        if choose.chance(15):
            constraint["matchLabelKeys"] = ["version"]
    if constraint["whenUnsatisfiable"] == "DoNotSchedule" and choose.chance(15):
        constraint["minDomains"] = choose.number(1, 4)
    if choose.chance(15):
        constraint["nodeAffinityPolicy"] = "Ignore"
    if choose.chance(25):
        constraint["nodeTaintsPolicy"] = "Honor"
    return constraint


def _selector(choose: Chooser, app: str) -> Json:
    """Mostly the pod's own; else of several workloads, of another one, by expression, or empty."""
    own: Json = {"matchLabels": {"app": app}}
    other = APPS[(APPS.index(app) + 1) % len(APPS)]
    unusual: tuple[Json, ...] = (
        {"matchLabels": {"tier": "x"}},
        {"matchLabels": {"app": other}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [other]}]},
        {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        {},
    )
    return choose.one_of(unusual) if choose.chance(35) else own


def _affinity(choose: Chooser, app: str) -> Json:
    affinity: Json = {}
    if choose.chance(12):
        expression = {
            "key": choose.one_of((ZONE, RACK, HOSTNAME)),
            "operator": choose.one_of(("NotIn", "In")),
            "values": list(choose.one_of((("z0", "r0", "n0"), ("z1", "z2", "r1", "n1", "n2")))),
        }
        term = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        affinity["nodeAffinity"] = {REQUIRED: term}
    if choose.chance(12):
        affinity["podAntiAffinity"] = {REQUIRED: [_term(choose, app)]}
    if choose.chance(10):
        affinity["podAffinity"] = {REQUIRED: [_term(choose, app)]}
    return affinity


def _term(choose: Chooser, app: str) -> Json:
    term: Json = {"topologyKey": choose.one_of(KEYS), "labelSelector": _selector(choose, app)}
    if choose.chance(10):
        term["namespaceSelector"] = {}
    return term
