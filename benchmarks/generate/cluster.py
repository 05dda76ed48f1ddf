"""The random cluster: which workloads there are, how big, and where their pods run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, NamedTuple

from benchmarks.generate.flavours import FLAVOURS, OPEN_POOLS, TAINTS, Machine, machines
from benchmarks.generate.identity import moment, random_name, random_uid
from benchmarks.generate.placement import Placer, Usage
from benchmarks.generate.requests import Overhead, with_requests
from benchmarks.generate.workloads import Kind, Workload

State = Literal["Running", "Pending", "Succeeded", "Terminating"]

NAMESPACES = ("checkout", "catalog", "identity", "search", "payments", "media", "analytics", "edge")
NOUNS = ("api", "worker", "gateway", "cache", "indexer", "sync", "web", "router", "feed", "mailer")
DAEMONS = (("kube-proxy", 100, 128), ("cni-agent", 100, 256), ("log-agent", 100, 200))
PRIORITY_CLASSES = (
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
    ("business-critical", 100_000),
    ("standard", 10_000),
    ("batch", -1_000),
)
PRIORITIES = dict(PRIORITY_CLASSES)
NARROW_POOLS = (("general", "compute"), ("memory",), ("compute",))
LARGEST_DEPLOYMENT = 2000
OVERSIZED_CPU_MILLI = 48_000
"""More than any flavour has, so such a pod waits for ever."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a dump is made from; equal parameters make equal bytes."""

    nodes: int
    pods: int
    seed: int = 1
    zones: int = 3
    utilisation: float = 0.7


class PlacedPod(NamedTuple):
    """One pod; the fields order as `kubectl get -A` lists pods. Node -1 means not bound."""

    namespace: str
    name: str
    workload: int
    node: int
    state: State
    ordinal: int


@dataclass(frozen=True, slots=True)
class RandomCluster:
    """Everything that a dump says, before it has a text."""

    parameters: Parameters
    machines: Sequence[Machine]
    workloads: Sequence[Workload]
    pods: Sequence[PlacedPod]


@dataclass(frozen=True, slots=True)
class Shares:
    """How many pods of each sort add up to the number asked for."""

    gpu: int
    infra: int
    stateful: int
    jobs: int
    pending: int
    terminating: int
    general: int


def random_cluster(parameters: Parameters) -> RandomCluster:
    """The cluster of these parameters."""
    rng = Random(parameters.seed)
    nodes = machines(parameters.nodes, parameters.zones, rng)
    shares = _shares(parameters, nodes)
    daemons = [_daemon(rng, name, cpu, memory, len(nodes)) for name, cpu, memory in DAEMONS]
    drawn = list(_drawn(rng, shares, nodes))
    overhead = Overhead(sum(cpu for _, cpu, _ in DAEMONS), sum(memory for *_, memory in DAEMONS))
    sized = with_requests(rng, drawn, nodes, parameters.utilisation, overhead)
    workloads = [*daemons, *sized, *_waiting(rng, shares.pending)]
    pods = _pods(rng, workloads, nodes)
    return RandomCluster(parameters, nodes, workloads, sorted(pods))


def _shares(parameters: Parameters, nodes: Sequence[Machine]) -> Shares:
    total = parameters.pods
    count = {name: sum(node.flavour.name == name for node in nodes) for name in ("gpu", "infra")}
    gpu, infra = min(3 * count["gpu"], total // 20), min(20 * count["infra"], total * 2 // 25)
    stateful, jobs = total * 2 // 25, total // 50
    pending, terminating = max(1, round(total * 0.003)), max(1, total // 2000)
    named = gpu + infra + stateful + jobs + pending + terminating
    general = total - len(DAEMONS) * len(nodes) - named
    if general < 1:
        message = (
            f"{total} pods are too few for {len(nodes)} nodes with {len(DAEMONS)} daemons each"
        )
        raise ValueError(message)
    return Shares(gpu, infra, stateful, jobs, pending, terminating, general)


def _base(rng: Random, kind: Kind, name: str, namespace: str, replicas: int) -> dict[str, Any]:
    """What every workload has."""
    return {
        "kind": kind,
        "name": name,
        "namespace": namespace,
        "replicas": replicas,
        "image": f"registry.example.com/{namespace}/{name}:1.{rng.randrange(60)}",
        "uid": random_uid(rng),
        "owner_uid": random_uid(rng),
        "revision": random_name(rng, 9),
        "created": moment(rng.randrange(86_400 * 60)),
    }


def _daemon(rng: Random, name: str, cpu_milli: int, memory_mib: int, nodes: int) -> Workload:
    return Workload(
        **_base(rng, "DaemonSet", name, "kube-system", nodes),
        pools=tuple(flavour.name for flavour in FLAVOURS),
        cpu_milli=cpu_milli,
        memory_mib=memory_mib,
        priority_class="system-node-critical",
        priority=PRIORITIES["system-node-critical"],
        tolerates=TAINTS,
    )


def _sizes(rng: Random, total: int, largest: int) -> Iterator[int]:
    """Heavy-tailed sizes that add up to the total."""
    while total:
        size = min(total, largest, int(rng.paretovariate(0.8)))
        total -= size
        yield size


def _drawn(rng: Random, shares: Shares, nodes: Sequence[Machine]) -> Iterator[Workload]:
    """Every workload that finds room, with its rules but not yet with its requests."""
    hosts = {pools: _hosts(nodes, pools) for pools in (OPEN_POOLS, *NARROW_POOLS)}
    largest = max(1, min(LARGEST_DEPLOYMENT, shares.general // 8))
    terminating = shares.terminating
    for number, size in enumerate(_sizes(rng, shares.general, largest)):
        drawn = _deployment(rng, number, size, hosts)
        if terminating and not drawn.anti_affinity and not drawn.host_hard:
            extra = min(terminating, max(1, size // 4))
            drawn, terminating = replace(drawn, terminating=extra), terminating - extra
        yield drawn
    if terminating:
        base = _base(rng, "Deployment", "legacy-api", "edge", 1)
        yield Workload(**base, pools=OPEN_POOLS, terminating=terminating - 1)
    for pool, total in (("gpu", shares.gpu), ("infra", shares.infra)):
        most = max(1, min(LARGEST_DEPLOYMENT, total // 3))
        for number, size in enumerate(_sizes(rng, total, most)):
            yield _pool_deployment(rng, f"{pool}-{NOUNS[number % 10]}-{number}", size, pool)
    for number, size in enumerate(_sizes(rng, shares.stateful, 40)):
        yield _stateful(rng, number, size)
    for number, size in enumerate(_sizes(rng, shares.jobs, 20)):
        base = _base(rng, "Job", f"report-{random_name(rng, 5)}-{number}", "batch", size)
        yield Workload(
            **base,
            pools=OPEN_POOLS,
            finished=number % 2 == 0,
            priority_class="batch",
            priority=PRIORITIES["batch"],
        )


def _deployment(
    rng: Random, number: int, size: int, hosts: Mapping[tuple[str, ...], int]
) -> Workload:
    """Six in ten of all Deployments spread hard over zones; hosts only where that can be met."""
    name, namespace = f"{rng.choice(NOUNS)}-{number}", rng.choice(NAMESPACES)
    pools: tuple[str, ...] = OPEN_POOLS
    if rng.random() < 0.12:
        narrow = rng.choice(NARROW_POOLS)
        if size <= hosts[narrow] // 2:
            pools = narrow
    apart = size <= hosts[pools] // 2
    draw = rng.random()
    priority_class = rng.choice(("", "", "standard", "business-critical"))
    return Workload(
        **_base(rng, "Deployment", name, namespace, size),
        pools=pools,
        pool_affinity=pools != OPEN_POOLS,
        zone_skew=rng.choice((1, 1, 1, 2)) if rng.random() < 0.66 else 0,
        host_skew=rng.choice((1, 1, 2, 3)) if draw < 0.55 else 0,
        host_hard=draw < 0.15 and apart,
        anti_affinity=draw > 0.95 and apart,
        priority_class=priority_class,
        priority=PRIORITIES.get(priority_class, 0),
        tolerates=("example.com/spot",) if rng.random() < 0.05 else (),
        env_count=rng.randrange(5),
        probes=rng.random() < 0.7,
        old_revisions=tuple(
            (random_name(rng, 9), random_uid(rng)) for _ in range(rng.choice((0, 0, 1, 2)))
        ),
        budget=max(1, size // 10) if size > 1 and rng.random() < 0.5 else 0,
    )


def _hosts(nodes: Sequence[Machine], pools: tuple[str, ...]) -> int:
    """Nodes of these pools that replicas dealt out evenly over the zones can use."""
    zones = [node.zone for node in nodes if node.flavour.name in pools]
    return min(zones.count(zone) for zone in set(zones)) * len(set(zones))


def _pool_deployment(rng: Random, name: str, size: int, pool: str) -> Workload:
    flavour = next(flavour for flavour in FLAVOURS if flavour.name == pool)
    return Workload(
        **_base(rng, "Deployment", name, "analytics" if flavour.gpus else "infra", size),
        pools=(pool,),
        pool_affinity=True,
        gpus=1 if flavour.gpus else 0,
        tolerates=(flavour.taint,),
        host_skew=1,
        probes=True,
        env_count=2,
    )


def _stateful(rng: Random, number: int, size: int) -> Workload:
    return Workload(
        **_base(rng, "StatefulSet", f"store-{number}", rng.choice(NAMESPACES), size),
        pools=OPEN_POOLS,
        zone_skew=1,
        zonal_volume=number % 2 == 0,
        priority_class="standard",
        priority=PRIORITIES["standard"],
        probes=True,
        env_count=2,
        budget=1 if size > 1 else 0,
    )


def _waiting(rng: Random, total: int) -> Iterator[Workload]:
    """Deployments that no node can take: a pool that isn't there, or more CPU than any node has."""
    for number, size in enumerate(_sizes(rng, total, 10)):
        oversized = number % 2 == 0
        yield Workload(
            **_base(rng, "Deployment", f"waiting-{number}", rng.choice(NAMESPACES), size),
            pools=(),
            cpu_milli=OVERSIZED_CPU_MILLI if oversized else 500,
            memory_mib=1024,
            missing_pool=not oversized,
            pending=size,
        )


def _pods(
    rng: Random, workloads: Sequence[Workload], nodes: Sequence[Machine]
) -> Iterator[PlacedPod]:
    """Daemons first, then the pods that are hardest to place."""
    usages = [Usage.of(node) for node in nodes]
    placer = Placer(usages, rng)
    untainted = [at for at, node in enumerate(nodes) if not node.flavour.taint]
    order = sorted(range(len(workloads)), key=lambda index: _difficulty(workloads[index]))
    for index in order:
        workload = workloads[index]
        if workload.kind == "DaemonSet":
            for usage in usages:
                usage.take(workload)
            hosts = list(range(len(nodes)))
        elif workload.pending:
            hosts = [-1] * workload.replicas
        elif workload.finished:
            hosts = rng.choices(untainted, k=workload.replicas)
        else:
            hosts = placer.place(workload, workload.replicas)
            hosts += placer.place(workload, workload.terminating)
        yield from _named(rng, workload, index, hosts)


def _difficulty(workload: Workload) -> tuple[bool, bool, int, str]:
    daemon = workload.kind == "DaemonSet"
    return (not daemon, not workload.pool_affinity, -workload.cpu_milli, workload.name)


def _named(
    rng: Random, workload: Workload, index: int, hosts: Sequence[int]
) -> Iterator[PlacedPod]:
    stem = workload.name
    if workload.kind == "Deployment":
        stem = f"{workload.name}-{workload.revision}"
    used: set[str] = set()
    for number, host in enumerate(hosts):
        name = f"{stem}-{number}"
        while workload.kind != "StatefulSet" and (name == f"{stem}-{number}" or name in used):
            name = f"{stem}-{random_name(rng, 5)}"
        used.add(name)
        yield PlacedPod(workload.namespace, name, index, host, _state(workload, number), number)


def _state(workload: Workload, number: int) -> State:
    if workload.pending:
        return "Pending"
    if workload.finished:
        return "Succeeded"
    return "Terminating" if number >= workload.replicas else "Running"
