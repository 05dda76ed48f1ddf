"""What `planner run` costs: the process that waits, and one round of it.

The lists of a cluster, 30 pods on a node, are served from files by a process of its own
(`python -m benchmarks.rounds FOLDER PODS`); planner runs one round in DryRun against them through
kubectl, and then waits for a while.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks import live
from benchmarks.case import Case, Measured
from benchmarks.load import parameters

MINUTE = 60.0
POLICY = "apiVersion: planner/v1\nkind: RunPolicy\nperiod: 1h\n"
TICKS = os.sysconf("SC_CLK_TCK")
WRITTEN = ("leases", "configmaps", "events")


class _Handler(live._Handler):
    """Lists from files, and what planner writes in memory."""

    kept: dict[str, Any] = {}  # noqa: RUF012 - one server, one memory
    pods = 0

    def do_GET(self) -> None:  # noqa: N802 - http.server asks for it
        """A page, a kept object, or a count."""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        if parts.path.split("/")[-2] in WRITTEN:
            self._kept(parts.path)
        elif "spec.nodeName=" in query.get("fieldSelector", [""])[0].split(",")[0]:
            self._json({"items": [], "metadata": {}})
        elif query.get("limit") == ["1"]:
            self._json({"items": [{}], "metadata": {"remainingItemCount": self.pods - 1}})
        elif "labelSelector" in query:
            self._json({"items": [], "metadata": {}})
        else:
            super().do_GET()

    def _kept(self, path: str) -> None:
        if path in self.kept:
            self._json(self.kept[path])
        else:
            self._json({"kind": "Status", "code": 404, "message": "not found"}, 404)

    def do_POST(self) -> None:  # noqa: N802 - http.server asks for it
        """Keep an object."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = f"{urlsplit(self.path).path}/{body['metadata']['name']}"
        body["metadata"]["resourceVersion"] = "1"
        self.kept[path] = body
        self._json(body, 201)

    def do_PATCH(self) -> None:  # noqa: N802 - http.server asks for it
        """Change it; of what planner sends only whole fields change."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urlsplit(self.path).path
        found = self.kept[path]
        for field in ("spec", "data"):
            found[field] = {**found.get(field, {}), **body.get(field, {})}
        self._json(found)

    def _json(self, body: Any, code: int = 200) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def serve(folder: Path, pods: int) -> None:
    """The server, a process of its own."""
    _Handler.folder, _Handler.pods = folder, pods
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


def kubeconfig(port: int, folder: Path) -> Path:
    """One that leads to the server."""
    context = {"name": "b", "context": {"cluster": "c", "user": "u"}}
    server = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "b",
        "contexts": [context],
        "clusters": [server],
        "users": [{"name": "u", "user": {}}],
    }
    file = folder / "kubeconfig.json"
    file.write_text(json.dumps(config))
    return file


def cpu(pid: int, *, children: bool = False) -> float:
    """Processor seconds of a process, or of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    at = 13 if children else 11
    return (int(fields[at]) + int(fields[at + 1])) / TICKS


def peak(pid: int) -> int:
    """The highest memory of a process so far, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


def child_peak(pid: int) -> int:
    """That of its largest child which is planner, if it has one now."""
    found = 0
    for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            words = Path(f"/proc/{each}/cmdline").read_text().split("\0")
            found = max(found, peak(int(each)) if "evict" in words else 0)
        except OSError:  # it has just ended
            continue
    return found


def prepare(case: Case, cache: Path) -> None:
    """The pages of the lists, before the measurement."""
    live.prepare(case, cache)


def measure(case: Case, cache: Path) -> Measured:
    """One round, and some seconds after it."""
    folder, pods = live.folder_of(case, cache), case.integer("pods")
    serving = [sys.executable, "-m", "benchmarks.rounds", str(folder), str(pods)]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "policy.yaml").write_text(POLICY)
        with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                config = kubeconfig(int(server.stdout.readline()), place)
                return _run(case, place, config)
            finally:
                server.kill()


def _run(case: Case, folder: Path, config: Path) -> Measured:
    words = ("run", "--policy", str(folder / "policy.yaml"), "-n", "planner-system", "--port", "0")
    log = folder / "log"
    begin = time.monotonic()
    with (
        log.open("w") as stream,
        subprocess.Popen(
            [sys.executable, "-m", "planner", *words],
            stderr=stream,
            env={**os.environ, "KUBECONFIG": str(config)},
        ) as process,
    ):
        try:
            largest = 0
            while '"result"' not in (text := log.read_text()):
                if process.poll() is not None:
                    raise RuntimeError(text)
                largest = max(largest, child_peak(process.pid))
                time.sleep(0.05)
            seconds, own = time.monotonic() - begin, cpu(process.pid)
            in_children = cpu(process.pid, children=True)
            idle = case.integer("idle")
            time.sleep(idle)
            values = {
                "round_mib": largest,
                "waiting_mib": peak(process.pid),
                "waiting_cpu": (cpu(process.pid) - own) * MINUTE / idle,
            }
            return Measured(seconds, own + in_children, values, _wrong(case, text))
        finally:
            process.terminate()


def _wrong(case: Case, log: str) -> tuple[str, ...]:
    """A round has to have read the whole cluster, and to have ended well."""
    said = [json.loads(line) for line in log.splitlines()]
    size = parameters(case)
    read = any(f"{size.nodes} nodes" in each["msg"].replace(",", "") for each in said)
    ended = next(each["result"] for each in said if "result" in each)
    found = [] if read else [f"a cluster of {size.nodes} nodes was not read"]
    found += [] if ended in ("done", "nothing") else [f"the round ended as {ended}"]
    return tuple(found)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
