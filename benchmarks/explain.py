"""Why a pod waits, in clusters of 50 to 5,000 nodes: time to the conflicts, and to the repairs.

Nodes of four classes and 27 pods a node; one pod of a workload with a zone spread constraint waits.
The answer is checked: the four rules of the conflict, one eviction, and at least five repairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.case import Case, Measured, Stopwatch
from planner.cluster import Cluster, build_cluster
from planner.explain.conflicts.confirm import is_minimal
from planner.explain.conflicts.conflict import minimal_conflicts
from planner.explain.diagnose import ExplainOptions
from planner.explain.rules import rules_of
from planner.explain.several_pods import explain_pods
from planner.explain.situation.subject import subject_of
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import default_profile
from planner.sources.inventory import Inventory
from planner_models.diagnosis import Diagnosis
from planner_models.meta import OwnerReference
from planner_models.node import HOSTNAME, ZONE, Node
from planner_models.pod import Pod, PodSpec

ZONES = ("eu-1a", "eu-1b", "eu-1c")
ML = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
REPLICAS = 50
"""Pods of each small workload that fills the general nodes."""


PODS_PER_NODE = 27.4


def nodes(total: int) -> Iterator[Node]:
    """Of 50: 36 general ones, 8 with fast disks for machine learning, 6 with fast disks."""
    unit = total // 50
    for zone, special in zip(ZONES, (3, 3, 2), strict=True):
        for pool, number in (("gen", 12), ("ml", special), ("ssd", 2)):
            for index in range(unit * number):
                yield _node(f"{pool}-{zone[-1]}-{index:04}", zone, pool)


def _node(name: str, zone: str, pool: str) -> Node:
    labels = {HOSTNAME: name, ZONE: zone, **({"disktype": "ssd"} if pool != "gen" else {})}
    return Node.model_validate(
        {
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [ML] if pool == "ml" else []},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
        }
    )


def spec(cpu: str, **more: object) -> PodSpec:
    """One container."""
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return PodSpec.model_validate({"containers": [container], **more})


def pods(total: int, nodes_: int) -> Iterator[Pod]:
    """Etl even but for one that waits; spark fills eu-1c; small ones everywhere else."""
    ssds, each = nodes_ // 25, max(2, nodes_ // 125)
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "etl"}},
    }
    ssd = {"disktype": "ssd"}
    etl = spec("6", nodeSelector=ssd, topologySpreadConstraints=[constraint])
    counts = (("a", each), ("b", each), ("c", each - 1))
    places = [f"ssd-{z}-{i:04}" for z, n in counts for i in range(n)]
    yield from _replicas("etl", etl, [*places, ""])
    rest = [f"ssd-c-{i:04}" for i in range(ssds) for _ in range(1 if i < each - 1 else 2)]
    yield from _replicas("spark", spec("6", nodeSelector=ssd), rest)
    small = spec("100m")
    general = [f"gen-{zone[-1]}-{i:04}" for i in range(6 * ssds) for zone in ZONES]
    left = total - len(places) - 1 - len(rest)
    for start in range(0, left, REPLICAS):
        number = min(REPLICAS, left - start)
        where = [general[(start + i) % len(general)] for i in range(number)]
        yield from _replicas(f"app{start // REPLICAS}", small, where)


def _replicas(app: str, template: PodSpec, places: list[str]) -> Iterator[Pod]:
    owner = OwnerReference(kind="ReplicaSet", name=app, controller=True)
    labels = {"app": app}
    for index, place in enumerate(places):
        yield Pod(
            namespace="default",
            name=f"{app}-{index:05}",
            uid=f"{app}-{index}",
            spec=template,
            labels=labels,
            owner=owner,
            node_name=place,
            phase="Running" if place else "Pending",
        )


def check(found: Diagnosis) -> Iterator[str]:
    """Fast and wrong would be worth nothing."""
    kinds = sorted(fact.kind for fact in found.conflicts[0].constraints)
    if kinds != ["capacity", "nodeAffinity", "taints", "topologySpread"]:
        yield f"the conflict is between {kinds}"
    if not found.conflicts[0].minimal:
        yield "the conflict is not confirmed as minimal"
    if found.rearrangement is None or found.rearrangement.evictions != 1:
        yield "one eviction makes room, and that was not found"
    if sum(repair.kind != "movePods" for repair in found.repairs) < 5:
        yield "fewer than five repairs"


def measure(case: Case, _cache: Path) -> Measured:
    """From a loaded cluster to the message, the conflicts, or the whole diagnosis."""
    total = case.integer("nodes")
    pods_ = tuple(pods(round(total * PODS_PER_NODE), total))
    cluster = build_cluster(Inventory(nodes=tuple(nodes(total)), pods=pods_))
    methods = {"message": by_message, "conflicts": by_conflicts, "planner": by_planner}
    return methods[case.method](cluster, int(cluster.pending[0]))


def by_message(cluster: Cluster, pod: int) -> Measured:
    """What kube-scheduler says: one evaluation."""
    with Stopwatch() as watch:
        scheduler = Scheduler(SchedulingState(cluster), default_profile())
        found = scheduler.evaluate(pod)
        message = found.message()
    wrong = () if message.startswith("0/") else (f"the message is {message!r}",)
    return Measured(watch.seconds, watch.cpu, {}, wrong)


def by_conflicts(cluster: Cluster, pod: int) -> Measured:
    """All minimal conflicts, each confirmed."""
    with Stopwatch() as watch:
        subject = subject_of(cluster, default_profile(), pod)
        found = minimal_conflicts(rules_of(subject), subject.nodes.total)
        minimal = [is_minimal(subject, rules) for rules in found.sets]
    wrong = () if minimal and all(minimal) and found.complete else ("not all are confirmed",)
    return Measured(watch.seconds, watch.cpu, {"conflicts": len(minimal)}, wrong)


def by_planner(cluster: Cluster, pod: int) -> Measured:
    """Conflicts, counting, the fewest evictions and all repairs, each tried on a copy."""
    with Stopwatch() as watch:
        found = explain_pods(cluster, [pod], default_profile(), ExplainOptions())
    values = {"conflicts": len(found.conflicts), "repairs": len(found.repairs)}
    return Measured(watch.seconds, watch.cpu, values, tuple(check(found)))
