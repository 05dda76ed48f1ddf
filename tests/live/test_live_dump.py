"""Dumps of a running cluster: they say where they come from, and answer as the cluster does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner
from tests.live.fake_api import FakeApi
from tests.live.kubeconfigs import needs_kubectl
from tests.live.test_live_commands import Run, api, run
from tests.objects import workload

__all__ = ["api", "run"]
pytestmark = needs_kubectl


def noted(file: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(file.read_text())["metadata"]["annotations"]
    return {key.removeprefix("planner/"): value for key, value in found.items()}


def test_a_dump_says_which_cluster_it_is_of_and_when_it_was_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "snap.json"
    code, out, err = run("dump", "-o", str(file))
    assert (code, err) == (0, "")
    assert out.startswith(f"Wrote {file}: 12 nodes, 51 pods, ")
    found = noted(file)
    assert found.keys() == {"cluster", "context", "server", "resourceVersion", "time", "complete"}
    code, _, err = run("evict", "-f", str(file))
    assert err.startswith(f"warning: this is {found['context']} as it was ")
    assert err.endswith(" s ago\n")


@pytest.mark.parametrize("command", ["inspect", "simulate", "solve", "evict"])
def test_a_dump_answers_as_the_cluster_does(run: Run, tmp_path: Path, command: str) -> None:
    file = tmp_path / "snap.json.gz"
    run("dump", "-o", str(file))
    live, dumped = run(command, "-o", "json"), run(command, "-f", str(file), "-o", "json")
    assert live[0] == dumped[0]
    one, other = json.loads(live[1]), json.loads(dumped[1])
    for document in (one, other):
        del document["source"]["readAt"]
    assert one["source"].pop("readMilliseconds") >= 0
    assert one == other


@pytest.mark.parametrize("more", [(), ("--anonymous",)])
def test_pods_that_a_controller_could_not_make_are_not_made_from_a_dump(
    api: FakeApi, run: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    api.put(workload("Deployment", "refused", {"replicas": 3}, metadata={"uid": "u"}))
    file = tmp_path / "snap.json"
    run("dump", *more, "-o", str(file))
    assert len(planner.load(file).pods) == 51


def test_what_could_not_be_read_is_known_of_the_dump(
    api: FakeApi, run: Run, tmp_path: Path
) -> None:
    api.forbidden.add("poddisruptionbudgets")
    file = tmp_path / "snap.json"
    run("dump", "-o", str(file))
    assert noted(file)["notRead"] == "poddisruptionbudgets"
    code, _, err = run("evict", "-f", str(file))
    assert code == 1
    assert "you may not list poddisruptionbudgets" in err


def test_what_was_read_a_moment_ago_is_taken_where_that_is_young_enough(
    api: FakeApi, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _, first, _ = run("inspect", "--max-age", "10m")
    asked = len(api.requests)
    _, second, said = run("inspect", "--max-age", "10m")
    assert (second, len(api.requests)) == (first, asked)
    assert "as it was" in said


def test_an_age_that_is_none_is_one_clear_line(run: Run) -> None:
    code, _, said = run("inspect", "--max-age", "soon")
    assert (code, "--max-age is 'soon', which is no time" in said) == (2, True)
