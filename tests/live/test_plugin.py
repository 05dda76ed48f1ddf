"""`kubectl planner`: completion, krew's launcher, and the roles to ask for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import planner
from planner.cli import app, completion
from planner.cli.completion import FILES, NO_FILES, completions
from planner.sources.live.kinds import KINDS
from tests.live.clusters import many_pods
from tests.live.fake_api import FakeApi, Fault, always
from tests.live.kubeconfigs import kubeconfig, needs_kubectl
from tests.objects import pod

ROOT = Path(__file__).parents[2]
LAUNCHER = ROOT / "packaging" / "krew" / "kubectl-planner"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    waiting = pod("web-7d9f-x4v7p", metadata={"namespace": "shop"})
    running = pod("api-1", "node-0", metadata={"namespace": "shop"})
    api = FakeApi([*many_pods(2), waiting, running])
    monkeypatch.setattr(completion, "PATIENCE", 20.0)  # this machine may be busy
    with api.serve() as address:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, address))
        yield api


def words(*given: str) -> list[str]:
    return [word for word, _ in completions(given)[0]]


def test_commands_come_first() -> None:
    found, directive = completions(["ex"])
    assert found == [("explain", "Say why pods can't run, and the cheapest changes that let them")]
    assert directive == NO_FILES


def test_options_are_those_of_the_command() -> None:
    assert words("evict", "--max-ev") == [
        "--max-evictions",
        "--max-evictions-per-node",
        "--max-evictions-per-namespace",
    ]
    assert "--context" in words("evict", "--c")
    assert words("fleet", "--context") == []


def test_a_command_with_a_meaning_of_its_own_for_as_keeps_it() -> None:
    assert words("capacity", "--as") == ["--as"]
    assert words("inspect", "--as") == ["--as", "--as-group"]


def test_values_of_an_option_are_its_choices() -> None:
    assert words("solve", "-o", "ma") == ["markdown"]
    assert "zone-outage" in words("inspect", "--example", "")


@pytest.mark.parametrize("option", ["-f", "--kubeconfig", "--report"])
def test_files_are_for_the_shell_to_name(option: str) -> None:
    assert completions(["explain", option, ""]) == ([], FILES)


@needs_kubectl
def test_pods_without_a_node_are_offered_first(
    api: FakeApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-planner", "explain", "po"])
    assert completion.main() == 0
    assert capsys.readouterr().out == "pod/web-7d9f-x4v7p\twaits for a node\npod/api-1\n:4\n"
    asked = [request for request in api.requests if request.resource == "pods"]
    assert {request.query["limit"] for request in asked} == {"250"}


@needs_kubectl
def test_names_are_those_of_the_cluster_and_namespace_that_the_words_name(api: FakeApi) -> None:
    assert words("inspect", "-n", "default", "pod/") == ["pod/pod-00000", "pod/pod-00001"]
    assert words("inspect", "--context", "staging", "p") == ["pod/pod-00000", "pod/pod-00001"]
    assert words("simulate", "-n", "kube") == ["kube-system"]
    assert words("evict", "--for", "node") == ["node-0", "node-1", "node-2"]
    assert words("drain", "") == ["node-0", "node-1", "node-2"]


@needs_kubectl
def test_a_slow_server_is_not_waited_for(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "PATIENCE", 0.5)
    api.faults.append(always("pods", Fault(delay=3.0)))
    begin = time.monotonic()
    assert words("explain", "po") == []
    assert time.monotonic() - begin < 2.5


def test_a_cluster_that_is_not_there_gives_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_KUBECTL", "no-such-kubectl")
    assert completions(["explain", "po"]) == ([], NO_FILES)


def test_help_speaks_of_the_program_that_was_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["inspect", "--help"], "kubectl planner") == 0
    assert capsys.readouterr().out.startswith("Usage: kubectl planner inspect [OPTIONS]")


def launched(path: Path | str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    command = [str(LAUNCHER), "explain", "pod/a b"]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_launcher_runs_the_planner_that_is_installed(tmp_path: Path) -> None:
    for name in ("planner", "kubectl-planner"):
        (tmp_path / name).write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    assert launched(tmp_path).stdout == "kubectl-planner\nexplain\npod/a b\n"


def test_the_launcher_alone_says_what_to_install(tmp_path: Path) -> None:
    result = launched(tmp_path)
    assert result.returncode == 1
    assert result.stderr == (
        "error: planner itself is not installed\n"
        "help: pipx install pod-planner, or uv tool install pod-planner\n"
    )


def test_the_manifest_for_krew_is_about_the_launcher() -> None:
    manifest = yaml.safe_load((LAUNCHER.parent / "planner.yaml").read_text())
    (platform,) = manifest["spec"]["platforms"]
    assert platform["bin"] == LAUNCHER.name
    assert "pipx install pod-planner" in manifest["spec"]["caveats"]


def granted(text: str) -> dict[tuple[str, str], list[str]]:
    """The verbs for each resource of a group."""
    return {
        (group, resource): rule["verbs"]
        for role in yaml.safe_load_all(text)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_reading_needs_lists_of_what_is_read_and_nothing_else() -> None:
    rights = granted(planner.rbac())
    assert set(rights) == {(kind.group, kind.resource) for kind in KINDS}
    assert {tuple(verbs) for verbs in rights.values()} == {("get", "list")}


def test_carrying_plans_out_needs_evictions_cordons_and_the_lock() -> None:
    reading, all_rights = granted(planner.rbac()), granted(planner.rbac(apply=True, events=True))
    assert {key for key in all_rights if all_rights[key] != reading.get(key)} == {
        ("", "pods/eviction"),
        ("", "nodes"),
        ("coordination.k8s.io", "leases"),
        ("events.k8s.io", "events"),
    }


def test_no_role_reaches_secrets() -> None:
    assert "secrets" not in planner.rbac(apply=True, events=True)
