"""The pods of a few controllers as the API server lists them, for whoever waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from planner.apply.clock import Clock
from planner.sources.live.kinds import PODS
from planner.sources.live.requests import Requests

PER_SECOND = 5
"""Requests in a second at the most."""
LIMIT = 500


class Place(NamedTuple):
    """Where to look for pods: a namespace, and labels that narrow it down, if there are any."""

    namespace: str
    labels: str = ""


class _Owner(msgspec.Struct):
    uid: str = ""
    controller: bool = False


class _Meta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    deletion_timestamp: str | None = None
    owner_references: list[_Owner] | None = None


class _Gate(msgspec.Struct):
    name: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    scheduling_gates: list[_Gate] | None = None


class _Condition(msgspec.Struct):
    type: str
    status: str = ""


class _Status(msgspec.Struct):
    phase: str = ""
    conditions: list[_Condition] | None = None


class SeenPod(msgspec.Struct):
    """A pod, as far as waiting for it needs."""

    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def uid(self) -> str:
        """Which one it is."""
        return self.metadata.uid

    @property
    def name(self) -> str:
        """Its name."""
        return self.metadata.name

    @property
    def node(self) -> str:
        """Where it is; empty while it waits."""
        return self.spec.node_name

    @property
    def ending(self) -> bool:
        """Whether it is on its way out."""
        return self.metadata.deletion_timestamp is not None

    @property
    def finished(self) -> bool:
        """Whether its work is done, as that of a Job's pod."""
        return self.status.phase == "Succeeded"

    @property
    def failed(self) -> bool:
        """Whether it has ended badly; its controller makes another one."""
        return self.status.phase == "Failed"

    @property
    def ready(self) -> bool:
        """The Ready condition, or the end of its work."""
        found = (each.status for each in self.status.conditions or () if each.type == "Ready")
        return self.finished or next(found, "") == "True"

    @property
    def owner(self) -> str:
        """The uid of its controller."""
        found = (each.uid for each in self.metadata.owner_references or () if each.controller)
        return next(found, "")


class _ListMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    items: list[SeenPod] | None
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class PodLists:
    """Lists of pods, at most five requests in a second."""

    def __init__(self, requests: Requests, clock: Clock) -> None:
        self._requests = requests
        self._clock = clock
        self._last = 0.0

    def pods(self, places: Iterable[Place]) -> Mapping[str, list[SeenPod]]:
        """The pods there by the uid of their controller."""
        found: dict[str, dict[str, SeenPod]] = {}
        for place in places:
            for pod in self._listed(place):
                found.setdefault(pod.owner, {})[pod.uid] = pod
        return {owner: list(pods.values()) for owner, pods in found.items()}

    def _listed(self, place: Place) -> list[SeenPod]:
        query: dict[str, str | int] = {
            "limit": LIMIT,
            "fieldSelector": f"metadata.namespace={place.namespace}",
        }
        if place.labels:
            query["labelSelector"] = place.labels
        found: list[SeenPod] = []
        while True:
            wait = self._last + 1 / PER_SECOND - self._clock.now()
            if wait > 0:
                self._clock.sleep(wait)
            self._last = self._clock.now()
            page = msgspec.json.decode(self._requests.get(PODS.path, query).body, type=_List)
            found += page.items or ()
            if not page.metadata.continue_:
                return found
            query = {**query, "continue": page.metadata.continue_}
