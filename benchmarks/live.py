"""From a running API server to a `Cluster`: lists in pages, packed, as a server sends them.

`python -m benchmarks.live FOLDER` is the server, a process of its own: it sends files that were
written before, so that what is measured is planner's part, and kubectl's where it is between.
"""

from __future__ import annotations

import gzip
import http.client
import json
import re
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.generate.cluster import random_cluster
from benchmarks.generate.dump import Style, object_texts
from benchmarks.load import Counts, parameters

PAGE = 500
MOMENT = "4711"
_HEAD = re.compile(r'\{"apiVersion":"([^"]*)","kind":"([^"]*)",')
VERSION = b'{"gitVersion":"v1.36.0"}'


def folder_of(case: Case, cache: Path) -> Path:
    """Where the pages of a case are kept."""
    return cache / f"live-{case.integer('pods')}-{case.seed}"


def prepare(case: Case, cache: Path) -> None:
    """Writes each page of each list once."""
    folder = folder_of(case, cache)
    if folder.exists():
        return
    unfinished = folder.with_suffix(".unfinished")
    unfinished.mkdir(parents=True)
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    written: dict[str, int] = defaultdict(int)

    def write(version: str, kind: str, items: list[str], more: bool) -> None:
        resource_name = _plural(kind)
        number = written[resource_name]
        meta = {"resourceVersion": MOMENT} | ({"continue": str(number + 1)} if more else {})
        head = f'{{"kind":"{kind}List","apiVersion":"{version}","metadata":{json.dumps(meta)},'
        text = f'{head}"items":[{",".join(items)}]}}'
        name = unfinished / f"{resource_name}-{number}.json.gz"
        name.write_bytes(gzip.compress(text.encode(), 1))
        written[resource_name] += 1

    for text in object_texts(random_cluster(parameters(case)), Style(True, True)):
        version, kind, item = _parted(text)
        kept = waiting[version, kind]
        if len(kept) == PAGE:
            write(version, kind, kept, more=True)
            kept.clear()
        kept.append(item)
    for (version, kind), items in waiting.items():
        write(version, kind, items, more=False)
    unfinished.rename(folder)


def _parted(text: str) -> tuple[str, str, str]:
    """What an item of a list doesn't say of itself, and the rest."""
    head = _HEAD.match(text)
    if head is not None:
        return head[1], head[2], "{" + text[head.end() :]
    value = json.loads(text)
    return value.pop("apiVersion"), value.pop("kind"), json.dumps(value)


def _plural(kind: str) -> str:
    name = kind.lower()
    if name.endswith("class"):
        return f"{name}es"
    return f"{name}s"


class _Plain:
    """A way to the server without kubectl."""

    place = "the cluster of context benchmark"
    context = "benchmark"
    namespace = "default"

    def __init__(self, port: int) -> None:
        self._port = port

    def ready(self) -> None:
        """At once."""

    def connection(self) -> http.client.HTTPConnection:
        """A connection."""
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)

    def headers(self) -> Mapping[str, str]:
        """Everybody may read."""
        return {}

    def log_in_again(self) -> None:
        """Nobody logs in."""

    def login_help(self) -> str:
        """Nobody logs in."""
        return ""

    def close(self) -> None:
        """Nothing was started."""


def by_planner(port: int, cache: Path) -> Counts:
    """The same as `planner.load(live=True)`, over plain HTTP."""
    from planner.cluster import build_cluster
    from planner.sources.live.snapshot import read_snapshot

    cluster = build_cluster(read_snapshot(_Plain(port)).inventory)
    return len(cluster.nodes), len(cluster.pods) + cluster.finished


def by_kubectl_proxy(port: int, cache: Path) -> Counts:
    """`planner.load(live=...)`, with kubectl's proxy between."""
    import planner

    config = cache / f"kubeconfig-{port}.json"
    context = {"name": "benchmark", "context": {"cluster": "c", "user": "u"}}
    server = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    config.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "benchmark",
                "contexts": [context],
                "clusters": [server],
                "users": [{"name": "u", "user": {}}],
            }
        )
    )
    cluster = planner.load(live=planner.Live(kubeconfig=str(config))).snapshot
    config.unlink()
    return len(cluster.nodes), len(cluster.pods) + cluster.finished


METHODS = {"planner": by_planner, "kubectl proxy": by_kubectl_proxy}


def measure(case: Case, cache: Path) -> Measured:
    """One reading, checked by the numbers of nodes and pods; CPU is planner's and kubectl's."""
    wanted, folder = parameters(case), folder_of(case, cache)
    with _serving(folder) as port, Stopwatch() as watch:
        found = METHODS[case.method](port, cache)
        kubectl = resource.getrusage(resource.RUSAGE_CHILDREN)
    expected = wanted.nodes, wanted.pods
    wrong = () if found == expected else (f"found {found} nodes and pods, not {expected}",)
    spent = kubectl.ru_utime + kubectl.ru_stime
    values = {"kubectl_cpu": round(spent, 2)}
    return Measured(watch.seconds, watch.cpu + spent, values, wrong)


@contextmanager
def _serving(folder: Path) -> Iterator[int]:
    command = [sys.executable, "-m", __name__, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    folder = Path()

    def do_GET(self) -> None:
        """A page; kinds that the cluster lacks have an empty list."""
        parts = urlsplit(self.path)
        name = parts.path.rpartition("/")[2]
        number = parse_qs(parts.query).get("continue", ["0"])[0]
        file = self.folder / f"{name}-{number}.json.gz"
        if name == "version":
            self._send(VERSION, packed=False)
        elif file.exists():
            self._send(file.read_bytes(), packed=True)
        else:
            empty = {"kind": "NoneList", "apiVersion": "v1", "metadata": {}, "items": []}
            self._send(json.dumps(empty).encode(), packed=False)

    def _send(self, body: bytes, *, packed: bool) -> None:
        self.send_response(200)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in http.server
        """Nobody reads it."""


if __name__ == "__main__":
    _Handler.folder = Path(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as http_server:
        print(http_server.server_address[1], flush=True)
        http_server.serve_forever()
