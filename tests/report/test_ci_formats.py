"""Findings as GitHub annotations, JUnit and SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from planner.cli.app import main
from planner.documents.inspection import inspect_cluster
from planner.report.ci.checks import checks_of
from planner.report.ci.findings import Finding, findings_of, pod_spot
from planner.report.ci.github import MOST, github_text
from planner.report.ci.junit import junit_text
from planner.report.ci.rules import RULES
from planner.report.ci.sarif import sarif_text
from planner.report.emit import STEP_SUMMARY, Origin, emit, to_json
from planner.report.tables import inspect_table
from planner.report.text.formats import Output
from planner.sources.locations import Locations
from planner_models.base import Document
from planner_models.diagnosis import Conflict, ConflictFact, Diagnosis, RuleKind
from tests.report.hostile import HOSTILE, documents_named, hostile_cluster, hostile_documents

SHOP = "tests/data/shop.yaml"
SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
NOWHERE = Locations(())
COMMAND = re.compile(r"::(?:error|warning) (?P<properties>[^:\n]*)::(?P<data>[^\r\n]*)")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def findings(number: int, title: str = "title", text: str = "text") -> list[Finding]:
    spot = pod_spot("default", "deploy/web", "web-1", "spec.tolerations")
    return [Finding("pod-stuck", "error", title, text, (spot,)) for _ in range(number)]


# GitHub


def test_an_annotation_stands_beside_the_constraint(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "explain", "-f", SHOP, "deploy/web", "-o", "github").splitlines()
    shop = Path(SHOP).read_text(encoding="utf-8").splitlines()
    line = int(re.findall(r"line=(\d+)", lines[0])[0])
    assert lines[0].startswith(f"::error file={SHOP},line={line},col=")
    assert shop[line - 1].strip().startswith("- maxSkew")
    assert lines[1:] == ["planner: 1 finding."]


def test_commands_are_escaped_as_the_runner_unescapes_them() -> None:
    told = github_text(findings(1, "50%, a:b\r", "one\ntwo: 3, 4%"), NOWHERE, summary=False)
    assert told.splitlines()[0] == (
        "::error title=50%25%2C a%3Ab%0D::"
        "Deployment/default/web spec.template.spec.tolerations%0Aone%0Atwo: 3, 4%25"
    )


def test_more_than_ten_findings_are_counted() -> None:
    told = github_text(findings(14), NOWHERE, summary=False).splitlines()
    assert len(told) == MOST + 1
    assert told[-1] == "planner: 14 findings, 4 more than GitHub shows; -o json has all."


def test_the_step_summary_gets_everything_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv(STEP_SUMMARY, str(summary))
    run(capsys, "simulate", "-f", SHOP, "-o", "github")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n### 7 pods: 2 scheduled, 4 unschedulable")
    assert "<summary>4 findings</summary>" in text
    assert f"| {SHOP}:" in text


def test_a_step_summary_that_can_t_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(STEP_SUMMARY, str(tmp_path))
    assert main(["inspect", "-f", SHOP, "-o", "github"]) == 1
    assert "can't write the step summary" in capsys.readouterr().err


# JUnit


def test_what_leaves_the_exit_code_at_0_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(run(capsys, "inspect", "--example", "zone-outage", "-o", "junit"))
    assert root.attrib["failures"] == "0"
    assert len(list(root.iter("system-out"))) == 5


def test_junit_has_a_case_per_workload(capsys: pytest.CaptureFixture[str]) -> None:
    root = ET.fromstring(run(capsys, "explain", "-f", SHOP, "--all-pending", "-o", "junit"))
    assert root.attrib == {
        "name": "planner explain",
        "tests": "5",
        "failures": "3",
        "errors": "0",
        "skipped": "1",
    }
    outcomes = {case.attrib["name"]: [part.tag for part in case] for case in root.iter("testcase")}
    assert outcomes == {
        "deploy/cron": [],
        "deploy/etcd": ["failure"],
        "deploy/web": ["failure"],
        "job/ml-1": ["skipped"],
        "job/report-29384": ["failure"],
    }
    web = root.findall(".//testcase[@name='deploy/web']/failure")[0]
    assert web.attrib["type"] == "pod-stuck"
    assert "spec.template.spec.topologySpreadConstraints[0]" in (web.text or "")


# SARIF


def located(result: dict[str, Any]) -> tuple[str, int] | None:
    place = result["locations"][0].get("physicalLocation")
    if place is None:
        return None
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


def check_sarif(log: dict[str, Any]) -> None:
    """What the schema of SARIF 2.1.0 asks of the properties that planner writes."""
    assert log["version"] == "2.1.0"
    for run_ in log["runs"]:
        driver = run_["tool"]["driver"]
        assert driver["name"] == "planner"
        for rule in driver["rules"]:
            assert rule["id"] in RULES
            assert {"shortDescription", "fullDescription", "help"} <= set(rule)
        for result in run_["results"]:
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("error", "warning")
            assert result["message"]["text"]
            for place in (*result.get("locations", ()), *result.get("relatedLocations", ())):
                assert set(place) <= {"id", "physicalLocation", "logicalLocations"}
                assert place["logicalLocations"][0]["fullyQualifiedName"]
                physical = place.get("physicalLocation")
                assert physical is None or physical["region"]["startLine"] >= 1


def test_sarif_points_at_the_fields_of_the_conflict(capsys: pytest.CaptureFixture[str]) -> None:
    log = json.loads(run(capsys, "explain", "-f", SHOP, "--all-pending", "-o", "sarif"))
    check_sarif(log)
    results = log["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == {"pod-impossible", "pod-stuck"}
    shop = Path(SHOP).read_text(encoding="utf-8").splitlines()
    lines = [shop[place[1] - 1] for result in results if (place := located(result)) is not None]
    assert ["maxSkew" in line or "requests" in line or "topologyKey" in line for line in lines] == [
        True,
        True,
        True,
    ]


def test_rules_of_several_replicas_stand_in_their_template_and_come_before_the_number() -> None:
    conflict = Conflict(
        constraints=(
            fact("replicas", "Deployment default/web", "spec.replicas"),
            fact("topologySpread", "Deployment default/web", "spec.topologySpreadConstraints[0]"),
            fact("capacity", "nodes", "status.allocatable[cpu]"),
        ),
        minimal=True,
    )
    document = Diagnosis(
        targets=("default/web-1", "default/web-2"),
        workloads=("deploy/web",),
        verdict="impossible",
        headline="2 web pods, room for 1",
        conflicts=(conflict,),
    )
    assert [str(spot) for spot in findings_of(checks_of(document))[0].spots] == [
        "Deployment/default/web spec.template.spec.topologySpreadConstraints[0]",
        "Deployment/default/web spec.replicas",
    ]


def fact(kind: RuleKind, subject: str, place: str) -> ConflictFact:
    return ConflictFact(kind=kind, object=subject, field=place, name=kind, text=kind)


def test_an_example_has_logical_locations_only(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("explain", "--example", "docs-conflicting-constraints", "-o", "sarif")
    log = json.loads(run(capsys, *arguments))
    check_sarif(log)
    result = log["runs"][0]["results"][0]
    assert located(result) is None
    logical = [
        place["logicalLocations"][0]["fullyQualifiedName"]
        for place in (*result["locations"], *result["relatedLocations"])
    ]
    assert logical == [
        "Pod/default/mypod spec.topologySpreadConstraints[0]",
        "Pod/default/mypod spec.topologySpreadConstraints[1]",
    ]


def test_a_file_name_with_odd_characters_is_a_uri(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "my shop #1%.yaml"
    shop = Path(__file__).resolve().parents[1] / "data" / "shop.yaml"
    Path(name).write_text(shop.read_text(encoding="utf-8"), encoding="utf-8")
    log = json.loads(run(capsys, "explain", "-f", name, "deploy/web", "-o", "sarif"))
    place = located(log["runs"][0]["results"][0])
    assert place is not None
    assert unquote(place[0]) == name
    assert " " not in place[0]


# All of them


@pytest.mark.parametrize("output", ["github", "junit", "sarif"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "--example", "zone-outage"),
        ("fleet", "--example", "fleet-deadlock"),
    ],
    ids=lambda arguments: arguments[-1],
)
def test_the_text_is_as_agreed(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], output: str
) -> None:
    expected = SNAPSHOTS / f"{arguments[0]}-{arguments[-1]}.{output}"
    assert run(capsys, *arguments, "-o", output) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("output", ["github", "junit", "sarif", "markdown"])
def test_the_same_input_gives_the_same_bytes(
    capsys: pytest.CaptureFixture[str], output: str
) -> None:
    arguments = ("solve", "-f", SHOP, "-o", output)
    assert run(capsys, *arguments) == run(capsys, *arguments)


def test_a_format_that_a_command_does_not_offer_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["inspect", "-f", SHOP, "-o", "script"]) == 2
    error = capsys.readouterr().err
    assert "'script' is not one of" in error
    assert "'sarif'" in error


def test_every_rule_that_findings_use_has_a_help() -> None:
    assert all(rule.short.endswith(".") and rule.help for rule in RULES.values())


# Hostile names


@pytest.mark.parametrize("document", hostile_documents(), ids=lambda each: type(each).__name__)
def test_hostile_names_are_only_text(document: Document) -> None:
    checks = checks_of(document)
    found = findings_of(checks)
    assert found
    commands = [
        line
        for line in github_text(found, NOWHERE, summary=False).split("\n")
        if line.strip().startswith("::")
    ]
    assert len(commands) == min(len(found), MOST)
    assert all(COMMAND.fullmatch(line) for line in commands)
    root = ET.fromstring(junit_text("planner", checks, NOWHERE))
    failures, told = (list(root.iter(tag)) for tag in ("failure", "system-out"))
    assert len(failures) == sum(each.fails for each in found)
    assert len(failures) + len(told) == len(found)
    log = json.loads(sarif_text("planner", found, NOWHERE))
    check_sarif(log)
    assert not [r for r in log["runs"][0]["results"] if "](" in r["message"]["text"]]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_title_comes_back_from_a_command_without_what_a_log_would_obey(name: str) -> None:
    line = github_text(findings(1, name, "text"), NOWHERE, summary=False).split("\n")[0]
    command = COMMAND.fullmatch(line)
    assert command is not None
    harmless = re.sub("[\x00-\x09\x0b-\x1f\u202e]", "\ufffd", name)
    assert unquote(command["properties"].removeprefix("title=")) == harmless


def test_json_of_hostile_names_holds_no_character_that_a_terminal_obeys() -> None:
    found = documents_named("a\x9b31m\x7f\u2028b")
    texts = [to_json(document) for document in found]
    assert any("\\u009b31m\\u007f\\u2028b" in text for text in texts)
    assert not any(re.search("[\x7f-\x9f\u2028]", text) for text in texts)
    assert [json.loads(text) for text in texts] == [
        each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in found
    ]


def test_a_step_summary_of_hostile_names_is_one_report(tmp_path: Path) -> None:
    document = inspect_cluster(hostile_cluster())
    summary = tmp_path / "summary.md"
    with pytest.MonkeyPatch.context() as patch, (tmp_path / "out").open("w") as stream:
        patch.setenv(STEP_SUMMARY, str(summary))
        emit(document, Output.GITHUB, inspect_table, stream, Origin())
    assert summary.read_text(encoding="utf-8").count("### ") == 1
