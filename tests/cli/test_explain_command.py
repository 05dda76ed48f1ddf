from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli import app
from planner.exit_codes import NEGATIVE, USAGE
from tests.objects import node, pod

CONFLICT = ("--example", "docs-conflicting-constraints")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = app.main(["explain", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_an_impossible_pod_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *CONFLICT, "pod/mypod")
    assert code == 3
    assert out.startswith("impossible: zone spread and node spread leave no node for pod/mypod\n")
    assert err == ""


def test_a_schedulable_pod_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--example", "docs-two-constraints", "mypod")
    assert code == 0
    assert out.startswith("schedulable: node4 takes pod/mypod\n")


def test_json_is_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *CONFLICT, "mypod", "-o", "json")
    document = json.loads(out)
    assert code == 3
    assert document["kind"] == "Diagnosis"
    assert document["verdict"] == "impossible"
    assert document["targets"] == ["default/mypod"]
    assert document["message"].startswith("0/3 nodes are available: 3 node(s) didn't match")
    first = document["repairs"][0]
    assert first["change"] == {"from": 1, "to": 2}
    assert first["verified"] is True


def test_without_names_all_pending_pods_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *CONFLICT)
    assert code == 3
    assert out.startswith("1 pending pod of 1 workload: 1 impossible\n")


def test_costs_of_the_user_change_the_order(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *CONFLICT, "mypod", "--cost", "addNode=1")
    assert "  1. add a node in zoneB" in out


def test_an_unknown_cost_names_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *CONFLICT, "mypod", "--cost", "magic=1")
    assert code == USAGE
    assert out == ""
    assert "raiseMaxSkew" in err


def test_a_pod_that_is_not_there_suggests_one_that_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *CONFLICT, "mypo")
    assert code == 1
    assert err == (
        "error: there is no pod mypo in namespace default\nhelp: did you mean mypod? (pending)\n"
    )


def test_markdown_has_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *CONFLICT, "mypod", "-o", "markdown")
    assert "impossible: zone spread and node spread leave no node for pod/mypod" in out


def test_a_namespace_that_is_not_in_the_input_is_no_empty_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capsys, *CONFLICT, "-n", "nosuch")
    assert (code, out) == (1, "")
    assert err.startswith("error: the input has no namespace nosuch\n")


def test_a_kind_goes_before_its_names_as_for_kubectl(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--example", "zone-outage", "deploy", "api")
    assert out == "schedulable: no pod is pending: deploy/api has 12 of 12 running\n"


def test_objects_that_decide_how_many_pods_there_are_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quotas, autoscalers and CronJobs take no part in an explanation, and it says so."""
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"pods": "60"}},
    }
    (tmp_path / "quota.json").write_text(json.dumps(quota), encoding="utf-8")
    containers = [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]
    large = pod("large", spec={"containers": containers})
    (tmp_path / "pods.json").write_text(json.dumps(large), encoding="utf-8")
    (tmp_path / "nodes.json").write_text(json.dumps(node("n1")), encoding="utf-8")
    assert app.main(["explain", "-f", str(tmp_path), "large", "-o", "json"]) == NEGATIVE
    found = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in found["notices"]] == ["quota"]
