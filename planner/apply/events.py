"""Events (`events.k8s.io/v1`) in which planner tells the owners of pods what it knows and did."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from planner.apply.clock import micro_time

Reason = Literal["Explained", "EvictedByPlanner", "NotLanded", "WorkloadSuspended"]
MOST = 1024
"""Bytes of a note that the API server takes."""
CONTROLLER = "planner"
ACTIONS: dict[Reason, str] = {
    "Explained": "Explaining",
    "EvictedByPlanner": "Evicting",
    "NotLanded": "Verifying",
    "WorkloadSuspended": "Suspending",
}
WARNINGS: frozenset[Reason] = frozenset(("NotLanded", "WorkloadSuspended"))
CUT = "..."


@dataclass(frozen=True)
class Regarded:
    """The object that an event is about."""

    kind: str
    api_version: str
    namespace: str
    name: str
    uid: str


def note_of(text: str, ending: str = "") -> str:
    """The text in at most 1 KiB, with an ending that is never cut off."""
    most = MOST - len(ending.encode())
    data = text.encode()
    if len(data) <= most:
        return text + ending
    return data[: most - len(CUT)].decode("utf-8", "ignore") + CUT + ending


def event_key(regarded: Regarded, reason: Reason, note: str) -> str:
    """What tells an event from others: one of these is not repeated all the time."""
    told = f"{regarded.uid} {reason} {note}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def event_of(
    regarded: Regarded, reason: Reason, note: str, instance: str, now: float
) -> dict[str, Any]:
    """The event as the API server takes it; its name tells it from all others of the object."""
    key = event_key(regarded, reason, note)
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "name": f"{regarded.name[:200].rstrip('-.')}.{key}{int(now):x}",
            "namespace": regarded.namespace,
        },
        "eventTime": micro_time(now),
        "reportingController": CONTROLLER,
        "reportingInstance": instance[:128],
        "action": ACTIONS[reason],
        "reason": reason,
        "type": "Warning" if reason in WARNINGS else "Normal",
        "regarding": {
            "kind": regarded.kind,
            "apiVersion": regarded.api_version,
            "namespace": regarded.namespace,
            "name": regarded.name,
            "uid": regarded.uid,
        },
        "note": note,
    }
