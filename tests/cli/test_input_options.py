"""`--skip-invalid` and `--max-input` mean the same for every command that reads input."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner.cli import app
from planner.sources.options import MAX_INPUT
from planner_models.quantity import parse_quantity, whole_value
from tests.objects import Json, manifest, node, pod

BROKEN = manifest("broken", spec={"priority": "high"})
COMMANDS = ("inspect", "explain", "simulate", "solve", "evict")


def written(path: Path, *objects: Json) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(path)


def output(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_object_that_cannot_be_used_is_skipped_on_request_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    file = written(tmp_path / "cluster.json", node("n1"), pod("web", "n1"), BROKEN)
    assert app.main([command, "-f", file]) == 1
    assert '"high": a whole number is expected' in capsys.readouterr().err
    assert app.main([command, "-f", file, "--skip-invalid"]) == 0
    assert capsys.readouterr().err == (
        'warning: left out: "high": a whole number is expected '
        f"({file}: Pod default/broken spec.priority)\n"
    )


def test_a_notice_names_everything_that_was_skipped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all").mkdir()
    written(tmp_path / "all/cluster.json", node("n1"), BROKEN, {"kind": 5})
    (tmp_path / "all/chart.yaml").write_text("kind: Pod\nspec: {{ .Values.spec }}\n")
    (tmp_path / "all/old.yaml").write_text("apiVersion: extensions/v1beta1\nkind: Deployment\n")
    assert app.main(["inspect", "-f", "all", "--skip-invalid", "-o", "json"]) == 0
    (notice,) = output(capsys)["notices"]
    assert notice["text"] == "4 objects can't be used and are left out (--skip-invalid)"
    assert [name.partition(" (")[0] for name in notice["objects"]] == [
        '"high": a whole number is expected',
        "all/chart.yaml is a Helm template, which has to be rendered first",
        "an item of the list is not a Kubernetes object",
        "extensions/v1beta1 has no Deployment",
    ]
    assert all("all/" in name for name in notice["objects"])


def test_a_missing_file_is_never_skipped(tmp_path: Path) -> None:
    assert app.main(["inspect", "-f", str(tmp_path / "absent.json"), "--skip-invalid"]) == 1


def test_a_fleet_is_read_the_same_way(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = written(tmp_path / "fleet.json", BROKEN)
    app.main(["fleet", "-f", file])
    assert '"high": a whole number is expected' in capsys.readouterr().err
    app.main(["fleet", "-f", file, "--skip-invalid"])
    assert "memberclusters" in capsys.readouterr().err


def test_skipped_documents_do_not_hinder_writing_the_cluster(tmp_path: Path) -> None:
    file = written(tmp_path / "cluster.json", node("n1"), pod("web"))
    chart, out = tmp_path / "chart.yaml", tmp_path / "out.json"
    chart.write_text("spec: {{ .Values.spec }}\n")
    arguments = ["simulate", "-f", file, "-f", str(chart), "--skip-invalid", "--out", str(out)]
    assert app.main(arguments) == 0
    assert len(json.loads(out.read_text())["items"]) == 2


def test_objects_with_generate_name_are_written_with_the_names_they_got(tmp_path: Path) -> None:
    nameless = manifest("x", metadata={"generateName": "once-"})
    del nameless["metadata"]["name"]
    file = written(tmp_path / "cluster.json", node("n1"), nameless, nameless)
    out = tmp_path / "out.json"
    assert app.main(["simulate", "-f", file, "--out", str(out)]) == 0
    pods = [each for each in json.loads(out.read_text())["items"] if each["kind"] == "Pod"]
    assert len({each["metadata"]["name"] for each in pods}) == 2
    assert {each["spec"]["nodeName"] for each in pods} == {"n1"}


def test_the_default_in_the_help_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["inspect", "--help"])
    told = re.search(r"\[default:\s+(16Gi)\]", capsys.readouterr().out)
    assert told is not None
    assert whole_value(parse_quantity(told[1])) == MAX_INPUT


@pytest.mark.parametrize("command", [*COMMANDS, "fleet"])
def test_a_gzip_bomb_is_one_clear_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b" " * (1 << 20)))
    assert app.main([command, "-f", str(file), "--max-input", "64Ki"]) == 1
    assert capsys.readouterr().err == (
        f"error: {file} holds more than 64Ki of text\n"
        "help: --max-input SIZE, such as 32Gi, lets planner read more\n"
    )


@pytest.mark.parametrize("size", ["0", "-1", "many", "1m2"])
def test_a_size_that_is_none_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], size: str
) -> None:
    assert app.main(["inspect", "-f", "x", "--max-input", size]) == 2
    assert capsys.readouterr().err.startswith(f"error: --max-input is '{size}'; it must be")
