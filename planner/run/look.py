"""What the waiting process itself asks the API server: small questions between rounds.

Lists are read page by page, and of each object only what is counted: thousands of nodes leave this
process as small as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar

import msgspec

from planner.apply.access import leases_path
from planner.apply.clock import seconds_of
from planner.apply.events import Regarded
from planner.apply.writing import Writer
from planner.run.decide import Facts
from planner.sources.live.api import ApiError
from planner.sources.live.kinds import NODES, PODS, WORKLOADS

PAGE = 500
DESCHEDULER = ("kube-system", "descheduler")
"""Where the descheduler has its Lease, unless told otherwise."""
DESCHEDULER_LABEL = "app.kubernetes.io/name=descheduler"
STILL_THERE = 300.0
"""Seconds since its renewal for which the descheduler's Lease counts."""
UNPLACED = "spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed"
KINDS = {
    "deploy": "Deployment",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
    "rc": "ReplicationController",
}
"""Kinds of workloads by kubectl's short names, which documents use."""


class _ListMeta(
    msgspec.Struct, rename={"continue_": "continue", "remaining": "remainingItemCount"}
):
    continue_: str = ""
    remaining: int = 0


class _Condition(msgspec.Struct, rename="camel"):
    type: str
    status: str = ""
    last_transition_time: datetime | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None
    phase: str = ""


class _Owner(msgspec.Struct):
    kind: str
    name: str
    controller: bool = False


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: datetime | None = None
    owner_references: list[_Owner] | None = None


class _PodSpec(msgspec.Struct, rename="camel"):
    scheduling_gates: list[msgspec.Raw] | None = None


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _Status = msgspec.field(default_factory=_Status)

    def condition(self, kind: str) -> _Condition | None:
        """The condition of that type."""
        return next((each for each in self.status.conditions or () if each.type == kind), None)


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[_Object] = []


class WaitingPod(msgspec.Struct, frozen=True):
    """A pod without a node, and since when."""

    regarded: Regarded
    since: datetime | None
    gated: bool

    @property
    def key(self) -> str:
        """`shop/web-1`."""
        return f"{self.regarded.namespace}/{self.regarded.name}"


S = TypeVar("S", bound=msgspec.Struct)


class Look:
    """Questions, each answered as the cluster is now."""

    def __init__(self, reader: Writer) -> None:
        self._reader = reader

    def facts(self, waiting: list[WaitingPod]) -> Facts:
        """The numbers that a pause depends on; pods are counted by the server."""
        ready: list[bool] = []
        for node in self._objects(NODES.path, {}):
            condition = node.condition("Ready")
            ready.append(condition is not None and condition.status == "True")
        first = self._list(PODS.path, {"limit": "1"})
        pods = len(first.items) + first.metadata.remaining
        return Facts(len(ready), ready.count(False), pods, sum(not each.gated for each in waiting))

    def waiting(self) -> list[WaitingPod]:
        """The pods without a node."""
        found = self._objects(PODS.path, {"fieldSelector": UNPLACED})
        return [_waiting(each) for each in found]

    def descheduler(self, now: float) -> str | None:
        """Where a descheduler shows that it runs."""
        namespace, name = DESCHEDULER
        try:
            answer = self._reader.get(f"{leases_path(namespace)}/{name}")
        except ApiError as error:
            if error.code not in (403, 404):
                raise
        else:
            renewed = msgspec.json.decode(answer.body, type=_Lease).spec.renew_time
            age = now - seconds_of(renewed) if renewed else STILL_THERE
            if age < STILL_THERE:
                return f"lease {namespace}/{name}, {max(0, int(age))} s old"
        found = self._list(PODS.path, {"labelSelector": DESCHEDULER_LABEL, "limit": "10"})
        running = [each.metadata for each in found.items if each.status.phase == "Running"]
        return f"pod {running[0].namespace}/{running[0].name}" if running else None

    def own_workload(self, namespace: str, pod: str) -> str | None:
        """The workload of the pod that this process runs in: `planner-system/deploy/planner`."""
        try:
            found = self._one(f"/api/v1/namespaces/{namespace}/pods/{pod}")
        except ApiError as error:
            if error.code == 404:
                return None
            raise
        owner = _controller(found)
        if owner is not None and owner.kind == "ReplicaSet":
            path = f"/apis/apps/v1/namespaces/{namespace}/replicasets/{owner.name}"
            owner = _controller(self._one(path)) or owner
        if owner is None:
            return f"{namespace}/pod/{pod}"
        short = next((word for word, kind in KINDS.items() if kind == owner.kind), None)
        return f"{namespace}/{short or owner.kind.lower()}/{owner.name}"

    def workload(self, key: str) -> Regarded | None:
        """A workload of a document, `shop/deploy/api`, if it is there."""
        namespace, short, name = key.split("/", 2)
        kind = KINDS.get(short)
        listed = next((k for k in WORKLOADS if kind and k.resource == f"{kind.lower()}s"), None)
        if kind is None or listed is None:
            return None
        head, _, resource = listed.path.rpartition("/")
        try:
            found = self._one(f"{head}/namespaces/{namespace}/{resource}/{name}")
        except ApiError as error:
            if error.code in (403, 404):
                return None
            raise
        version = f"{listed.group}/{listed.version}".lstrip("/")
        return Regarded(kind, version, namespace, name, found.metadata.uid)

    def _one(self, path: str) -> _Object:
        return msgspec.json.decode(self._reader.get(path).body, type=_Object)

    def _objects(self, path: str, query: dict[str, str]) -> Iterator[_Object]:
        token = ""
        while True:
            more = {"continue": token} if token else {}
            page = self._list(path, {**query, "limit": str(PAGE), **more})
            yield from page.items
            token = page.metadata.continue_
            if not token:
                return

    def _list(self, path: str, query: dict[str, str]) -> _List:
        return msgspec.json.decode(self._reader.get(path, query).body, type=_List)


class _LeaseSpec(msgspec.Struct, rename="camel"):
    renew_time: str | None = None


class _Lease(msgspec.Struct):
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


def _controller(found: _Object) -> _Owner | None:
    owners = found.metadata.owner_references or ()
    return next((each for each in owners if each.controller), None)


def _waiting(pod: _Object) -> WaitingPod:
    """Since kube-scheduler first failed, or else since it was made."""
    meta = pod.metadata
    failed = pod.condition("PodScheduled")
    since = failed.last_transition_time if failed and failed.last_transition_time else None
    regarded = Regarded("Pod", "v1", meta.namespace, meta.name, meta.uid)
    return WaitingPod(regarded, since or meta.creation_timestamp, bool(pod.spec.scheduling_gates))
