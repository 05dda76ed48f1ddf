"""Pods that wait and nodes that could be added: what autoscalers are for.

The generic instance types are those of Karpenter's generator: 12 sizes, 2, 4 or 8 GiB for each
core, 0.025 per core and 0.001 per GB and hour, on demand. The mix of pods is that of its scheduling
benchmark: five equal parts without rules, spread over zones, spread over hosts, together in a zone,
and alone on a host; here in workloads of 3 to 30 replicas instead of single pods.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import planner
from planner.api.load import documents_of, read_options
from planner.cluster import PENDING, Cluster
from planner.examples import example_path
from planner.pools import Pool, pools_in
from planner.pools.read import SAMPLE_FILE
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sources.read import RawDocument
from planner_models.node import HOSTNAME, ZONE

Json = dict[str, Any]
TRACE = Path(__file__).parent / "openb_trace"
ZONES = ("zone-a", "zone-b", "zone-c")
SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
FAMILIES = {"c": 2, "s": 4, "m": 8}
"""GiB for each core."""
CPU_MILLI = (100, 250, 500, 1000, 1500)
MEMORY_MI = (100, 256, 512, 1024, 2048, 4096)
MORE_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256)
LEAST, MOST, SMALLER = 3, 30, 17
"""Replicas of a workload; and the most where there are as many workloads as 10 pods make."""
POOLS = 50
NODE_CORES = 4
"""Of the nodes that are there before growth."""
GPU = "alibabacloud.com/gpu-milli"


def price(cores: Decimal, memory_bytes: int, gpus: Decimal = Decimal(0)) -> str:
    """Per hour: 0.025 for a core, 0.001 for a GB, 1 for a GPU."""
    memory = Decimal(memory_bytes) / 10**12
    return str((cores * Decimal("0.025") + memory + gpus).quantize(Decimal("0.000001")))


def generic_pools() -> tuple[Pool, ...]:
    """36 types in three zones."""
    return _of_sizes(SIZES)


def many_pools() -> tuple[Pool, ...]:
    """50 types in three zones: sizes between those of the table as well."""
    return _of_sizes(MORE_SIZES)[:POOLS]


def _of_sizes(sizes: Sequence[int]) -> tuple[Pool, ...]:
    return _pools(
        [
            _template(
                f"{family}-{cores}x",
                {
                    "cpu": str(cores),
                    "memory": f"{cores * ratio}Gi",
                    "pods": str(min(1024, 16 * cores)),
                },
                price(Decimal(cores), cores * ratio << 30),
                ZONES,
            )
            for cores in sizes
            for family, ratio in FAMILIES.items()
        ]
    )


def sample_pools(zones: Sequence[str]) -> tuple[Pool, ...]:
    """Planner's sample of a cloud's types, with what the kubelet keeps taken off."""
    requirement = {"key": ZONE, "operator": "In", "values": list(zones)}
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "any"},
        "spec": {"template": {"spec": {"requirements": [requirement]}}},
    }
    return _pools([pool], str(SAMPLE_FILE))


def _pools(objects: Sequence[Json], *files: str) -> tuple[Pool, ...]:
    options = read_options(None, skip_invalid=False)
    texts = [io.BytesIO(json.dumps(each).encode()) for each in objects]
    documents = documents_of([*texts, *files], options)
    return pools_in(each for each in documents if isinstance(each, RawDocument)).pools


def _template(
    name: str, room: Json, cost: str, zones: Sequence[str], labels: Json | None = None
) -> Json:
    annotations = {"planner/price": cost, "planner/zones": ",".join(zones)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}, "annotations": annotations},
        "status": {"capacity": room, "allocatable": room},
    }


def diverse(pods: int, seed: int, most: int = MOST) -> Cluster:
    """About so many waiting pods, and no node that could take one; so many replicas at most."""
    return _loaded([*_control_plane(), *_workloads(pods, seed, most)])


def running(pods: int, seed: int) -> tuple[Cluster, dict[str, int]]:
    """The same workloads at half their size on nodes that fit; and the sizes that they grow to."""
    workloads = list(_workloads(pods, seed))
    full = {each["metadata"]["name"]: each["spec"]["replicas"] for each in workloads}
    for each in workloads:
        each["spec"]["replicas"] = max(1, each["spec"]["replicas"] // 2)
    cpu = sum(_milli(each) * each["spec"]["replicas"] for each in workloads)
    count = max(5, -(-cpu * 11 // (10 * 3 * NODE_CORES * 1000)))
    nodes = [_node(f"old-{i}", ZONES[i % 3]) for i in range(3 * count)]
    return _loaded([*_control_plane(), *nodes, *workloads]), full


def outage(zone: str, seed: int) -> Cluster:
    """The packaged cluster, its workloads scaled up at random, after a zone is gone."""
    draw = random.Random(seed)
    cluster = json.loads(example_path("zone-outage-scaled").read_text(encoding="utf-8"))
    lost = {
        each["metadata"]["name"]
        for each in cluster["items"]
        if each["kind"] == "Node" and each["metadata"]["labels"][ZONE] == zone
    }
    wanted: dict[str, int] = {}
    for each in cluster["items"]:
        if each["kind"] == "Deployment":
            factor = draw.choice((1, 1, 1.5, 2))
            wanted[each["metadata"]["name"]] = int(each["spec"]["replicas"] * factor)
    kept = []
    for each in cluster["items"]:
        owners = each["metadata"].get("ownerReferences") or [{"name": each["metadata"]["name"]}]
        owner = owners[0]["name"]
        if each["kind"] in ("Deployment", "ReplicaSet") and owner in wanted:
            each["spec"]["replicas"] = wanted[owner] if each["spec"]["replicas"] else 0
        on_lost = each["kind"] == "Pod" and each["spec"].get("nodeName") in lost
        if not on_lost and each["metadata"]["name"] not in lost:
            kept.append(each)
    return _loaded(kept)


def openb(part: str) -> tuple[Cluster, tuple[Pool, ...]]:
    """All pods of a part of the openb trace wait; pools are the shapes of its nodes."""
    known = planner.load(str(TRACE / f"openb-{part}.json.gz")).snapshot
    shapes: dict[tuple[object, ...], tuple[str, Json, Json]] = {}
    for node in known.nodes:
        room = dict(node.allocatable)
        labels = {k: v for k, v in node.labels.items() if k not in (HOSTNAME, ZONE)}
        key = (*sorted(room.items()), *sorted(labels.items()))
        text = {name: f"{n}m" if name == "cpu" else str(n) for name, n in room.items()}
        shapes.setdefault(key, (f"shape-{len(shapes)}", text, labels))
    zones = sorted({node.labels[ZONE] for node in known.nodes})
    pools = _pools(
        [
            _template(name, room, _price_of(room), zones, labels)
            for name, room, labels in shapes.values()
        ]
    )
    empty = known.with_placement(dict.fromkeys(range(len(known.pods)), PENDING))
    return empty.without_nodes(range(len(known.nodes))).with_placement(
        dict.fromkeys(range(len(known.pods)), PENDING)
    ), pools


def _price_of(room: Json) -> str:
    cores = Decimal(str(room["cpu"]).removesuffix("m")) / 1000
    return price(cores, int(room["memory"]), Decimal(int(room.get(GPU, 0))) / 1000)


def _loaded(objects: Sequence[Json]) -> Cluster:
    """The cluster after kube-scheduler has placed what it can."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    snapshot = planner.load(io.BytesIO(text.encode())).snapshot
    return simulate(snapshot, [default_profile()]).final


def _control_plane() -> Iterator[Json]:
    """A node in each zone that takes nobody, so that zones are domains; it is no host of any rule.

    A host that takes nobody would count with 0 pods, and spread over hosts would be impossible.
    """
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    room = {"cpu": "2", "memory": "4Gi", "pods": "10"}
    for zone in ZONES:
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"control-plane-{zone}", "labels": {ZONE: zone}},
            "spec": {"taints": [taint]},
            "status": {"capacity": room, "allocatable": room},
        }


def _milli(workload: Json) -> int:
    container = workload["spec"]["template"]["spec"]["containers"][0]
    return int(container["resources"]["requests"]["cpu"].removesuffix("m"))


def _node(name: str, zone: str) -> Json:
    room = {"cpu": str(NODE_CORES), "memory": f"{4 * NODE_CORES}Gi", "pods": "64"}
    labels = {HOSTNAME: name, ZONE: zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room},
    }


def _workloads(pods: int, seed: int, most: int = MOST) -> Iterator[Json]:
    """Deployments of 3 replicas or more, one of each of the five parts in turn."""
    draw, left, number = random.Random(seed), pods, 0
    while left > 0:
        replicas = min(max(left, 1), draw.randint(LEAST, most))
        left -= replicas
        name = f"app-{number:03d}"
        requests = {"cpu": f"{draw.choice(CPU_MILLI)}m", "memory": f"{draw.choice(MEMORY_MI)}Mi"}
        labels = {"app": name}
        container = {"name": "main", "resources": {"requests": requests}}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [container], **_rules(number % 5, labels)},
        }
        yield {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": template,
            },
        }
        number += 1


def _rules(part: int, labels: Json) -> Json:
    selector = {"matchLabels": labels}
    if part in (1, 2):
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE if part == 1 else HOSTNAME,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": selector,
        }
        return {"topologySpreadConstraints": [constraint]}
    if part in (3, 4):
        kind, key = ("podAffinity", ZONE) if part == 3 else ("podAntiAffinity", HOSTNAME)
        terms = [{"topologyKey": key, "labelSelector": selector}]
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
    return {}
