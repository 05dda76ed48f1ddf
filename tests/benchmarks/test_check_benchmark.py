from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import capacity, check
from benchmarks.case import Case

POINT = {"nodes": 30, "pods": 900}


@pytest.mark.parametrize("method", ["load", "planner", "text alone"])
def test_planted_defects_are_named_and_no_waiting_pod_is_forgotten(
    method: str, tmp_path: Path
) -> None:
    case = Case("check", method, POINT, 0)
    check.prepare(case, tmp_path)
    assert check.measure(case, tmp_path).wrong == ()


@pytest.mark.parametrize("method", ["simulate", "count"])
def test_as_many_pods_find_a_node_as_are_counted(method: str, tmp_path: Path) -> None:
    case = Case("capacity", method, POINT, 0)
    capacity.prepare(case, tmp_path)
    found = capacity.measure(case, tmp_path)
    assert found.wrong == ()
    assert int(found.values["count"]) > 0
