"""Commands on a running cluster, through the real kubectl."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.cli import app
from planner.cli.reading_line import ReadingLine
from planner.sources.live.reader import ReadProgress
from planner_models.documents import DOCUMENTS
from tests.live.clusters import KUBE_SYSTEM, example_objects, many_pods
from tests.live.fake_api import FakeApi
from tests.live.kubeconfigs import kubeconfig, needs_kubectl
from tests.objects import pod, workload

pytestmark = needs_kubectl
Run = Callable[..., tuple[int, str, str]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def api() -> FakeApi:
    return FakeApi(example_objects())


@pytest.fixture
def run(
    api: FakeApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """A command as on a terminal, where the current context is that of the fake server."""
    monkeypatch.setattr(sys, "stdin", Terminal())

    def command(*words: str, program: str = "planner") -> tuple[int, str, str]:
        code = app.main(words, program)
        return code, *capsys.readouterr()

    with api.serve() as address:
        monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, address))
        yield command


def dumped(folder: Path, objects: list[Any]) -> str:
    """What kubectl get -o json | gzip would have written; answers name no lines of it."""
    file = folder / "cluster.json.gz"
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    file.write_bytes(gzip.compress(text.encode()))
    return str(file)


@pytest.mark.parametrize(
    ("example", "command"),
    [
        *[
            ("zone-outage", command)
            for command in (
                "inspect",
                "simulate",
                "solve --rebalance",
                "evict",
                "drain b1",
            )
        ],
        ("zone-outage", "capacity --moves 0 --survive none"),
        ("zone-outage", "check --survive none --seeds 1"),
        ("docs-conflicting-constraints", "explain -A"),
        ("docs-conflicting-constraints", "simulate"),
    ],
)
def test_a_running_cluster_and_its_dump_give_the_same_document(
    api: FakeApi, run: Run, tmp_path: Path, example: str, command: str
) -> None:
    objects = [
        {**each, "metadata": {**each["metadata"], "uid": each["metadata"].get("uid", f"uid-{i}")}}
        for i, each in enumerate(example_objects(example))
    ]
    api.fill(objects)
    words = (*command.split(), "-o", "json")
    live = run(*words)
    dump = run(
        *words, "--against" if command.startswith("check") else "-f", dumped(tmp_path, objects)
    )
    assert live[0] == dump[0]
    told, expected = json.loads(live[1]), json.loads(dump[1])
    source = told.pop("source")
    assert source["context"] == "prod-eu"
    assert source["cluster"] == KUBE_SYSTEM["metadata"]["uid"]
    if not command.startswith("check"):
        assert expected.pop("source") == {"cluster": source["cluster"], "notRead": []}
    assert told == expected


def test_every_document_about_a_cluster_says_which_one() -> None:
    silent = [kind for kind, model in DOCUMENTS.items() if "source" not in model.model_fields]
    of_many = ("Fleet", "Sweep")
    assert [kind for kind in silent if not kind.startswith(of_many)] == []


def test_stdin_is_left_to_the_loop_around_planner(api: FakeApi, tmp_path: Path) -> None:
    config = tmp_path
    with api.serve() as address:
        file = kubeconfig(config, address)
        planner = f"{sys.executable} -m planner"
        script = (
            "printf 'one\\ntwo\\nthree\\n' | while read line; do "
            f"{planner} inspect --kubeconfig {file} -o name > /dev/null && echo $line; done"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run(
            ["/bin/sh", "-c", script], capture_output=True, text=True, env=environment, check=True
        )
    assert result.stdout == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("words", "stdin", "live"),
    [
        ((), "terminal", True),
        ((), os.devnull, True),
        ((), "pipe", False),
        (("--live",), "pipe", True),
        (("-A",), "pipe", True),
        (("-n", "kube-system"), "pipe", True),
        (("--context", "staging"), "pipe", True),
    ],
)
def test_what_is_piped_in_counts_unless_a_cluster_is_named(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, ...],
    stdin: str,
    live: bool,
) -> None:
    piped = tmp_path / "piped.json"
    piped.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": many_pods(1)}))
    with (piped if stdin == "pipe" else Path(os.devnull)).open() as stream:
        monkeypatch.setattr(sys, "stdin", Terminal() if stdin == "terminal" else stream)
        code, out, err = run("inspect", *words, "-o", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["nodes"]["total"] == (12 if live else 3)


def test_a_plugin_of_kubectl_never_reads_stdin(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "piped").open("w+") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        code, out, _ = run("inspect", "-o", "json", program="kubectl planner")
    assert code == 0
    assert json.loads(out)["nodes"]["total"] == 12


def test_files_alone_need_no_cluster(run: Run, api: FakeApi, tmp_path: Path) -> None:
    file = dumped(tmp_path, many_pods(1))
    assert run("inspect", "-f", file, "-n", "default", program="kubectl planner")[0] == 0
    assert api.requests == []


def test_a_manifest_is_tried_on_the_cluster_as_it_is(run: Run, tmp_path: Path) -> None:
    manifest = workload("Deployment", "new", {"replicas": 2})
    del manifest["metadata"]["namespace"]
    code, out, err = run("simulate", "--live", "-f", dumped(tmp_path, [manifest]), "-o", "json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [each["pod"].partition("/")[0] for each in found["pods"]] == ["shop", "shop"]


def test_the_cluster_can_be_written_as_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "after.json"
    assert run("simulate", "--out", str(file))[0] == 0
    assert run("inspect", "-f", str(file), "-o", "name")[1] == run("inspect", "-o", "name")[1]


def test_a_page_says_which_cluster_and_files_it_is_about(run: Run, tmp_path: Path) -> None:
    page, file = tmp_path / "page.html", dumped(tmp_path, [workload("Deployment", "new")])
    assert run("simulate", "--live", "-f", file, "--report", str(page))[0] == 0
    assert f"context prod-eu, {file}" in page.read_text()


def test_targets_are_looked_up_where_the_context_is(api: FakeApi, run: Run) -> None:
    api.put(pod("here", metadata={"namespace": "shop"}))
    api.put(pod("there", metadata={"namespace": "default"}))
    assert run("explain", "pod/here")[0] == 0
    code, _, err = run("explain", "pod/there")
    assert (code, "there" in err) == (1, True)
    assert run("explain", "pod/there", "-n", "default")[0] == 0


def test_all_pending_is_about_the_own_namespace_unless_all_are_asked_for(
    api: FakeApi, run: Run
) -> None:
    api.put(pod("here", metadata={"namespace": "shop"}))
    api.put(pod("there", metadata={"namespace": "default"}))
    assert "pod/there" not in run("explain", "--all-pending")[1]
    assert "pod/there" in run("explain", "--all-pending", "-A")[1]


def test_suggested_commands_read_the_same_cluster(api: FakeApi, run: Run) -> None:
    api.put(pod("big", spec={"nodeSelector": {"no": "such"}}))
    _, out, _ = run("simulate", "--context", "staging", program="kubectl planner")
    assert "kubectl planner explain --context staging pod/big" in out
    _, out, _ = run("simulate", "-A")
    assert "planner explain -n default pod/big" in out


@pytest.mark.parametrize("command", ["evict", "solve --rebalance", "drain b1"])
def test_a_script_acts_on_the_cluster_that_was_read(run: Run, command: str) -> None:
    _, out, _ = run(*command.split(), "-o", "script")
    assert "command kubectl --context 'prod-eu' \"$@\"\n" in out


def test_what_was_not_read_is_a_warning(api: FakeApi, run: Run) -> None:
    api.version = "v1.33.4"
    api.forbidden.add("services")
    code, _, err = run("inspect")
    assert code == 0
    assert err == (
        "warning: the server is v1.33.4; planner decides as kube-scheduler v1.36 does\n"
        "warning: 1 kind was not read (forbidden): services\n"
        "  How kube-scheduler spreads the pods of Services by default is unknown.\n"
    )


@pytest.mark.parametrize("command", ["evict", "solve --rebalance", "drain"])
def test_evictions_are_not_planned_without_the_budgets(
    api: FakeApi, run: Run, command: str
) -> None:
    api.forbidden.add("poddisruptionbudgets")
    code, _, err = run(*command.split())
    assert code == 1
    assert (
        f"error: you may not list poddisruptionbudgets, and {command} must not plan around them\n"
        in err
    )


def test_an_example_is_a_cluster_of_its_own(run: Run) -> None:
    code, _, err = run("inspect", "--live", "--example", "zone-outage")
    assert code == 2
    assert err == "error: --example zone-outage is a cluster of its own, beside no running one\n"


def test_a_timeout_must_be_a_time(run: Run) -> None:
    code, _, err = run("inspect", "--request-timeout", "soon")
    assert code == 2
    assert err.startswith("error: --request-timeout is 'soon', which is no time\n")


def test_progress_is_one_line_on_terminals_and_gone_in_the_end() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with ReadingLine(stream) as line:
            line(ReadProgress("prod-eu", 5000, 41500))
    assert terminal.getvalue().split("\r")[1].rstrip() == (
        "reading prod-eu: 5,000 nodes, 41,500 pods so far"
    )
    assert terminal.getvalue().endswith(" \r")
    assert file.getvalue() == ""
