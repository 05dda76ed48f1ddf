"""What the LimitRanger admission plugin does to a new pod: defaults first, then its limits.

Defaults fill what containers leave out; limits refuse the pod. Type Container looks at each
container and init container, type Pod at their sum. Pods in a cluster went through this already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner_models.limit_range import CONTAINER, POD, LimitRange, LimitRangeItem
from planner_models.pod import Container, PodSpec
from planner_models.quantity import NANO, format_resource
from planner_models.resources import (
    CPU,
    MEMORY,
    container_limits,
    container_requests,
    in_scheduler_units,
)

_Amounts = Mapping[str, int]


@dataclass(frozen=True)
class Refusal:
    """Why the API server would not create a pod; `field` is a path inside its spec."""

    message: str
    field: str


class LimitRanger:
    """The LimitRanges of an input, by namespace; of several the names decide who is first."""

    def __init__(self, ranges: Iterable[LimitRange]) -> None:
        self._ranges: dict[str, list[LimitRange]] = defaultdict(list)
        for each in sorted(ranges, key=lambda found: found.name):
            self._ranges[each.namespace].append(each)

    def covers(self, namespace: str) -> bool:
        """Whether pods of this namespace are looked at."""
        return namespace in self._ranges

    def defaulted(self, namespace: str, spec: PodSpec) -> PodSpec:
        """The spec with the limits and requests that its containers leave out."""
        for item in self._items(namespace, CONTAINER):
            spec = spec.replace(
                containers=tuple(_filled(each, item) for each in spec.containers),
                init_containers=tuple(_filled(each, item) for each in spec.init_containers),
            )
        return spec

    def refusal(self, namespace: str, spec: PodSpec) -> Refusal | None:
        """The first thing for which the pod, defaulted, would be refused."""
        return next(self._refusals(namespace, spec), None)

    def _items(self, namespace: str, kind: str) -> Iterator[LimitRangeItem]:
        for each in self._ranges.get(namespace, ()):
            yield from (item for item in each.spec.limits if item.type == kind)

    def _refusals(self, namespace: str, spec: PodSpec) -> Iterator[Refusal]:
        lists: tuple[tuple[str, Sequence[Container]], ...] = (
            ("containers", spec.containers),
            ("initContainers", spec.init_containers),
        )
        for item in self._items(namespace, CONTAINER):
            for name, containers in lists:
                for index, each in enumerate(containers):
                    own = each.resources
                    field = f"{name}[{index}].resources"
                    for broken in _broken(item, own.requests, own.limits):
                        yield Refusal(f"a LimitRange {broken}", field)
                    for broken in _above(own.requests, own.limits):
                        yield Refusal(f"a LimitRange {broken}", field)
        for item in self._items(namespace, POD):
            requests = {**container_requests(spec), **_pod_level(spec.resources.requests)}
            limits = {**container_limits(spec), **_pod_level(spec.resources.limits)}
            for broken in _broken(item, requests, limits):
                yield Refusal(f"a LimitRange {broken} in a pod", "containers")


def _filled(container: Container, item: LimitRangeItem) -> Container:
    own = container.resources
    resources = own.replace(
        limits={**item.default_limits, **own.limits},
        requests={**item.default_requests, **own.requests},
    )
    return container.replace(resources=resources)


def _pod_level(amounts: _Amounts) -> dict[str, int]:
    """What the plugin takes from `spec.resources` in the place of the sum."""
    return {name: amount for name, amount in amounts.items() if name in (CPU, MEMORY)}


def _broken(item: LimitRangeItem, requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    """The limits that the amounts break. A bound on what nobody asks for is broken, too."""
    for name, least in item.min.items():
        if requests.get(name, -1) < least or limits.get(name, least) < least:
            yield f"asks for at least {_text(name, least)} of {name}"
    for name, most in item.max.items():
        if limits.get(name, most + 1) > most or requests.get(name, most) > most:
            yield f"allows at most {_text(name, most)} of {name}"
    for name, ratio in item.max_limit_request_ratio.items():
        request, limit = requests.get(name, 0), limits.get(name, 0)
        if not request or not limit or limit * NANO > ratio * request:
            yield f"allows a {name} limit of at most {ratio / NANO:g} times the request"


def _above(requests: _Amounts, limits: _Amounts) -> Iterator[str]:
    """A default limit below a container's own request: the API server then refuses the pod."""
    for name, limit in limits.items():
        if requests.get(name, 0) > limit:
            yield f"sets a {name} limit of {_text(name, limit)}, below the request"


def _text(name: str, amount: int) -> str:
    return format_resource(name, in_scheduler_units({name: amount})[name])
