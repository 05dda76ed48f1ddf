"""How much each pod asks for, so that the cluster is used to the wanted degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from benchmarks.generate.flavours import OPEN_POOLS, Machine
from benchmarks.generate.workloads import Workload

MEMORY_SHARE = 0.8
"""Memory is requested to this part of the CPU's utilisation: CPU is what runs out first."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """What the daemons take on every node."""

    cpu_milli: int
    memory_mib: int


def with_requests(
    rng: Random,
    drawn: Sequence[Workload],
    nodes: Sequence[Machine],
    utilisation: float,
    overhead: Overhead,
) -> list[Workload]:
    """The workloads with requests; each separate set of pools reaches the utilisation by itself.

    No request exceeds a fifth of the smallest node (a quarter where GPUs limit the pods), so that
    the gaps on nodes stay small enough for everything to fit.
    """
    sized: list[Workload] = []
    for pools in (OPEN_POOLS, ("gpu",), ("infra",)):
        group = [workload for workload in drawn if workload.pools[0] in pools]
        flavours = [node.flavour for node in nodes if node.flavour.name in pools]
        counts = [running_pods(workload) for workload in group]
        cpu_goal = sum(flavour.cpu_milli for flavour in flavours) * utilisation
        memory_goal = sum(flavour.memory_mib for flavour in flavours) * utilisation * MEMORY_SHARE
        part = 4 if flavours[0].gpus else 5
        cpus = [rng.lognormvariate(0, 0.7) for _ in group]
        memories = [cpu * rng.uniform(0.6, 1.6) for cpu in cpus]
        cpu_sizes = scaled(
            cpus, counts, cpu_goal - len(flavours) * overhead.cpu_milli,
            step=10, most=min(flavour.cpu_milli for flavour in flavours) // part,
        )  # fmt: skip
        memory_sizes = scaled(
            memories, counts, memory_goal - len(flavours) * overhead.memory_mib,
            step=16, most=min(flavour.memory_mib for flavour in flavours) // part,
        )  # fmt: skip
        sized += [
            replace(workload, cpu_milli=cpu, memory_mib=memory)
            for workload, cpu, memory in zip(group, cpu_sizes, memory_sizes, strict=True)
        ]
    return sized


def running_pods(workload: Workload) -> int:
    """Pods that need room: completed ones don't, terminating ones still do."""
    return 0 if workload.finished else workload.replicas + workload.terminating


def scaled(
    wishes: Sequence[float], counts: Sequence[int], goal: float, *, step: int, most: int
) -> list[int]:
    """Multiples of the step in proportion to the wishes, capped, whose total nears the goal."""
    wanted = sum(wish * count for wish, count in zip(wishes, counts, strict=True))
    factor = goal / max(wanted, 1e-9)
    values = [step] * len(wishes)
    for _ in range(6):
        values = [min(most, max(1, int(wish * factor / step)) * step) for wish in wishes]
        total = sum(value * count for value, count in zip(values, counts, strict=True))
        factor *= goal / max(1, total)
    return values
