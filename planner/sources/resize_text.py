"""Which pods are being resized in place: those whose status differs from their spec.

Since v1.33 every running container repeats its resources in the status. Nearly all say the same as
the spec; to find that out costs one comparison of texts and one look-up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from planner.sources.pod_text import (
    ABSENT,
    NOTHING,
    ContainerStatusText,
    ContainerText,
    Raw,
    SpecText,
    StatusText,
)
from planner_models.pod_status import INFEASIBLE, RESIZE_PENDING


class ResourcesText(msgspec.Struct, omit_defaults=True, gc=False):
    """What a status says: `resources` and `allocatedResources`."""

    resources: Raw
    allocated_resources: Raw = NOTHING


class ResizeText(msgspec.Struct, omit_defaults=True, gc=False):
    """The statuses that differ from the spec."""

    containers: dict[str, ResourcesText] = {}
    pod: ResourcesText | None = None
    infeasible: bool = False


class _Requests(msgspec.Struct, gc=False):
    requests: dict[str, Any] | None = None


_encode = msgspec.json.Encoder().encode


def resize_of(spec: SpecText, status: StatusText) -> bytes:
    """The resize that is under way, as a `ResizeText`; empty if none is."""
    differing: dict[str, ResourcesText] = {}
    if spec.containers and status.container_statuses:
        _compare(spec.containers, status.container_statuses, differing)
    if spec.init_containers and status.init_container_statuses:
        _compare(spec.init_containers, status.init_container_statuses, differing)
    of_pod = status.resources is not NOTHING and _differs(spec.resources, status)
    if not differing and not of_pod:
        return b""
    pod = _texts(status) if of_pod else None
    return _encode(ResizeText(differing, pod, _infeasible(status)))


def _compare(
    containers: list[ContainerText],
    statuses: list[ContainerStatusText],
    differing: dict[str, ResourcesText],
) -> None:
    for status in statuses:
        actual, name = status.resources, status.name
        if actual is NOTHING:
            continue
        for container in containers:
            if container.name != name:
                continue
            # Said in one line, for half a million containers: the status repeats the spec.
            if actual == container.resources and _promised(
                bytes(actual), bytes(status.allocated_resources)
            ):
                break
            if _differs(container.resources, status):
                differing[name or ""] = _texts(status)


def _texts(status: ContainerStatusText | StatusText) -> ResourcesText:
    return ResourcesText(status.resources, status.allocated_resources)


def _differs(wanted: Raw, status: ContainerStatusText | StatusText) -> bool:
    """Whether the status says something else than the spec.

    Equal texts are told apart from others, not equal amounts: the API server writes these alike,
    and whoever reads on compares amounts.
    """
    actual = bytes(status.resources)
    if wanted != status.resources and _requests(bytes(wanted)) != _requests(actual):
        return actual not in ABSENT
    return not _promised(actual, bytes(status.allocated_resources))


@lru_cache(maxsize=1 << 14)
def _promised(actual: bytes, allocated: bytes) -> bool:
    """Whether what runs is what the kubelet has promised."""
    promised = None if allocated in ABSENT else msgspec.json.decode(allocated)
    return actual in ABSENT or _requests(actual) == (promised or {})


def _requests(resources: bytes) -> dict[str, Any]:
    if resources in ABSENT:
        return {}
    return msgspec.json.decode(resources, type=_Requests).requests or {}


def _infeasible(status: StatusText) -> bool:
    """As the scheduler's helper reads it: the first condition of the type, whatever its status."""
    for condition in status.conditions or ():
        if condition.type == RESIZE_PENDING:
            return condition.reason == INFEASIBLE
    return False
