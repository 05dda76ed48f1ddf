"""The text of a cluster: a v1 List streamed object by object in kubectl's order."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import BinaryIO, cast

from benchmarks.generate.cluster import (
    NAMESPACES,
    PRIORITY_CLASSES,
    PlacedPod,
    RandomCluster,
    State,
)
from benchmarks.generate.flavours import REGION, Machine
from benchmarks.generate.identity import image_digest, moment, random_name, random_uid
from benchmarks.generate.objects import (
    Json,
    claim,
    disruption_budget,
    metadata,
    namespace,
    node,
    node_labels,
    priority_class,
    service,
    zonal_volume,
)
from benchmarks.generate.pods import pod
from benchmarks.generate.template import Template, layout
from benchmarks.generate.workloads import (
    Workload,
    daemon_set,
    deployment,
    replica_set,
    stateful_set,
)

BEGINNING = moment(0)
NOW_SECONDS = 86_400 * 75
IMAGES_PER_NODE = 15
COMMON_IMAGES = tuple(f"registry.example.com/base/tool-{number}:2.{number}" for number in range(15))
GZIP_LEVEL = 3


@dataclass(frozen=True, slots=True)
class Style:
    """Whether to write managedFields, and whether to indent as kubectl does."""

    managed_fields: bool = True
    compact: bool = False


def write_dump(cluster: RandomCluster, path: Path, style: Style) -> None:
    """Writes the List; a name that ends in .gz is compressed. Holds one object at a time."""
    with ExitStack() as stack:
        out: BinaryIO = stack.enter_context(path.open("wb", buffering=1 << 20))
        if path.suffix == ".gz":
            packed = gzip.GzipFile("", "wb", GZIP_LEVEL, out, mtime=0)
            out = cast("BinaryIO", stack.enter_context(packed))
        out.write(b'{"apiVersion":"v1","items":[' if style.compact else HEAD)
        separator = b""
        for text in object_texts(cluster, style):
            out.write(separator)
            out.write(text.encode())
            separator = b"," if style.compact else b",\n"
        out.write(COMPACT_TAIL if style.compact else TAIL)


HEAD = b'{\n    "apiVersion": "v1",\n    "items": [\n'
TAIL = (
    b'\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
)
COMPACT_TAIL = b'],"kind":"List","metadata":{"resourceVersion":""}}\n'


def object_texts(cluster: RandomCluster, style: Style) -> Iterator[str]:
    """The text of every object, in the order of the kinds that the command line names."""
    rng = Random(f"text of {cluster.parameters.seed}")
    for made in _nodes(cluster, rng, style):
        yield layout(made, compact=style.compact)
    yield from _pods(cluster, rng, style)
    for made in _others(cluster, rng):
        yield layout(made, compact=style.compact)


def _version(rng: Random) -> str:
    return str(rng.randrange(10_000_000, 99_999_999))


def _pod_network(index: int) -> str:
    return f"10.{64 + index // 256}.{index % 256}"


def _nodes(cluster: RandomCluster, rng: Random, style: Style) -> Iterator[Json]:
    images: dict[int, set[str]] = defaultdict(set)
    for placed in cluster.pods:
        if placed.node >= 0 and len(images[placed.node]) < IMAGES_PER_NODE:
            images[placed.node].add(cluster.workloads[placed.workload].image)
    for index, machine in enumerate(cluster.machines):
        names = sorted(images[index])
        names += COMMON_IMAGES[: IMAGES_PER_NODE - len(names)]
        yield _node(machine, index, names, rng, style)


def _node(machine: Machine, index: int, images: list[str], rng: Random, style: Style) -> Json:
    flavour = machine.flavour
    labels = node_labels(machine.name, machine.zone, REGION, flavour.instance_type, flavour.name)
    annotations = {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }
    meta = metadata(
        machine.name, random_uid(rng), BEGINNING, _version(rng),
        annotations=annotations, labels=labels,
    )  # fmt: skip
    return node(
        meta,
        capacity=flavour.capacity(),
        allocatable=flavour.allocatable(),
        taints=flavour.taints(),
        address=machine.address,
        pod_cidr=f"{_pod_network(index)}.0/24",
        images=[_image(name) for name in images],
        machine=random_uid(rng),
        heartbeat=moment(NOW_SECONDS - rng.randrange(300)),
        unschedulable=machine.cordoned,
        with_managed_fields=style.managed_fields,
    )


def _image(name: str) -> Json:
    """An image has one size on every node, so the size comes from its name."""
    size = Random(name).randrange(20_000_000, 900_000_000)
    return {"names": [image_digest(name), name], "sizeBytes": size}


def _pods(cluster: RandomCluster, rng: Random, style: Style) -> Iterator[str]:
    @lru_cache(maxsize=64)
    def template(workload: int, state: State) -> Template:
        made = pod(
            cluster.workloads[workload], state, REGION, with_managed_fields=style.managed_fields
        )
        return Template(made, compact=style.compact)

    addresses: Counter[int] = Counter()
    for placed in cluster.pods:
        values = _common_values(placed, rng)
        workload = cluster.workloads[placed.workload]
        if placed.state == "Pending":
            values["message"] = _unschedulable_message(workload, cluster)
        else:
            addresses[placed.node] += 1
            values |= _bound_values(placed, cluster, addresses[placed.node], rng)
        yield template(placed.workload, placed.state).fill(values)


def _common_values(placed: PlacedPod, rng: Random) -> dict[str, str]:
    created = rng.randrange(86_400 * 60, NOW_SECONDS - 3600)
    return {
        "access": random_name(rng, 5),
        "created": moment(created),
        "deleted": moment(NOW_SECONDS),
        "index": str(placed.ordinal),
        "name": placed.name,
        "ready": moment(created + rng.randrange(4, 60)),
        "started": moment(created + 2),
        "uid": random_uid(rng),
        "version": _version(rng),
    }


def _bound_values(
    placed: PlacedPod, cluster: RandomCluster, address: int, rng: Random
) -> dict[str, str]:
    machine = cluster.machines[placed.node]
    return {
        "container": f"{rng.getrandbits(256):064x}",
        "host_ip": machine.address,
        "node": machine.name,
        "pod_ip": f"{_pod_network(placed.node)}.{address % 250 + 2}",
        "zone": machine.zone,
    }


def _unschedulable_message(workload: Workload, cluster: RandomCluster) -> str:
    """kube-scheduler's own text: each node counts for the first filter that refuses it."""
    reasons: Counter[str] = Counter()
    for machine in cluster.machines:
        if machine.cordoned:
            reasons["node(s) were unschedulable"] += 1
        elif machine.flavour.taint:
            reasons["node(s) had untolerated taint(s)"] += 1
        elif workload.missing_pool:
            reasons["node(s) didn't match Pod's node affinity/selector"] += 1
        else:
            reasons["Insufficient cpu"] += 1
    count = len(cluster.machines)
    histogram = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    available = f"0/{count} nodes are available: "
    return (
        f"{available}{histogram}. no new claims to deallocate, "
        f"preemption: {available}{count} Preemption is not helpful for scheduling."
    )


def _others(cluster: RandomCluster, rng: Random) -> Iterator[Json]:
    workloads = sorted(cluster.workloads, key=lambda made: (made.namespace, made.name))
    deployments = [made for made in workloads if made.kind == "Deployment"]
    stateful = [made for made in workloads if made.kind == "StatefulSet"]
    for made in deployments:
        yield deployment(made, _version(rng), made.replicas - made.pending)
    for made in deployments:
        revisions = [*made.old_revisions, (made.revision, made.owner_uid)]
        for number, revision in enumerate(revisions, 1):
            yield replica_set(made, _version(rng), revision, number, made.replicas - made.pending)
    yield from (stateful_set(made, _version(rng)) for made in stateful)
    yield from (daemon_set(made, _version(rng)) for made in workloads if made.kind == "DaemonSet")
    for made in workloads:
        if made.kind == "StatefulSet" or (made.kind == "Deployment" and made.probes):
            yield service(_meta(made, rng), _service_address(made, rng), made.selector)
    for made in workloads:
        if made.budget:
            healthy = made.replicas - made.pending
            budget = (made.selector, made.budget, made.replicas, healthy)
            yield disruption_budget(_meta(made, rng) | {"generation": 1}, *budget)
    yield from _volumes(cluster, rng)
    for name, value in sorted(PRIORITY_CLASSES):
        meta = metadata(name, random_uid(rng), BEGINNING, _version(rng), generation=1)
        yield priority_class(meta, value, f"Pods of class {name}.")
    for name in sorted({*NAMESPACES, "batch", "default", "infra", "kube-system"}):
        yield namespace(metadata(name, random_uid(rng), BEGINNING, _version(rng)))


def _meta(made: Workload, rng: Random) -> Json:
    uid, version = random_uid(rng), _version(rng)
    return metadata(made.name, uid, made.created, version, made.namespace, labels=made.selector)


def _service_address(made: Workload, rng: Random) -> str:
    if made.kind == "StatefulSet":
        return "None"
    return f"172.20.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def _volumes(cluster: RandomCluster, rng: Random) -> Iterator[Json]:
    """Volumes, then the claims bound to them, for the StatefulSet pods that have data."""
    pairs = []
    for placed in cluster.pods:
        made = cluster.workloads[placed.workload]
        if not made.zonal_volume:
            continue
        uid = random_uid(rng)
        claim_meta = metadata(
            f"data-{placed.name}", uid, made.created, _version(rng), made.namespace,
            labels=made.selector,
        )  # fmt: skip
        zone = cluster.machines[placed.node].zone
        labels = {"topology.kubernetes.io/region": REGION, "topology.kubernetes.io/zone": zone}
        meta = metadata(f"pvc-{uid}", random_uid(rng), made.created, _version(rng), labels=labels)
        pairs.append((zonal_volume(meta, claim_meta, zone, "50Gi"), claim_meta))
    yield from sorted((volume for volume, _ in pairs), key=lambda made: made["metadata"]["name"])
    yield from (claim(meta, f"pvc-{meta['uid']}", "50Gi") for _, meta in pairs)
