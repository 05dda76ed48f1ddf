"""An API server in this process, as far as planner talks to one.

Holds objects, counts resourceVersions, keeps past states until they are compacted, lists page by
page with selectors, takes evictions, patches, Leases and Events, and goes wrong where a test tells
it to. `tests/live/test_contract.py` compares it with the real one.
"""

from __future__ import annotations

import base64
import json
import re
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from planner.sources.live.kinds import KINDS
from tests.live.fake_requests import Fault, Json, Request, Script, always, nth, status
from tests.live.fake_server import serving, serving_unix
from tests.live.fake_writes import written

__all__ = ["FakeApi", "Fault", "Json", "Request", "always", "nth", "status"]

PATHS = {kind.path: kind for kind in KINDS}
NAMES = {
    "poddisruptionbudgets": "PodDisruptionBudget",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "replicationcontrollers": "ReplicationController",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "storageclasses": "StorageClass",
    "csinodes": "CSINode",
    "csidrivers": "CSIDriver",
    "csistoragecapacities": "CSIStorageCapacity",
    "volumeattachments": "VolumeAttachment",
    "priorityclasses": "PriorityClass",
    "limitranges": "LimitRange",
    "resourcequotas": "ResourceQuota",
    "horizontalpodautoscalers": "HorizontalPodAutoscaler",
    "cronjobs": "CronJob",
}
"""Kinds whose names are not their resources' without the last letter."""
RESOURCES = {NAMES.get(k.resource, k.resource[:-1].capitalize()): k.resource for k in KINDS}
WRITTEN = {"Lease": "leases", "Event": "events", "ConfigMap": "configmaps"}
"""Kinds that planner writes and doesn't list."""


class FakeApi:
    """The server; `faults` are asked about every request, the first that answers counts."""

    def __init__(self, objects: Iterable[Json] = (), version: str = "v1.36.4") -> None:
        self.version = version
        self.faults: list[Script] = []
        self.requests: list[Request] = []
        self.forbidden: set[str] = set()
        self.absent: set[str] = set()
        self.tokens: set[str] | None = None
        """Logins that are accepted; without any, everybody is."""
        self.user = "alice"
        self._lock = threading.RLock()
        self._revision = self._compacted = 100
        self._states: dict[int, dict[str, dict[str, Json]]] = {}
        self.fill(objects)

    def fill(self, objects: Iterable[Json]) -> None:
        """Have these objects, and no others or earlier ones."""
        first: dict[str, dict[str, Json]] = {
            resource: {} for resource in (*RESOURCES.values(), *WRITTEN.values())
        }
        for each in objects:
            first[RESOURCES[each["kind"]]][_key(each)] = _stored(each, self._revision)
        self._states = {self._revision: first}

    def put(self, item: Json) -> Json:
        """Create or replace an object."""
        with self._lock:
            self._revision += 1
            resource = {**RESOURCES, **WRITTEN}[item["kind"]]
            stored = _stored(item, self._revision)
            stored["metadata"].setdefault("uid", f"uid-{self._revision}")
            before = self._states[max(self._states)]
            self._states[self._revision] = {
                **before,
                resource: {**before[resource], _key(item): stored},
            }
            return stored

    def delete(self, resource: str, key: str) -> None:
        """Remove the object `namespace/name`."""
        with self._lock:
            self._revision += 1
            before = self._states[max(self._states)]
            left = {name: value for name, value in before[resource].items() if name != key}
            self._states[self._revision] = {**before, resource: left}

    def found(self, resource: str, key: str) -> Json | None:
        """The object `namespace/name` as it is now."""
        return self._states[max(self._states)][resource].get(key)

    def all_of(self, resource: str) -> list[Json]:
        """All of a kind as they are now."""
        return list(self._states[max(self._states)][resource].values())

    def end_pod(self, pod: Json) -> None:
        """One with a node terminates until its kubelet has ended it; others are gone at once."""
        if not pod["spec"].get("nodeName"):
            self.delete("pods", _key(pod))
            return
        ending = {**pod["metadata"], "deletionTimestamp": "2026-05-01T12:00:00Z"}
        self.put({**pod, "kind": "Pod", "metadata": ending})

    def compact(self) -> None:
        """Forget all states but the newest, as etcd does every five minutes."""
        with self._lock:
            self._compacted = self._revision
            self._states = {self._revision: self._states[max(self._states)]}

    def answer(self, request: Request) -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and JSON."""
        self.requests.append(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.tokens is not None and token not in self.tokens:
            return status(401, "Unauthorized", "Unauthorized")
        if request.path == "/version":
            return 200, {}, {"major": "1", "minor": "36", "gitVersion": self.version}
        with self._lock:
            told = written(self, request)
        if told is not None:
            return told
        kind, namespace = _listed(request.path)
        if kind is None or kind.resource in self.absent:
            return status(404, "NotFound", "the server could not find the requested resource")
        if request.method != "GET":
            return status(405, "MethodNotAllowed", "the server does not allow this method")
        if kind.resource in self.forbidden:
            return status(
                403,
                "Forbidden",
                f'{kind.resource} is forbidden: User "{self.user}" cannot list resource '
                f'"{kind.resource}" in API group "{kind.group}" at the cluster scope',
            )
        with self._lock:
            return self._list(kind.resource, namespace, request)

    def _list(
        self, resource: str, namespace: str, request: Request
    ) -> tuple[int, Mapping[str, str], Any]:
        query = request.query
        revision, start = self._revision, ""
        exact = query.get("resourceVersionMatch") == "Exact"
        if token := query.get("continue"):
            revision, start = _read_token(token)
            if revision < self._compacted:
                return self._expired(start)
        elif exact:
            revision = int(query["resourceVersion"])
            if revision > self._revision:
                return status(504, "Timeout", "Too large resource version", TOO_LARGE)
            if revision < self._compacted:
                return status(410, "Expired", "The provided resourceVersion is too old")
        state = self._states[max(known for known in self._states if known <= revision)]
        wanted = _selected(state[resource], namespace, query)
        names = sorted(name for name in wanted if name > start)
        limit = int(query.get("limit", 0)) or len(names)
        metadata: Json = {"resourceVersion": str(revision)}
        if len(names) > limit:
            metadata["continue"] = _token(revision, names[limit - 1])
            if not {"fieldSelector", "labelSelector"} & query.keys():
                metadata["remainingItemCount"] = len(names) - limit
        items = [wanted[name] for name in names[:limit]]
        kind = next(name for name, known in RESOURCES.items() if known == resource)
        found = next(each for each in KINDS if each.resource == resource)
        if "as=PartialObjectMetadataList" in request.headers.get("Accept", ""):
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            items = [{"metadata": item["metadata"]} for item in items]
        else:
            head = {
                "kind": f"{kind}List",
                "apiVersion": f"{found.group}/{found.version}".lstrip("/"),
            }
        return 200, {}, {**head, "metadata": metadata, "items": items}

    def _expired(self, start: str) -> tuple[int, Mapping[str, str], Any]:
        """With a token for going on behind the same name, at the newest state."""
        code, headers, body = status(410, "Expired", "The provided continue parameter is too old")
        body["metadata"] = {"continue": _token(self._revision, start)}
        return code, headers, body

    @contextmanager
    def serve(self, tls: ssl.SSLContext | None = None) -> Iterator[str]:
        """On a port of this machine; gives the address."""
        with serving(self, tls) as address:
            yield address

    @contextmanager
    def serve_unix(self, path: Path) -> Iterator[Path]:
        """On a unix socket."""
        with serving_unix(self, path):
            yield path


TOO_LARGE = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]


def _key(item: Json) -> str:
    metadata = item["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _stored(item: Json, revision: int) -> Json:
    """As it stands in a list: there, items don't say their kind."""
    stored = {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
    return {**stored, "metadata": {**item["metadata"], "resourceVersion": str(revision)}}


def _listed(path: str) -> tuple[Any, str]:
    """The kind of a list, and the namespace if it is of one."""
    if path in PATHS:
        return PATHS[path], ""
    found = re.fullmatch(r"(/.*)/namespaces/([^/]+)/([^/]+)", path)
    return (PATHS.get(f"{found[1]}/{found[3]}"), found[2]) if found else (None, "")


def _selected(
    items: Mapping[str, Json], namespace: str, query: Mapping[str, str]
) -> dict[str, Json]:
    fields = [part for part in query.get("fieldSelector", "").split(",") if part]
    labels = [part for part in query.get("labelSelector", "").split(",") if part]
    return {
        name: item
        for name, item in items.items()
        if namespace in ("", item["metadata"].get("namespace", ""))
        and all(_matches(part, _field(item, part)) for part in fields)
        and all(_matches(part, _label(item, part)) for part in labels)
    }


def _matches(part: str, value: str) -> bool:
    operator, wanted = re.findall(r"(!=|==?)(.*)", part)[0]
    return bool(value == wanted) is (operator != "!=")


def _field(item: Json, part: str) -> str:
    value: Any = item
    for name in re.split(r"[=!]", part)[0].split("."):
        value = (value or {}).get(name)
    return value or ""


def _label(item: Json, part: str) -> str:
    labels: Mapping[str, str] = item["metadata"].get("labels") or {}
    return labels.get(re.split(r"[=!]", part)[0], "")


def _token(revision: int, start: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([revision, start]).encode()).decode()


def _read_token(token: str) -> tuple[int, str]:
    revision, start = json.loads(base64.urlsafe_b64decode(token))
    return revision, start
