from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.case import Case
from benchmarks.sweep import measure


@pytest.mark.parametrize("method", ["clusters", "failures", "failures on Dask"])
def test_workers_answer_as_this_process(method: str, tmp_path: Path) -> None:
    point = {"nodes": 30, "tasks": 2, "workers": 2}
    found = measure(Case("sweep", method, point, 0), tmp_path)
    assert found.wrong == ()
    assert found.values["work"] > 0  # type: ignore[operator]
