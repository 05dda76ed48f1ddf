"""An API server in this process, as far as planner talks to one.

Holds objects, counts resourceVersions, keeps past states until they are compacted, lists page by
page with selectors, packs big answers, and goes wrong where a test tells it to. It serves plain
HTTP, TLS, or a unix socket. `tests/live/test_contract.py` compares it with the real one.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from planner.sources.live.kinds import KINDS

Json = dict[str, Any]
PACKED_FROM = 128 * 1024
"""Bytes from which on the API server packs an answer."""

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


class Request(NamedTuple):
    """What was asked for."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]

    @property
    def resource(self) -> str:
        """`pods`, also of one namespace."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Fault:
    """What happens to a request in place of its answer."""

    status: int = 0
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    """Plain text instead of a Status."""
    reset: bool = False
    cut: bool = False
    """The answer, but only half of its body."""
    delay: float = 0.0


Script = Callable[[Request], Fault | None]


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
        self._lock = threading.RLock()
        self._revision = self._compacted = 100
        self._states: dict[int, dict[str, dict[str, Json]]] = {}
        self.fill(objects)

    def fill(self, objects: Iterable[Json]) -> None:
        """Have these objects, and no others or earlier ones."""
        first: dict[str, dict[str, Json]] = {kind.resource: {} for kind in KINDS}
        for each in objects:
            first[RESOURCES[each["kind"]]][_key(each)] = _stored(each, self._revision)
        self._states = {self._revision: first}

    def put(self, item: Json) -> Json:
        """Create or replace an object."""
        with self._lock:
            self._revision += 1
            resource, stored = RESOURCES[item["kind"]], _stored(item, self._revision)
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
        kind, namespace = _listed(request.path)
        if kind is None or kind.resource in self.absent:
            return status(404, "NotFound", "the server could not find the requested resource")
        if request.method != "GET":
            return status(405, "MethodNotAllowed", "the server does not allow this method")
        if kind.resource in self.forbidden:
            return status(
                403,
                "Forbidden",
                f'{kind.resource} is forbidden: User "alice" cannot list resource '
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
        server = _Server(("127.0.0.1", 0), _handler(self))
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        with _running(server):
            yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"

    @contextmanager
    def serve_unix(self, path: Path) -> Iterator[Path]:
        """On a unix socket."""
        server = _UnixServer((str(path), 0), _handler(self))
        with _running(server):
            yield path


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Who hangs up is no error of the server."""


class _UnixServer(_Server):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        self.socket.bind(str(self.server_address[0]))
        self.server_name, self.server_port = "localhost", 0

    def get_request(self) -> tuple[Any, Any]:
        connection, _ = self.socket.accept()
        return connection, ("", 0)


@contextmanager
def _running(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(api: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, or each answer waits for its receipt

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            request = Request(self.command, parts.path, query, dict(self.headers.items()))
            found = [fault for script in api.faults if (fault := script(request))]
            fault = found[0] if found else Fault()
            if fault.delay:
                time.sleep(fault.delay)
            if fault.reset:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if fault.text is not None:
                self._write(fault.status, {}, fault.text.encode(), False)
                return
            code, headers, body = (
                status(fault.status, fault.reason, f"{fault.reason} by a test")
                if fault.status
                else api.answer(request)
            )
            self._write(code, {**headers, **fault.headers}, _text(body), fault.cut)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server asks for these

        def _write(self, code: int, headers: Mapping[str, str], body: bytes, cut: bool) -> None:
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            if len(body) > PACKED_FROM and "gzip" in self.headers.get("Accept-Encoding", ""):
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(body, 1)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)
            if cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Tests look at `FakeApi.requests`."""

    return Handler


TOO_LARGE = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]


def status(
    code: int, reason: str, message: str, causes: list[Json] | None = None
) -> tuple[int, Mapping[str, str], Any]:
    """A failure as the API server tells it."""
    body: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    if causes:
        body["details"] = {"causes": causes}
    return code, {}, body


def nth(resource: str, number: int, fault: Fault) -> Script:
    """The fault, at the request of that number for the resource, counted from 1."""
    seen = 0

    def script(request: Request) -> Fault | None:
        nonlocal seen
        if request.resource != resource:
            return None
        seen += 1
        return fault if seen == number else None

    return script


def always(resource: str, fault: Fault) -> Script:
    """The fault at every request for the resource."""
    return lambda request: fault if request.resource == resource else None


def _key(item: Json) -> str:
    metadata = item["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _stored(item: Json, revision: int) -> Json:
    """As it stands in a list: there, items don't say their kind."""
    stored = {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
    return {**stored, "metadata": {**item["metadata"], "resourceVersion": str(revision)}}


def _text(body: Any) -> bytes:
    """As Go writes it: no blanks."""
    return json.dumps(body, separators=(",", ":")).encode()


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
