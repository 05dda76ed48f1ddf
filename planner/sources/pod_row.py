"""Pods reduced to what planner reads of them: a row of words, numbers and small texts.

A twentieth of the pod's text is left. Rows are cheap to hand from one process to another; the texts
in them are those that many pods have in common, and are validated by whoever makes pods of rows.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Literal

import msgspec

from planner.sources.pod_text import (
    Annotations,
    ContainerStatusText,
    MetadataText,
    PodText,
    SpecText,
    StatusText,
)
from planner.sources.resize_text import resize_of
from planner_models.pod_status import PHASES, QOS_CLASSES, ContainerKind, Phase, QosClass

ANNOTATIONS = tuple(
    (field.name, field.encode_name) for field in msgspec.structs.fields(Annotations)
)
_KIND_OF_CONDITION = attrgetter("type", "status", "reason")

_encode = msgspec.json.Encoder().encode


class PodRow(msgspec.Struct, array_like=True, gc=False):
    """One pod. Texts (`bytes`) are JSON, or empty where the pod says nothing."""

    namespace: str
    name: str
    uid: str
    labels: bytes
    annotations: dict[str, str] | None
    owners: bytes
    spec: bytes
    """What replicas have in common."""
    volumes: list[bytes]
    """Each volume that matters."""
    node_name: str
    nominated_node_name: str
    phase: Phase
    terminating: bool
    preempted: bool
    ready: bool
    created: int | None
    started: int | None
    qos_class: QosClass | None
    reason: str
    states: bytes
    """A list of `State`, without containers that run and were never started again."""
    conditions: bytes
    """A list of `Condition`."""
    condition_times: str
    scheduler_message: str
    """kube-scheduler's word about the pod as it is now."""
    resize: bytes
    """A `ResizeText`; empty where the status says the same as the spec."""
    finalizers: str
    """Joined by commas."""


State = tuple[ContainerKind, int, str | None, str | None, int | None]
"""Kind of container, restarts, why it waits, why it ended, and its exit code."""

Condition = tuple[str | None, str | None, str | None]
"""Type, status and reason."""


class _PodItem(PodText, tag_field="kind", tag="Pod", rename="camel", gc=False):
    """A pod in a list: says so itself, and is of the core group."""

    api_version: Literal["v1"] = "v1"


class PodPage(msgspec.Struct, frozen=True):
    """A PodList of an API server, whose items don't name their kind; `file` is its cluster."""

    file: str
    data: bytes


class _PodList(msgspec.Struct, tag_field="kind", tag="PodList"):
    items: list[PodText] | None


class RowReader:
    """Reads arrays of pods."""

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(list[_PodItem])
        self._list_decoder = msgspec.json.Decoder(_PodList)

    def rows(self, data: bytes | memoryview) -> list[PodRow]:
        """The rows of a JSON array of stored pods alone; none if there is anything else in it."""
        try:
            rows = [row_of(text) for text in self._decoder.decode(data)]
        except (ValueError, RecursionError):
            return []
        return rows if all([row.name and row.uid for row in rows]) else []  # noqa: C419 - faster

    def page(self, page: PodPage) -> list[PodRow]:
        """The rows of a page; what is odd in it raises ValueError."""
        return [row_of(text) for text in self._list_decoder.decode(page.data).items or ()]


def row_of(text: PodText) -> PodRow:
    """What the parts of a pod's text say."""
    meta, spec = text.metadata or MetadataText(), text.spec or SpecText()
    status = text.status or StatusText()
    conditions = status.conditions or ()
    terminating = meta.deletion_timestamp is not None
    return PodRow(
        namespace=meta.namespace or "default",
        name=meta.name or "",
        uid=meta.uid or "",
        labels=bytes(meta.labels),
        annotations=None if meta.annotations is None else _annotations(meta.annotations),
        owners=bytes(meta.owner_references),
        spec=spec.shared(),
        volumes=[each for volume in spec.volumes if (each := volume.text())]
        if spec.volumes
        else [],
        node_name=spec.node_name or "",
        nominated_node_name=status.nominated_node_name or "",
        phase=PHASES.get(status.phase, "Unknown") if status.phase else "Pending",
        terminating=terminating,
        preempted=terminating and _preempted(status),
        ready=_ready(status),
        created=_time(meta.creation_timestamp),
        started=_time(status.start_time),
        qos_class=QOS_CLASSES.get(status.qos_class) if status.qos_class else None,
        reason=status.reason or "",
        states=_states(status),
        conditions=_encode(list(map(_KIND_OF_CONDITION, conditions))) if conditions else b"",
        condition_times=",".join([c.last_transition_time or "" for c in conditions]),
        scheduler_message="" if spec.node_name else _scheduler_message(meta, status),
        resize=resize_of(spec, status) if spec.node_name else b"",
        finalizers=",".join(meta.finalizers) if meta.finalizers else "",
    )


def _annotations(text: Annotations) -> dict[str, str]:
    return {key: value for name, key in ANNOTATIONS if (value := getattr(text, name)) is not None}


def _ready(status: StatusText) -> bool:
    """The Ready condition; a running pod that nobody says more about counts as ready."""
    for condition in status.conditions or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return status.phase == "Running"


def _preempted(status: StatusText) -> bool:
    """Whether kube-scheduler marked the pod as a victim before it deleted it."""
    for condition in status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _scheduler_message(meta: MetadataText, status: StatusText) -> str:
    """Why kube-scheduler finds no node; nothing, if it has not seen the pod's last change yet."""
    for condition in status.conditions or ():
        if condition.type == "PodScheduled":
            seen = condition.observed_generation
            told = condition.status == "False" and condition.reason == "Unschedulable"
            if told and seen in (None, meta.generation):
                return condition.message or ""
    return ""


def _states(status: StatusText) -> bytes:
    if (
        status.container_statuses
        is status.init_container_statuses
        is status.ephemeral_container_statuses
        is None
    ):
        return b""
    listed: tuple[tuple[ContainerKind, list[ContainerStatusText] | None], ...] = (
        ("main", status.container_statuses),
        ("init", status.init_container_statuses),
        ("ephemeral", status.ephemeral_container_statuses),
    )
    found = [
        state
        for kind, containers in listed
        for container in containers or ()
        if (state := _state(kind, container)) is not None
    ]
    return _encode(found) if found else b""


def _state(kind: ContainerKind, status: ContainerStatusText) -> State | None:
    """The state of a container, unless it runs and was never started again."""
    waiting = terminated = None
    if status.state is not None:
        waiting, terminated = status.state.waiting, status.state.terminated
    if waiting is None and terminated is None and not status.restart_count:
        return None
    return (
        kind,
        status.restart_count or 0,
        None if waiting is None else waiting.reason or "",
        None if terminated is None else terminated.reason or "",
        None if terminated is None else terminated.exit_code or 0,
    )


def _time(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
