from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli import app
from planner_models.drain import DrainPlan
from tests.drain.ledger import with_ledger

BEFORE = ["--example", "zone-outage-before", "--seeds", "3", "--no-helps"]
NEEDS_NODES = "drain needs nodes: names, -l SELECTOR, --zone, --all or --most"


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, DrainPlan]:
    code = app.main(["drain", *arguments, "-o", "json"])
    return code, DrainPlan.model_validate_json(capsys.readouterr().out)


def test_a_node_that_can_be_emptied_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = planned(capsys, *BEFORE, "c1")
    assert (code, plan.status, len(plan.evictions), plan.checked_seeds) == (0, "possible", 5, 3)


@pytest.mark.parametrize(
    "nodes", [["--zone", "eu-1a"], ["-l", "topology.kubernetes.io/zone=eu-1a"], ["--all"]]
)
def test_nodes_that_can_not_be_emptied_exit_with_3(
    capsys: pytest.CaptureFixture[str], nodes: list[str]
) -> None:
    code, plan = planned(capsys, *BEFORE, *nodes)
    assert (code, plan.status) == (3, "impossible")
    assert len(plan.nodes) == (12 if nodes == ["--all"] else 4)


def test_a_drain_without_nodes_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["drain", *BEFORE]) == 2
    assert capsys.readouterr().err == f"error: {NEEDS_NODES}\n"


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (["cc1"], "there is no node cc1\nhelp: did you mean c1?"),
        (["--zone", "eu-9"], "there is no zone eu-9 to drain"),
        (["-l", "pool=blue"], "no node has labels that -l pool=blue selects"),
    ],
)
def test_nodes_that_do_not_exist_are_bad_input(
    capsys: pytest.CaptureFixture[str], nodes: list[str], said: str
) -> None:
    assert app.main(["drain", *BEFORE, *nodes]) == 1
    assert said in capsys.readouterr().err


def test_one_wave_of_several_is_shown_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = planned(capsys, *BEFORE, "a1", "a2", "--wave", "2")
    assert (code, plan.part, len(plan.rounds[0].waves)) == (0, 2, 1)
    assert {each.wave for each in plan.evictions} == {2}
    assert app.main(["drain", *BEFORE, "a1", "--wave", "9"]) == 2


def test_names_are_those_of_the_pods_to_evict(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["drain", *BEFORE, "c1", "-o", "name"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("pod/") for line in lines)


def test_a_script_cordons_and_evicts_and_one_of_an_impossible_drain_does_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.main(["drain", *BEFORE, "c1", "-o", "script"]) == 0
    script = capsys.readouterr().out
    assert "kubectl cordon -- 'c1'" in script
    assert script.count("\nevict 'default'") == 5
    assert app.main(["drain", *BEFORE, "--zone", "eu-1a", "-o", "script"]) == 3
    refused = capsys.readouterr().out
    assert "kubectl" not in refused
    assert refused.endswith("exit 3\n")


@pytest.mark.parametrize("output", ["wide", "yaml", "markdown", "github", "junit", "sarif"])
def test_every_format_names_what_blocks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: str
) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": with_ledger({"minAvailable": 1})}))
    arguments = ["-f", str(path), "c2", "--seeds", "2", "--no-helps", "-o", output]
    assert app.main(["drain", *arguments]) == 3
    printed = capsys.readouterr().out
    assert "ledger-abc12-00" in printed
    assert "minAvailable 1 of 1" in " ".join(printed.split())


def test_a_report_shows_the_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "drain.html"
    assert app.main(["drain", *BEFORE, "c1", "--report", str(page)]) == 0
    capsys.readouterr()
    assert "c1 can be emptied" in page.read_text()
