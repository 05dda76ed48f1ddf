from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.case import Case, Point
from benchmarks.simulate import RULES, Scenario, build, measure


@pytest.mark.parametrize("rules", RULES)
def test_sampled_decisions_equal_those_made_from_scratch(rules: str, tmp_path: Path) -> None:
    point: Point = {"nodes": 6, "deployments": 3, "replicas": 4, "running": 2, "rules": rules}
    found = measure(Case("simulate", "planner", point, seed=1), tmp_path)
    assert found.wrong == ()
    assert found.values["pods"] == 12


def test_deciding_from_scratch_schedules_as_many(tmp_path: Path) -> None:
    point: Point = {"nodes": 6, "deployments": 3, "replicas": 4, "running": 2, "rules": "all"}
    ours, theirs = (
        measure(Case("simulate", method, point, seed=1), tmp_path)
        for method in ("planner", "from scratch")
    )
    assert ours.values["scheduled"] == theirs.values["scheduled"]


def test_replicas_come_one_after_the_other_or_take_turns() -> None:
    one_by_one = build(Scenario(2, 2, 2))
    in_turns = build(Scenario(2, 2, 2, in_turns=True))
    assert [pod.name for pod in one_by_one.pods] == ["new-0-0", "new-0-1", "new-1-0", "new-1-1"]
    assert [pod.name for pod in in_turns.pods] == ["new-0-0", "new-1-0", "new-0-1", "new-1-1"]
