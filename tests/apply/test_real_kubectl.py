"""`planner evict | planner apply` as processes, through the real kubectl and in real time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apply.world_api import WorldApi, example_api
from tests.live.fake_requests import Request
from tests.live.kubeconfigs import kubeconfig, needs_kubectl

pytestmark = needs_kubectl


class Hurried(WorldApi):
    """Something happens in the cluster at every request."""

    def answer(self, request: Request) -> tuple[int, Mapping[str, str], Any]:
        with self._lock:
            self.now = time.time()
            self.tick()
            return super().answer(request)


@pytest.fixture
def api() -> WorldApi:
    made = example_api()
    made.__class__ = Hurried
    return made


@pytest.fixture
def environment(api: WorldApi, tmp_path: Path) -> Iterator[dict[str, str]]:
    with api.serve() as address:
        known = {"KUBECONFIG": kubeconfig(tmp_path, address), "PYTHONPATH": ":".join(sys.path)}
        yield {**os.environ, **known}


def planner(
    environment: dict[str, str], folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "planner", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_evict_and_apply(api: WorldApi, environment: dict[str, str], tmp_path: Path) -> None:
    made = planner(environment, tmp_path, "evict", "-A", "--seeds", "2", "-o", "json")
    assert made.returncode == 0, made.stderr
    plan = json.loads(made.stdout)
    assert len(plan["planId"]) == 12
    (tmp_path / "plan.json").write_text(made.stdout)
    asked = planner(environment, tmp_path, "apply", "plan.json", "--dry-run")
    assert (asked.returncode, api.evicted) == (0, []), asked.stderr
    done = planner(environment, tmp_path, "apply", "plan.json", "--yes", "--wave", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Done up to wave 1: 7 evicted" in done.stdout
    assert len(api.evicted) == 7
    agents = {each.headers["User-Agent"] for each in api.requests if each.method == "POST"}
    assert {agent.rpartition(" ")[2] for agent in agents} == {plan["planId"]}
    assert {each.method for each in api.requests} == {"GET", "POST", "PATCH"}


def test_ctrl_c_leaves_nothing_behind(
    api: WorldApi, environment: dict[str, str], tmp_path: Path
) -> None:
    made = planner(environment, tmp_path, "evict", "-A", "--seeds", "2", "-o", "json")
    (tmp_path / "plan.json").write_text(made.stdout)
    with subprocess.Popen(
        [sys.executable, "-m", "planner", "apply", "plan.json", "--yes"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        line = ""
        while not line.startswith("wave 1 of 4"):
            line = running.stdout.readline()
            assert line
        while not api.evicted and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        rest = running.stdout.read()
    assert running.returncode == 130
    assert rest.startswith("No further evictions.")
    assert "Resume: planner apply plan.json" in " ".join(rest.split())
    held = api.found("leases", "kube-system/planner")
    assert held is not None
    assert "holderIdentity" not in held["spec"]
    assert 0 < len(api.evicted) <= 7
