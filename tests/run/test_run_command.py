"""`planner run` and `planner status` as processes, through the real kubectl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apply.world_api import example_api
from tests.live.clusters import example_objects
from tests.live.fake_api import FakeApi
from tests.live.kubeconfigs import kubeconfig, needs_kubectl
from tests.run.test_loop import OWN_WRITES
from tests.run.world import OWN, POLICY

pytestmark = needs_kubectl


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    found = FakeApi(example_objects())
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.setenv("POD_NAME", "planner-0")
    with found.serve() as address:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, address))
        yield found


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = ("-m", "planner", "run", "--policy", "policy.yaml", "-n", OWN, "--port", "0", *words)
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def test_one_round_reads_plans_and_writes_nothing_else(api: FakeApi, tmp_path: Path) -> None:
    process = started(tmp_path, "--once", "--log-format", "text")
    _, said = process.communicate(timeout=300)
    lines = said.splitlines()
    assert lines[0] == "dry run: nothing will be evicted (mode: DryRun); leader is planner-0"
    assert lines[1].startswith("round 1: read 12 nodes, 51 pods (")
    assert lines[2].startswith("round 1: would evict 10 of 12 (limit perRound 10) in 3 waves; ")
    assert process.returncode == 3
    written = [f"{each.method} {each.path}" for each in api.requests if each.method != "GET"]
    assert [each for each in written if not OWN_WRITES.fullmatch(each)] == []
    command = [sys.executable, "-m", "planner", "status", "-n", OWN]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "nobody holds its Lease" in " ".join(found.stdout.split())
    assert found.returncode == 3


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_and_lets_go_of_the_lease(
    number: signal.Signals, code: int, api: FakeApi, tmp_path: Path
) -> None:
    process = started(tmp_path)
    assert process.stderr is not None
    first = json.loads(process.stderr.readline())
    assert first["msg"].startswith("dry run: ")
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == code
    lease = api.found("leases", f"{OWN}/planner-run")
    assert lease is not None
    assert "holderIdentity" not in lease["spec"]


def test_pods_are_evicted_by_real_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through kubectl's proxies, on a cluster whose time passes a little faster than ours."""
    alive = example_api()
    (tmp_path / "policy.yaml").write_text(POLICY)
    over = threading.Event()

    def pass_time() -> None:
        while not over.wait(0.05):
            with alive._lock:
                alive.sleep(1.0)

    time = threading.Thread(target=pass_time)
    with alive.serve() as address:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, address))
        time.start()
        try:
            process = started(tmp_path, "--once", "--mode", "Apply", "--log-format", "text")
            _, said = process.communicate(timeout=600)
        finally:
            over.set()
            time.join()
    assert "round 1: evicted 10 of 10, excess 27 -> 2" in said, said
    assert process.returncode == 3  # the rest is the next round's
    assert len(alive.evicted) == 10
    assert alive.broken_budgets == []
    assert {each["reason"] for each in alive.all_of("events")} == {"EvictedByPlanner"}
    lock = alive.found("leases", "kube-system/planner")
    assert lock is not None
    assert "holderIdentity" not in lock["spec"]
