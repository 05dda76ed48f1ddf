"""What `planner run` costs: the process that waits, and one round of it.

`python -m benchmarks.rounds --pods 150000` makes a cluster of so many pods, 30 on a node, serves
its lists from files, lets planner run one round in DryRun against them through kubectl, and then
wait for a minute. It prints processor seconds and the highest memory of both processes.
"""

from __future__ import annotations

import argparse
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
from benchmarks.case import Case

CACHE = Path(tempfile.gettempdir()) / "planner-benchmarks"
IDLE = 60.0
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


def measure(pods: int, seed: int) -> dict[str, Any]:
    """One round, and a minute after it."""
    case = Case("live", "planner", {"pods": pods}, seed)
    CACHE.mkdir(exist_ok=True)
    live.prepare(case, CACHE)
    serving = [
        sys.executable,
        "-m",
        "benchmarks.rounds",
        "--serve",
        str(live.folder_of(case, CACHE)),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.yaml").write_text(POLICY)
        with subprocess.Popen(
            [*serving, "--pods", str(pods)], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            try:
                config = kubeconfig(int(server.stdout.readline()), folder)
                return _run(folder, config)
            finally:
                server.kill()


def _run(folder: Path, config: Path) -> dict[str, Any]:
    words = ("run", "--policy", str(folder / "policy.yaml"), "-n", "planner-system", "--port", "0")
    log = folder / "log"
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
            after = cpu(process.pid)
            found = {
                "said": [json.loads(line)["msg"] for line in text.splitlines()],
                "round CPU, s": round(cpu(process.pid, children=True), 1),
                "round peak, MiB": largest,
                "waiting process CPU of the round, s": round(after, 2),
                "waiting process peak, MiB": peak(process.pid),
            }
            time.sleep(IDLE)
            found["waiting process CPU a minute, s"] = round(cpu(process.pid) - after, 2)
            return found
        finally:
            process.terminate()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", type=Path)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.pods)
        return
    for key, value in measure(given.pods, given.seed).items():
        for line in value if isinstance(value, list) else (f"{key:40} {value}",):
            print(line)


if __name__ == "__main__":
    main()
