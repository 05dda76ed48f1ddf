"""`planner sweep` from outside: many clusters, a line each."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.cli import one_of_many, sweep
from planner.cli.app import main
from planner.workers import processes

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def of(*words: str) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return of


def cluster(path: Path, *, room: bool) -> str:
    """A node, and a pod that fits or waits."""
    items: list[Any] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "eu-1a"}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1" if room else "9"}}}
                ]
            },
            "status": {"phase": "Pending"},
        },
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.fixture
def clusters(tmp_path: Path) -> list[str]:
    """One that is fine, one with a pod that can't run, one that is broken, one that is missing."""
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind": ')
    return [
        cluster(tmp_path / "good.json", room=True),
        cluster(tmp_path / "full.json", room=False),
        str(broken),
        str(tmp_path / "missing.json"),
    ]


def test_a_failing_cluster_is_a_line_and_the_worst_is_first(run: Run, clusters: list[str]) -> None:
    code, out, err = run("sweep", *clusters, "-o", "json", "--", "solve")
    rows = json.loads(out)["rows"]
    told = [(Path(row["cluster"]).stem, row["exitCode"]) for row in rows]
    assert told == [("broken", 1), ("missing", 1), ("full", 3), ("good", 0)]
    assert "no such file" in rows[1]["headline"]
    assert (code, err) == (1, "")


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "csv", "markdown", "html"])
def test_more_processes_give_the_same_bytes(
    run: Run, clusters: list[str], output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "BEGIN_HERE", 0.0)
    monkeypatch.setattr(processes, "WORTH_IT", 0.0)
    words = ("sweep", *clusters, "-o", output)
    alone = run(*words, "--jobs", "1", "--", "solve")
    if output != "json":
        assert "good.json" in alone[1]
        return
    assert run(*words, "--jobs", "2", "--", "solve") == alone


def test_a_dask_cluster_gives_the_same_bytes(
    run: Run, clusters: list[str], dask_address: str
) -> None:
    words = ("sweep", *clusters, "-o", "json")
    alone = run(*words, "--jobs", "1", "--", "solve")
    assert run(*words, "--dask", dask_address, "--", "solve") == alone


def test_documents_are_files_and_done_ones_are_left_out(
    run: Run, clusters: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = ("sweep", *clusters[:2], "--out", str(out), "-o", "json")
    _, first, _ = run(*words, "--", "solve")
    rows = json.loads(first)["rows"]
    assert [json.loads((out / row["document"]).read_text())["kind"] for row in rows] == ["Plan"] * 2
    assert all((out / row["report"]).read_text().startswith("<!doctype html>") for row in rows)

    asked: list[str] = []
    really = one_of_many.run_one

    def counted(command: Any, place: Any) -> Any:
        asked.append(Path(place.name).stem)
        return really(command, place)

    monkeypatch.setattr(sweep, "run_one", counted)
    assert run(*words, "--resume", "--jobs", "1", "--", "solve")[1] == first
    assert asked == []
    cluster(Path(clusters[1]), room=True)
    assert run(*words, "--resume", "--jobs", "1", "--", "solve")[0] == 0
    assert asked == ["full"]
    run(*words, "--resume", "--jobs", "1", "--", "simulate")
    assert asked == ["full", "good", "full"]


@pytest.mark.usefixtures("ctrl_c_reaches_python")
def test_ctrl_c_ends_with_what_is_there(
    run: Run, clusters: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    really = one_of_many.run_one

    def interrupted(command: Any, place: Any) -> Any:
        if "full" in place.name:
            signal.raise_signal(signal.SIGINT)
        return really(command, place)

    monkeypatch.setattr(sweep, "run_one", interrupted)
    code, out, err = run("sweep", *clusters, "--jobs", "1", "-o", "json", "--", "solve")
    found = json.loads(out)
    assert (code, err) == (130, "Interrupted.\n")
    assert [Path(row["cluster"]).stem for row in found["rows"]] == ["good"]
    assert (found["stopped"], found["notRun"]) == ("interrupted", 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x.json"], "sweep needs a command after --"),
        (["--", "inspect"], "sweep needs clusters"),
        (["x.json", "--", "dump"], "sweep can't ask dump"),
        (["x.json", "--", "check", "-o", "json"], "-o goes before --"),
        (["x.json", "--resume", "--", "check"], "--resume goes with --out"),
        (["-f", "x.json", "--", "check"], "-f goes with --grid"),
    ],
)
def test_what_can_not_be_meant_is_refused(run: Run, words: list[str], told: str) -> None:
    code, _, err = run("sweep", *words)
    assert code == 2
    assert told in err


def test_a_command_that_is_refused_is_told_in_every_line(run: Run, clusters: list[str]) -> None:
    code, out, _ = run("sweep", clusters[0], "-o", "csv", "--", "whatif")
    assert code == 1
    assert "what if nothing happens?" in out
