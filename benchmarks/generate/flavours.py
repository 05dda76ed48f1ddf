"""Machines: five flavours of a cloud provider over a few zones."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from benchmarks.generate.objects import Json

REGION = "eu-1"
CORDONED_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Flavour:
    """A node pool's machine type; the sizes are allocatable, after the kubelet's reserve."""

    name: str
    instance_type: str
    share: float
    cores: int
    memory_gib: int
    gpus: int = 0
    taint: str = ""
    max_pods: int = 110

    @property
    def cpu_milli(self) -> int:
        """Allocatable CPU."""
        return self.cores * 1000 - 110

    @property
    def memory_mib(self) -> int:
        """Allocatable memory."""
        return self.memory_gib * 1024 * 94 // 100

    def capacity(self) -> dict[str, str]:
        """The whole machine, as the kubelet reports it."""
        return self._sizes(str(self.cores), self.memory_gib * 1024)

    def allocatable(self) -> dict[str, str]:
        """What pods may request."""
        return self._sizes(f"{self.cpu_milli}m", self.memory_mib)

    def taints(self) -> list[Json]:
        """Pools with a purpose keep other pods away."""
        if not self.taint:
            return []
        return [{"effect": "NoSchedule", "key": self.taint, "value": "true"}]

    def _sizes(self, cpu: str, memory_mib: int) -> dict[str, str]:
        sizes = {
            "cpu": cpu,
            "ephemeral-storage": "209702892Ki",
            "hugepages-1Gi": "0",
            "hugepages-2Mi": "0",
            "memory": f"{memory_mib * 1024}Ki",
            "pods": str(self.max_pods),
        }
        return sizes | ({"nvidia.com/gpu": str(self.gpus)} if self.gpus else {})


FLAVOURS = (
    Flavour("general", "g6.4xlarge", 0.5, 16, 64),
    Flavour("compute", "c6.8xlarge", 0.2, 32, 64),
    Flavour("memory", "r6.4xlarge", 0.15, 16, 128),
    Flavour("gpu", "p6.8xlarge", 0.05, 32, 128, gpus=4, taint="nvidia.com/gpu"),
    Flavour("infra", "g6.2xlarge", 0.1, 8, 32, taint="dedicated.example.com/infra"),
)
OPEN_POOLS = tuple(flavour.name for flavour in FLAVOURS if not flavour.taint)
TAINTS = tuple(flavour.taint for flavour in FLAVOURS if flavour.taint)


@dataclass(frozen=True, slots=True)
class Machine:
    """One node."""

    name: str
    zone: str
    flavour: Flavour
    address: str
    cordoned: bool


def machines(count: int, zones: int, rng: Random) -> list[Machine]:
    """Each flavour's share of the nodes, dealt out over the zones in turn."""
    zone_names = [f"{REGION}{chr(ord('a') + number)}" for number in range(zones)]
    tainted = {flavour.name: max(1, round(flavour.share * count)) for flavour in FLAVOURS[1:]}
    numbers = {"general": count - sum(tainted.values()), **tainted}
    if numbers["general"] < zones:
        message = f"{count} nodes are too few for {zones} zones and {len(FLAVOURS)} flavours"
        raise ValueError(message)
    cordoned = set(rng.sample(range(count), round(CORDONED_SHARE * count)))
    made: list[Machine] = []
    for flavour in FLAVOURS:
        for number in range(numbers[flavour.name]):
            index = len(made)
            address = f"10.{index // 62500 + 1}.{index // 250 % 250}.{index % 250 + 4}"
            name = f"{flavour.name}-{rng.getrandbits(32):08x}-{number}"
            zone = zone_names[number % zones]
            made.append(Machine(name, zone, flavour, address, index in cordoned))
    return sorted(made, key=lambda machine: machine.name)
