"""Which pod runs where: zones in turn, then the least used node with room.

Hard zone spread holds because replicas take the zones round-robin; hard hostname spread and
anti-affinity hold because a node leaves the search once it has its share of a workload.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.generate.flavours import Machine
from benchmarks.generate.workloads import Workload


class NoRoomError(ValueError):
    """The pods asked for don't fit on the nodes asked for."""


@dataclass(slots=True)
class Usage:
    """What is left on one machine; the only thing that changes while pods are placed."""

    machine: Machine
    cpu_milli: int
    memory_mib: int
    gpus: int
    pods: int

    @classmethod
    def of(cls, machine: Machine) -> Usage:
        """An empty machine."""
        flavour = machine.flavour
        return cls(machine, flavour.cpu_milli, flavour.memory_mib, flavour.gpus, flavour.max_pods)

    def fits(self, workload: Workload) -> bool:
        """Whether one more pod of the workload has room."""
        return (
            self.pods >= 1
            and self.cpu_milli >= workload.cpu_milli
            and self.memory_mib >= workload.memory_mib
            and self.gpus >= workload.gpus
        )

    def take(self, workload: Workload) -> None:
        """One more pod of the workload runs here."""
        self.pods -= 1
        self.cpu_milli -= workload.cpu_milli
        self.memory_mib -= workload.memory_mib
        self.gpus -= workload.gpus

    @property
    def load(self) -> float:
        """The larger of the used fractions of cpu and memory."""
        flavour = self.machine.flavour
        free = min(self.cpu_milli / flavour.cpu_milli, self.memory_mib / flavour.memory_mib)
        return 1 - free


Entry = tuple[float, int]


@dataclass(slots=True)
class Placer:
    """Heaps of nodes by load for each (pools, zone); stale entries are refreshed when popped."""

    usages: Sequence[Usage]
    rng: Random
    _heaps: dict[tuple[tuple[str, ...], str], list[Entry]] = field(default_factory=dict)

    def place(self, workload: Workload, count: int) -> list[int]:
        """Node indexes for `count` pods of a workload."""
        zones = self._zones(workload.pools)
        self.rng.shuffle(zones)
        held: Counter[int] = Counter()
        full: dict[str, list[Entry]] = defaultdict(list)
        chosen = []
        for number in range(count):
            turn = number % len(zones) if workload.zone_skew else self.rng.randrange(len(zones))
            order = [zones[turn]]
            if not workload.zone_skew:
                order += [zone for zone in zones if zone != zones[turn]]
            chosen.append(self._take(workload, order, held, full))
        for zone, entries in full.items():
            for entry in entries:
                heapq.heappush(self._heap(workload.pools, zone), entry)
        return chosen

    def _take(
        self,
        workload: Workload,
        zones: Iterable[str],
        held: Counter[int],
        full: dict[str, list[Entry]],
    ) -> int:
        for zone in zones:
            index = self._least_used(workload, zone)
            if index is None:
                continue
            usage = self.usages[index]
            usage.take(workload)
            held[index] += 1
            entry = (usage.load, index)
            if held[index] < workload.host_cap:
                heapq.heappush(self._heap(workload.pools, zone), entry)
            else:
                full[zone].append(entry)
            return index
        message = f"no room for {workload.namespace}/{workload.name}: use more nodes or fewer pods"
        raise NoRoomError(message)

    def _least_used(self, workload: Workload, zone: str) -> int | None:
        """Pops the least used node of the zone with room; those without go back."""
        heap = self._heap(workload.pools, zone)
        without_room: list[Entry] = []
        found = None
        while heap:
            load, index = heapq.heappop(heap)
            usage = self.usages[index]
            if usage.load > load:
                heapq.heappush(heap, (usage.load, index))
            elif usage.fits(workload):
                found = index
                break
            else:
                without_room.append((load, index))
        for entry in without_room:
            heapq.heappush(heap, entry)
        return found

    def _zones(self, pools: tuple[str, ...]) -> list[str]:
        machines = (usage.machine for usage in self.usages)
        return sorted({machine.zone for machine in machines if machine.flavour.name in pools})

    def _heap(self, pools: tuple[str, ...], zone: str) -> list[Entry]:
        key = (pools, zone)
        if key not in self._heaps:
            entries = [
                (usage.load, index)
                for index, usage in enumerate(self.usages)
                if usage.machine.zone == zone and usage.machine.flavour.name in pools
            ]
            heapq.heapify(entries)
            self._heaps[key] = entries
        return self._heaps[key]
