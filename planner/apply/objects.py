"""The objects that apply sends: Evictions, cordons, and the question who one is."""

from __future__ import annotations

from typing import Any

import msgspec

from planner.apply.access import REVIEWS
from planner.apply.writing import Writer
from planner_models.node import PLANNER_CORDON

CORDON = PLANNER_CORDON
"""Its value is `PLANID/WAVE`."""


def eviction(namespace: str, pod: str, uid: str) -> dict[str, Any]:
    """The eviction of this very pod, never of another one of its name."""
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": uid}},
    }


def cordon(version: str, mark: str) -> dict[str, Any]:
    """A merge patch that cordons a node as it is at this version, and says who did it."""
    return {
        "metadata": {"resourceVersion": version, "annotations": {CORDON: mark}},
        "spec": {"unschedulable": True},
    }


def uncordon(version: str) -> dict[str, Any]:
    """A merge patch that takes both back."""
    return {
        "metadata": {"resourceVersion": version, "annotations": {CORDON: None}},
        "spec": {"unschedulable": None},
    }


class _User(msgspec.Struct):
    username: str = ""


class _ReviewStatus(msgspec.Struct, rename="camel"):
    user_info: _User = msgspec.field(default_factory=_User)


class _Review(msgspec.Struct):
    status: _ReviewStatus = msgspec.field(default_factory=_ReviewStatus)


def who(writer: Writer) -> str:
    """The user whose login is used, as the server knows him."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = writer.post(REVIEWS, body)
    return msgspec.json.decode(answer.body, type=_Review).status.user_info.username
