"""Whole commands on a large dump, in processor time from the start to the last byte.

The dump is one of the drifted clusters, as an API server would list it. A command runs as from the
command line; where its time goes is told in stages: start (imports, options), load, decide, show.
What the processes beside it take counts, too. With `--cache`, an earlier command has read the dump.
Wrong is an exit code that is none of an answer, or a command that writes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import time
import uuid
from collections.abc import Callable, Iterator
from compileall import compile_dir
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import planner
import planner_models
from benchmarks.case import Case, Measured
from planner.exit_codes import DONE, NEGATIVE, UNDECIDED

if TYPE_CHECKING:
    from benchmarks.drift import Drift

Json = dict[str, Any]
ANSWERS = (DONE, NEGATIVE, UNDECIDED)
CREATED = "2026-01-01T00:00:00Z"
NANO = 10**9
CACHE = "--cache"
ALONE = ("--jobs", "1")
"""What workers of a pool take is not told to those who wait for it."""
COMMANDS = {
    "inspect": ("inspect",),
    "inspect --report": ("inspect", "--report", "REPORT"),
    "inspect --cache": ("inspect", CACHE),
    "explain": ("explain", "POD", "-n", "NAMESPACE"),
    "explain --cache": ("explain", "POD", "-n", "NAMESPACE", CACHE),
    "simulate": ("simulate",),
    "solve": ("solve", "--rebalance"),
    "solve --report": ("solve", "--rebalance", "--report", "REPORT"),
    "evict": ("evict", *ALONE),
    "evict --seeds 20": ("evict", "--seeds", "20", *ALONE),
    "drain": ("drain", "node-0001"),
}


def dump_path(case: Case, cache: Path) -> Path:
    """Where the input of a case is kept."""
    nodes, drift = case.integer("nodes"), case.text("drift")
    return cache / f"commands-{nodes}-{drift}-{case.seed}.json"


def prepare(case: Case, cache: Path) -> None:
    """The dump, written once for all commands; and modules are compiled, as by an installation."""
    for package in (planner, planner_models):
        compile_dir(package.__path__[0], quiet=2)
    path = dump_path(case, cache)
    if not path.exists():
        drift = cast("Drift", case.text("drift"))
        items = list(_objects(case.integer("nodes"), drift, case.seed))
        text = {"apiVersion": "v1", "items": items, "kind": "List"}
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(text, separators=(",", ":")), encoding="utf-8")
        pods = [each for each in items if each["kind"] == "Pod"]
        waiting = (each for each in pods if not each["spec"]["nodeName"])
        metadata = next(waiting, pods[-1])["metadata"]
        _about(path).write_text(f"{metadata['namespace']} {metadata['name']}", encoding="utf-8")
        unfinished.rename(path)
    if CACHE in COMMANDS[case.method]:
        with _own_cache(cache):
            planner.load(path, cache=True)


def _own_cache(cache: Path) -> Any:
    """What is kept belongs to the benchmark, not to the user."""
    return patch.dict(os.environ, {"XDG_CACHE_HOME": str(cache / "kept")})


def _about(path: Path) -> Path:
    """Which pod is asked about: the first that waits, or else the last."""
    return path.with_suffix(".pod")


def _objects(nodes: int, drift: Drift, seed: int) -> Iterator[Json]:
    from benchmarks.drift import drifted

    cluster = drifted(nodes, drift, seed)
    specs: dict[int, Json] = {}
    for node in cluster.nodes:
        offered = _quantities(node.status.allocatable)
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node.name, "uid": _uid(node.name), "labels": dict(node.labels)},
            "status": {
                "allocatable": offered,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
    for pod in cluster.pods:
        if id(pod.spec) not in specs:
            specs[id(pod.spec)] = _spec(pod.spec)
        owner = pod.owner
        assert owner is not None
        reference = {"apiVersion": "apps/v1", "kind": owner.kind, "name": owner.name}
        told = [{"type": "Ready", "status": "True", "lastTransitionTime": CREATED}]
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": pod.name,
                "namespace": pod.namespace,
                "uid": _uid(pod.key),
                "labels": dict(pod.labels),
                "creationTimestamp": CREATED,
                "ownerReferences": [{**reference, "uid": _uid(owner.name), "controller": True}],
            },
            "spec": {**specs[id(pod.spec)], "nodeName": pod.node_name},
            "status": {"phase": pod.phase, "conditions": told if pod.node_name else []},
        }


def _uid(name: str) -> str:
    return str(uuid.UUID(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()))


def _spec(spec: Any) -> Json:
    found: Json = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for container in found["containers"]:
        container["name"] = "main"
        container["resources"]["requests"] = _quantities(container["resources"]["requests"])
    return found


def _quantities(amounts: Any) -> dict[str, str]:
    """As they are written; models hold nano-units."""
    return {
        name: f"{int(amount) * 1000 // NANO}m" if name == "cpu" else str(int(amount) // NANO)
        for name, amount in amounts.items()
    }


class Stages:
    """Processor time of this process and its children since it began, by what it went into."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.total = 0.0

    def end(self, stage: str) -> None:
        """What was spent since the last stage ended was for this one."""
        now = used()
        self.spent[stage] = self.spent.get(stage, 0.0) + now - self.total
        self.total = now

    @contextmanager
    def of(self, owner: Any, method: str, before: str, stage: str) -> Iterator[None]:
        """Calls of a method are a stage; what came since the last one is `before`."""
        given: Callable[..., Any] = getattr(owner, method)

        def timed(*args: Any, **options: Any) -> Any:
            self.end(before)
            try:
                return given(*args, **options)
            finally:
                self.end(stage)

        with patch.object(owner, method, timed):
            yield


def used() -> float:
    """Processor seconds so far."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(case: Case, cache: Path) -> Measured:
    """One command in this process, which is a fresh one."""
    path, begun, stages = dump_path(case, cache), time.perf_counter(), Stages()
    command = list(_filled(case, path))
    from planner.api.cluster import Cluster
    from planner.cli.app import main

    output, report = (path.with_suffix(f".{os.getpid()}.{kind}") for kind in ("out", "html"))
    with (
        _own_cache(cache),
        stages.of(planner, "load", "start", "load"),
        stages.of(Cluster, command[0], "start", "decide"),
        output.open("w", encoding="utf-8") as out,
        redirect_stdout(out),
    ):
        code = main([*command, "-f", str(path)])
    stages.end("show")
    seconds, size = time.perf_counter() - begun, output.stat().st_size
    output.unlink()
    report.unlink(missing_ok=True)
    wrong = () if code in ANSWERS and size else (f"exit code {code}, {size} bytes",)
    values = {
        "mb": round(path.stat().st_size / 1e6, 1),
        **{stage: stages.spent.get(stage, 0.0) for stage in ("start", "load", "decide", "show")},
    }
    return Measured(seconds, stages.total, values, wrong)


def _filled(case: Case, path: Path) -> Iterator[str]:
    """The command line of a case."""
    namespace, _, name = _about(path).read_text(encoding="utf-8").partition(" ")
    words = {
        "POD": f"pod/{name}",
        "NAMESPACE": namespace,
        "REPORT": str(path.with_suffix(f".{os.getpid()}.html")),
    }
    for word in COMMANDS[case.method]:
        yield words.get(word, word)
