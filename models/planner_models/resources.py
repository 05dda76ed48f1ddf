"""What a pod needs: the scheduler's arithmetic over containers, init containers and sidecars.

The API server rounds every amount up to thousandths when it reads it. What is summed from them is
then counted in the scheduler's own units: milli-cores for `cpu`, whole units (bytes, pieces) for
everything else, rounded up once per pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Protocol

from pydantic import AfterValidator, Field

from planner_models.base import KubeModel
from planner_models.quantity import (
    NonNegativeResourceList,
    milli_value,
    parse_quantity,
    whole_value,
)

CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
EPHEMERAL_STORAGE = "ephemeral-storage"

DEFAULT_MILLI_CPU_REQUEST = parse_quantity("100m")
DEFAULT_MEMORY_REQUEST = parse_quantity("200Mi")

_NON_ZERO = {CPU: DEFAULT_MILLI_CPU_REQUEST, MEMORY: DEFAULT_MEMORY_REQUEST}
_NANO_PER_MILLI = 10**6


def _in_thousandths(amounts: dict[str, int]) -> dict[str, int]:
    """Nano-units rounded up to the thousandths that the API server stores."""
    return {name: -(-nano // _NANO_PER_MILLI) * _NANO_PER_MILLI for name, nano in amounts.items()}


Amounts = Annotated[NonNegativeResourceList, AfterValidator(_in_thousandths)]
"""Resources in nano-units, whole thousandths, none negative."""


class ResourceClaim(KubeModel):
    """An entry of `resources.claims` (dynamic resource allocation)."""

    name: str


class ResourceRequirements(KubeModel):
    """`resources` of a container or of the whole pod, in nano-units."""

    requests: Amounts = Field(default_factory=dict)
    limits: Amounts = Field(default_factory=dict)
    claims: tuple[ResourceClaim, ...] = ()


class _Container(Protocol):
    @property
    def resources(self) -> ResourceRequirements: ...
    @property
    def sidecar(self) -> bool: ...


class _PodSpec(Protocol):
    @property
    def containers(self) -> tuple[_Container, ...]: ...
    @property
    def init_containers(self) -> tuple[_Container, ...]: ...
    @property
    def resources(self) -> ResourceRequirements: ...
    @property
    def overhead(self) -> Mapping[str, int]: ...
    @property
    def requests(self) -> Mapping[str, int]: ...


def is_pod_level(resource: str) -> bool:
    """Whether `spec.resources` may set this resource for the whole pod (KEP 2837)."""
    return resource in (CPU, MEMORY) or resource.startswith("hugepages-")


def in_scheduler_units(amounts: Mapping[str, int]) -> dict[str, int]:
    """Nano-units to milli-cores for cpu and whole units for the rest, rounded up."""
    return {
        name: milli_value(nano) if name == CPU else whole_value(nano)
        for name, nano in amounts.items()
    }


def pod_requests(spec: _PodSpec) -> dict[str, int]:
    """The pod's requests as NodeResourcesFit counts them, in scheduler units."""
    return in_scheduler_units(_pod_requests(spec, {}))


def non_zero_requests(spec: _PodSpec) -> tuple[int, int]:
    """(milli-cpu, memory bytes) that a running pod counts with when nodes are scored.

    Containers without a request count 100m and 200Mi, an explicit 0 stays 0. Where the pod sets
    requests at pod level, only a resource that nobody requests gets the default.
    """
    if all(_asks_for_both(each) for each in (*spec.containers, *spec.init_containers)):
        return spec.requests.get(CPU, 0), spec.requests.get(MEMORY, 0)
    missing = _NON_ZERO
    if any(is_pod_level(name) for name in spec.resources.requests):
        requested = _pod_requests(spec, {})
        missing = {name: amount for name, amount in _NON_ZERO.items() if name not in requested}
    units = in_scheduler_units(_pod_requests(spec, missing))
    return units.get(CPU, 0), units.get(MEMORY, 0)


def _asks_for_both(container: _Container) -> bool:
    requests = container.resources.requests
    return CPU in requests and MEMORY in requests


def scored_requests(spec: _PodSpec) -> dict[str, int]:
    """What NodeResourcesFit adds for the incoming pod when it scores a node.

    kube-scheduler's scorer does not know pod-level requests here: containers and overhead alone
    count, with the same defaults for silent containers.
    """
    total = _aggregate((c, {**_NON_ZERO, **c.resources.requests}) for c in _ordered(spec))
    _add(total, spec.overhead)
    return in_scheduler_units(total)


def container_requests(spec: _PodSpec) -> dict[str, int]:
    """Requests (nano) over containers and init containers alone, without pod level and overhead."""
    return _aggregate((c, c.resources.requests) for c in _ordered(spec))


def container_limits(spec: _PodSpec) -> dict[str, int]:
    """Limits (nano) aggregated like requests; needed to default pod-level huge pages."""
    return _aggregate((c, c.resources.limits) for c in _ordered(spec))


def _pod_requests(spec: _PodSpec, missing: Mapping[str, int]) -> dict[str, int]:
    total = _aggregate((c, {**missing, **c.resources.requests}) for c in _ordered(spec))
    for name, amount in spec.resources.requests.items():
        if is_pod_level(name):
            total[name] = amount
    _add(total, spec.overhead)
    return total


def _ordered(spec: _PodSpec) -> Iterable[_InitOrMain]:
    yield from (_InitOrMain(c, init=False) for c in spec.containers)
    yield from (_InitOrMain(c, init=True) for c in spec.init_containers)


class _InitOrMain:
    """A container and the place it was listed in, which decides how its request counts."""

    __slots__ = ("init", "resources", "sidecar")

    def __init__(self, container: _Container, *, init: bool) -> None:
        self.init = init
        self.resources = container.resources
        self.sidecar = init and container.sidecar


def _aggregate(amounts: Iterable[tuple[_InitOrMain, Mapping[str, int]]]) -> dict[str, int]:
    """max(containers + sidecars, largest init step + the sidecars started before it): KEP 753."""
    running: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    largest_init: dict[str, int] = {}
    for container, request in amounts:
        if not container.init:
            _add(running, request)
            continue
        if container.sidecar:
            _add(running, request)
            _add(sidecars, request)
            step: Mapping[str, int] = sidecars
        else:
            step = dict(request)
            _add(step, sidecars)
        for name, amount in step.items():
            largest_init[name] = max(largest_init.get(name, 0), amount)
    for name, amount in largest_init.items():
        running[name] = max(running.get(name, 0), amount)
    return running


def _add(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount
