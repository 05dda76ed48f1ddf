"""What the user may allow beyond the usual, on every command that proposes evictions."""

from __future__ import annotations

import json

import pytest

from planner.cli import app
from tests.reality.dumps import DATA

CUSTOM = ["-f", str(DATA / "pdb-crd.json.gz")]
JOB = ["-f", str(DATA / "live-job.json.gz")]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = app.main([*arguments])
    return code, " ".join(capsys.readouterr().out.split())


def test_solve_moves_pods_of_a_trusted_owner(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = answer(capsys, "solve", "--rebalance", *CUSTOM)
    assert code == 3
    assert "0 to move" in text
    assert "Not evictable: default/k-0, default/k-1, default/k-2, default/k-3 (what a " in text
    code, text = answer(capsys, "solve", "--rebalance", *CUSTOM, "--allow-owner", "StrimziPodSet")
    assert code == 0
    assert "1 to move" in text


def test_evict_takes_the_kind_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seeds", "2", "--allow-owner", "strimzipodset"]
    code, text = answer(capsys, "evict", *CUSTOM, *options)
    assert code == 0
    assert text.startswith("Evict 1 pod in 1 wave")


def test_a_job_that_could_fail_stays_even_if_jobs_are_allowed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, text = answer(capsys, "evict", *JOB, "--seeds", "2", "--allow-jobs")
    assert code == 3
    reason = (
        "job/train counts it as a failure, and could fail (backoffLimit 0, 0 so far, 4 running)"
    )
    assert reason in text


def test_a_plan_in_json_counts_what_it_leaves_alone(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["solve", "--rebalance", *JOB, "-o", "json"])
    plan = json.loads(capsys.readouterr().out)
    assert [each["pods"] for each in plan["leftAlone"]] == [4]
    assert {each["pod"].partition("-")[0] for each in plan["protected"]} == {"default/train"}


def test_explain_evicts_no_pod_that_would_not_come_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A Job's pods fill the only node with room for the waiting pod."""
    options = ["explain", "-f", str(DATA / "job-in-the-way.yaml"), "pod/waits"]
    code, text = answer(capsys, *options)
    assert code == 3
    assert text.startswith("impossible")
    code, text = answer(capsys, *options, "--allow-jobs")
    assert code == 3
    assert text.startswith("stuck")
