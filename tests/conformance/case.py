"""Reading recordings: one gzipped JSON-lines file per family, one case per line."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

DATA = Path(__file__).parent / "data"
SUFFIX = ".jsonl.gz"

QUEUE = "queue"
SCHEDULER_FAMILIES = frozenset(
    {
        "images",
        "mixed",
        "node-affinity",
        "node-misc",
        "pod-affinity",
        "preemption",
        "resources",
        "sequence",
        "sequence-large",
        "spread-conflict",
        "spread-defaults",
        "spread-hard",
        "spread-matchlabelkeys",
        "spread-mindomains",
        "spread-nodeaffinitypolicy",
        "spread-nodetaintspolicy",
        "spread-soft",
        "taints",
        "volumes",
    }
)
DESCHEDULER = "descheduler-"
DESCHEDULER_FAMILIES = frozenset(
    f"{DESCHEDULER}{plugin}"
    for plugin in (
        "HighNodeUtilization",
        "LowNodeUtilization",
        "RemoveDuplicates",
        "RemovePodsViolatingInterPodAntiAffinity",
        "RemovePodsViolatingNodeAffinity",
        "RemovePodsViolatingNodeTaints",
        "RemovePodsViolatingTopologySpreadConstraint",
    )
)

FLEET = "fleet"
"""Cases of Fleet name no family: they are told apart by their files, `fleet-*.jsonl.gz`."""

ABSENT = msgspec.Raw()

Expected = Mapping[str, Any]
"""A recorded result; its fields are those of the table in FORMAT.md."""


class Header(msgspec.Struct, frozen=True):
    """What tells a case from others, without the rest of it."""

    id: str
    family: str = FLEET


class SchedulerCase(msgspec.Struct, frozen=True):
    """A cluster, pods that arrive, and what kube-scheduler said of each of them.

    Objects stay JSON texts, so that they reach planner the way a file's text does.
    """

    id: str
    family: str
    objects: Mapping[str, Sequence[msgspec.Raw]]
    incoming: Sequence[msgspec.Raw]
    expect: Sequence[Expected]
    record: str = "full"
    config: msgspec.Raw = ABSENT


class QueueStep(msgspec.Struct, frozen=True):
    """`pod` is an object, or the key of the pod to delete, or absent for a pop."""

    at: float
    op: str
    pod: msgspec.Raw = ABSENT


class QueueCase(msgspec.Struct, frozen=True):
    """Steps on the scheduling queue, and what came of them."""

    id: str
    family: str
    ops: Sequence[QueueStep]
    expect: Expected


class Evictions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all runs of a strategy evicted; `outcomes` if they did not agree."""

    evicted: Sequence[str]
    same_order: bool
    same_set: bool
    count: tuple[int, int]
    runs: int
    outcomes: Sequence[Sequence[str]] = ()


class DeschedulerCase(msgspec.Struct, frozen=True):
    """A cluster, a strategy of the descheduler with its arguments, and what it evicted."""

    id: str
    family: str
    plugin: str
    args: Mapping[str, Any]
    evictor: Mapping[str, Any]
    objects: Mapping[str, Sequence[msgspec.Raw]]
    expect: Evictions


class FleetRefusal(msgspec.Struct, frozen=True):
    """Which plugin refuses a cluster in a cycle, and why."""

    plugin: str
    code: str
    reasons: Sequence[str]


class FleetScore(msgspec.Struct, frozen=True):
    """The scores of a cluster in a cycle."""

    spread: int
    affinity: int
    obsolete: int


class FleetCycle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One scheduling cycle."""

    refused: Mapping[str, FleetRefusal]
    scores: Mapping[str, FleetScore]
    picked: Sequence[str]
    given_up: Sequence[str]
    requeue: bool
    batch: int | None = None
    error: str | None = None


class FleetBinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A binding as left behind."""

    name: str
    cluster: str
    state: str
    snapshot: str
    deleting: bool = False


class FleetClusterDecision(msgspec.Struct, frozen=True, rename="camel"):
    """What Fleet tells of one cluster."""

    cluster_name: str
    selected: bool
    reason: str


class FleetResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What Fleet does; without `invalid` or `error` it comes to an end."""

    invalid: str | None = None
    error: str | None = None
    snapshot: str | None = None
    cycles: Sequence[FleetCycle] = ()
    bindings: Sequence[FleetBinding] = ()
    condition: Mapping[str, str] | None = None
    decisions: Sequence[FleetClusterDecision] = ()


class FleetCase(msgspec.Struct, frozen=True):
    """A fleet with one placement, and how Fleet schedules it."""

    id: str
    now: str
    objects: Sequence[msgspec.Raw]
    fleet: FleetResult


def recordings(paths: Iterable[Path]) -> list[Path]:
    """The files themselves, and those in folders by name."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    return found


def lines(path: Path) -> Iterator[bytes]:
    """The cases of a file, as text."""
    with gzip.open(path) as file:
        yield from file


def header(line: bytes) -> Header:
    """Id and family of a case."""
    return msgspec.json.decode(line, type=Header)


def as_list(texts: Iterable[msgspec.Raw]) -> bytes:
    """Objects as one `v1.List`, which is what `kubectl get -o json` prints."""
    items = b",".join(bytes(text) for text in texts)
    return b'{"apiVersion":"v1","kind":"List","items":[' + items + b"]}"
