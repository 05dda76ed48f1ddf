from __future__ import annotations

import inspect
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from planner import (
    Cluster,
    Fleet,
    Live,
    __version__,
    apply_plan,
    check,
    load,
    run_policy,
    start_workers,
)
from planner.api.names import require_nodes
from planner.cli import app
from planner.cli.app import COMMANDS
from planner.cli.errors import FLAGS, report_error
from planner.cluster import build_cluster
from planner.errors import UsageError
from planner.examples import example_path
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory

ROOT = Path(__file__).resolve().parent.parent.parent
SKEW = """\
apiVersion: v1
kind: Pod
metadata: {name: web-1}
spec:
  containers: [{name: web}]
  topologySpreadConstraints:
  - {maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """planner as a user starts it."""
    return subprocess.run(
        [sys.executable, "-m", "planner", *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        check=False,
    )


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.returncode == 0
    assert b"inspect" in result.stdout
    assert b"schema" in result.stdout
    assert result.stderr == b""


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_of_a_command_stand_on_lines_of_their_own(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main([command, "--help"]) == 0
    for line in capsys.readouterr().out.split("Arguments:")[0].splitlines():
        assert line.count(f"planner {command}") <= 1
        assert "\\b" not in line


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: planner")


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--version"]) == 0
    assert capsys.readouterr().out == f"planner {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_completion(shell: str) -> None:
    environment = {**os.environ, "_PLANNER_COMPLETE": f"source_{shell}"}
    result = subprocess.run(
        [sys.executable, "-m", "planner"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0
    assert "planner" in result.stdout


def test_example_list_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["inspect", "--example", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split("  ")[0] == "docs-conflicting-constraints"


def test_piped_objects_are_read_without_any_option() -> None:
    data = example_path("zone-outage").read_bytes()
    piped = run("inspect", stdin=data)
    named = run("inspect", "-f", "-", stdin=data)
    assert piped.returncode == named.returncode == 0
    assert piped.stdout == named.stdout
    assert b"27 over the limit" in piped.stdout
    assert piped.stderr == b""


def test_files_add_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    extra = tmp_path / "node.yaml"
    extra.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n")
    code = app.main(["inspect", "-f", str(extra), "--example", "zone-outage", "-o", "json"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["nodes"]["total"] == 13


def test_results_go_to_stdout_and_progress_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["inspect", "--example", "zone-outage", "-o", "name", "-v"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("deploy/api\n")
    assert captured.err.startswith("read 12 nodes and 51 pods (")


def test_a_name_in_an_error_gives_no_command_to_a_terminal_or_a_ci(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "cluster.json"
    name = "x\n::error::pwned\x1b[31m"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": name, "metadata": {"name": name}}))
    app.main(["inspect", "-f", str(file), name])
    app.main(["explain", "-f", str(file), name])
    lines = capsys.readouterr().err.splitlines()
    assert any("pwned" in line for line in lines)
    assert not any(line.strip().startswith("::") or "\x1b" in line for line in lines)


def test_a_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["schema", "inspection"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Inspection"


def test_schema_alone_names_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["schema"]) == 0
    assert "Inspection" in capsys.readouterr().out.splitlines()


def test_a_missing_file_is_answered_with_the_command_that_makes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.main(["inspect", "-f", "cluster.json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "error: can't read cluster.json: no such file\nhelp: kubectl get "
    )


def test_a_value_that_the_api_refuses_is_shown_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(SKEW)
    assert app.main(["inspect", "-f", "web.yaml"]) == 1
    assert capsys.readouterr().err == (
        "error: maxSkew is 0; it must be at least 1\n"
        "  --> web.yaml: Pod default/web-1 spec.topologySpreadConstraints[0].maxSkew\n"
    )


def test_broken_yaml_is_shown_with_line_and_column(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text("kind: Pod\nmetadata:\n\tname: web\n")
    assert app.main(["inspect", "-f", "web.yaml"]) == 1
    assert capsys.readouterr().err.startswith(
        "error: web.yaml is not valid YAML\n  --> web.yaml:3:1: "
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspec"], "error: no such command 'inspec'"),
        (["inspect", "--bogus"], "error: no such option: --bogus"),
        (["inspect", "-o", "xml"], "error: invalid value for '--output' / '-o': 'xml' is not one"),
        (["inspect", "-f"], "error: option '-f' requires an argument"),
        (
            ["schema", "Inspecton"],
            "error: there is no kind Inspecton\nhelp: did you mean Inspectio",
        ),
    ],
)
def test_usage_errors_exit_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert app.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert "help: " in captured.err


def test_a_fleet_is_not_waited_for_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    assert app.main(["fleet"]) == 2
    assert capsys.readouterr().err == (
        "error: nothing to read: no -f, and stdin is a terminal\n"
        "help: planner fleet -f cluster.json, or pipe kubectl's output, or\n"
        "      try planner fleet --example fleet-walkthrough\n"
    )


def test_placing_needs_nodes() -> None:
    with pytest.raises(SourceError) as caught:
        require_nodes(build_cluster(Inventory()))
    assert caught.value.render() == (
        "error: the input has no nodes, so nothing can be placed\n"
        "help: 0 pods were read; add: kubectl get nodes -o json"
    )


def break_reading(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def read(*_: object) -> None:
        raise error

    monkeypatch.setattr("planner.cli.inspect.read_cluster", read)


def test_a_bug_is_one_line_and_a_hint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reading(monkeypatch, ZeroDivisionError("division\nby zero"))
    assert app.main(["inspect"]) == 1
    assert capsys.readouterr().err == (
        "error: planner has a bug: ZeroDivisionError: division by zero\n"
        "help: -v shows the traceback\n"
    )


def test_too_little_memory_is_no_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reading(monkeypatch, MemoryError())
    assert app.main(["inspect"]) == 1
    assert capsys.readouterr().err.startswith(
        "error: there is not enough memory\nhelp: --max-input"
    )


def test_verbose_shows_the_traceback_of_a_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reading(monkeypatch, ZeroDivisionError("division by zero"))
    assert app.main(["inspect", "-v"]) == 1
    assert capsys.readouterr().err.startswith("Traceback (most recent call last):")


def test_ctrl_c_exits_with_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reading(monkeypatch, KeyboardInterrupt())
    assert app.main(["inspect"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes end differently here")
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "planner", "inspect", "--example", "zone-outage", "-o", "json"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stream:
        assert stream.read() == b""
    assert process.wait() == 141


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_errors_have_colours_on_terminals_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch, no_color: str, coloured: bool
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    assert app.main(["inspect", "--example", "nope"]) == 1
    assert ("\x1b[1;31merror:\x1b[0m" in terminal.getvalue()) == coloured


def test_messages_of_the_facade_speak_of_options_that_there_are() -> None:
    group: Any = typer.main.get_command(app.application(app.COMMANDS))
    options = {
        name
        for command in group.commands.values()
        for parameter in command.params
        for name in parameter.opts
    }
    asked = (
        load,
        Cluster.simulate,
        Cluster.explain,
        Cluster.solve,
        Cluster.evict,
        Cluster.dump,
        Cluster.drain,
        Cluster.scale_up,
        Fleet.decide,
        check,
        apply_plan,
        run_policy,
        start_workers,
        Live,
    )
    arguments = {name for method in asked for name in inspect.signature(method).parameters}
    assert set(FLAGS.values()) <= options
    assert set(FLAGS) <= {*arguments, "round", "wave"}


def test_an_argument_in_backticks_is_told_as_the_option_that_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = UsageError("`time_limit` is 0", help="see `namespace=shop` or `nothing`")
    assert report_error(error) == 2
    assert capsys.readouterr().err == ("error: --time-limit is 0\nhelp: see -n shop or `nothing`\n")
