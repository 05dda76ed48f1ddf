"""A shell for scripts that evict: a kubectl with a small cluster, and no time that passes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from planner.cluster import Cluster
from tests.report import fake_kubectl

OWNER = "ReplicaSet/web-1"


class Shell:
    """Runs scripts; `state` is what the fake kubectl knows."""

    def __init__(self, folder: Path, **state: Any) -> None:
        self.folder = folder
        pods = {
            name: {"uid": f"uid-{name}", "node": "n1", "controller": OWNER, "ready": 0}
            for name in state.pop("pods", ("w1", "w2", "w3"))
        }
        nodes = {"n1": {"zone": "a", "cordoned": False}, "n2": {"zone": "b", "cordoned": False}}
        given = {"pods": pods, "nodes": nodes, "lands": dict.fromkeys(pods, "n2"), "evicted": []}
        self._state = folder / "state.json"
        self._state.write_text(json.dumps(given | state))
        fake = shlex.join((sys.executable, "-ISs", fake_kubectl.__file__, str(folder)))
        for name, text in (("kubectl", f'exec {fake} "$@"'), ("sleep", "exit 0")):
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)

    @classmethod
    def of(cls, folder: Path, cluster: Cluster, key: str, **state: Any) -> Self:
        """With the pods of a snapshot, and its nodes by the domain of a label."""
        nodes = {n.name: {"zone": n.labels.get(key, ""), "cordoned": False} for n in cluster.nodes}
        shell = cls(folder, **{"nodes": nodes, **state})
        shell.change(
            pods={
                pod.name: {
                    "uid": pod.uid,
                    "node": pod.node_name,
                    "controller": f"{pod.owner.kind}/{pod.owner.name}",
                    "ready": 0 if pod.node_name else None,
                }
                for pod in cluster.pods
                if pod.owner is not None and pod.namespace == "default"
            }
        )
        return shell

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._state.read_text())
        return found

    def change(self, **state: Any) -> None:
        self._state.write_text(json.dumps(self.state | state))

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["/bin/sh", "-s", "--", *arguments],
            input=script.replace("patience=600", "patience=10"),
            cwd=self.folder,
            env={"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[list[str]]:
        notes = self.folder / "calls"
        return (
            [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
        )

    def cordons(self) -> list[tuple[bool, str]]:
        """Every cordon that was set or lifted, in order."""
        patches = [call for call in self.calls() if call[0] == "patch"]
        return [(bool(json.loads(c[4])["spec"]["unschedulable"]), c[-1]) for c in patches]
