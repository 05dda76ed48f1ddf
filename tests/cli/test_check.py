"""`planner check` from outside: what it is given, what fails, and what is known already."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from planner.cli.app import main
from planner.examples import examples
from tests.checks.manifests import NODES, budget, deployment, spread
from tests.objects import Json

BLOCKING = (deployment(2, spread()), budget(minAvailable=2))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Manifests with one error, and the nodes that they would come to."""
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "web.json", *BLOCKING)
    _write(tmp_path / "cluster.json", *NODES)
    return tmp_path


def _write(path: Path, *objects: Json) -> None:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Json:
    main(["check", *arguments, "-o", "json"])
    found: Json = json.loads(capsys.readouterr().out)
    return found


def rules(capsys: pytest.CaptureFixture[str], *arguments: str) -> set[str]:
    return {each["rule"] for each in document(capsys, *arguments)["findings"]}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("level", "code"), [("error", 3), ("warning", 3), ("note", 3), ("never", 0)]
)
def test_an_error_fails_unless_nothing_does(level: str, code: int) -> None:
    assert (
        main(["check", "-f", "web.json", "--against", "cluster.json", "--fail-on", level]) == code
    )


@pytest.mark.usefixtures("files")
def test_one_rule_is_asked_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules(capsys, "-f", "web.json", "--rule", "pdb-blocks") == {"pdb-blocks"}
    assert "pdb-blocks" not in rules(capsys, "-f", "web.json", "--skip", "pdb-blocks")


@pytest.mark.usefixtures("files")
def test_an_unknown_rule_is_a_usage_error_with_the_one_that_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "-f", "web.json", "--rule", "pdb-block"]) == 2
    assert "did you mean pdb-blocks?" in capsys.readouterr().err


def test_findings_of_a_baseline_are_counted_and_not_shown(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = document(capsys, "-f", "web.json")
    (files / "known.json").write_text(json.dumps(known))
    again = document(capsys, "-f", "web.json", "--baseline", "known.json")
    assert (again["findings"], again["summary"]["silenced"]) == ([], len(known["findings"]))


@pytest.mark.usefixtures("files")
def test_a_baseline_that_is_none_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-f", "web.json", "--baseline", "cluster.json"]) == 2
    assert "cluster.json is not an earlier check" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_rules_about_nodes_are_named_where_there_are_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["check", "-f", "web.json"])
    told = capsys.readouterr().out.replace("\n  ", " ")
    assert "other rules need a cluster and were not asked. Add --against cluster.json" in told


def test_manifests_may_be_piped_in(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = io.TextIOWrapper(io.BytesIO((files / "web.json").read_bytes()))
    monkeypatch.setattr("sys.stdin", text)
    assert "pdb-blocks" in rules(capsys, "--against", "cluster.json", "-f", "-")


def test_a_finding_stands_at_its_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "pdb.yaml").write_text(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec:\n"
        "  minAvailable: 2\n  selector: {matchLabels: {app: web}}\n"
    )
    _write(files / "only.json", BLOCKING[0])
    found = document(capsys, "-f", "pdb.yaml", "-f", "only.json", "--rule", "pdb-blocks")
    assert (found["findings"][0]["file"], found["findings"][0]["line"]) == ("pdb.yaml", 5)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("output", ["github", "junit", "sarif", "markdown", "yaml", "wide", "name"])
def test_every_format_names_the_rule(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "-f", "web.json", "-o", output])
    assert "pdb-blocks" in capsys.readouterr().out


def test_a_manifest_that_the_api_server_refuses_is_a_finding_and_not_the_end(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(
        files / "odd.json", *BLOCKING, deployment(2, spread(maxSkew=0), metadata={"name": "odd"})
    )
    assert rules(capsys, "-f", "odd.json") >= {"api-refuses", "pdb-blocks"}


@pytest.mark.parametrize("example", [each.name for each in examples()])
def test_every_packaged_cluster_can_be_checked(example: str) -> None:
    assert main(["check", "--example", example, "--seeds", "2", "-o", "name"]) in (0, 3)
