from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.case import Case
from benchmarks.whatif import measure


@pytest.mark.parametrize("method", ["each node", "zone"])
def test_failures_come_out_as_counted_and_no_pod_is_forgotten(method: str, tmp_path: Path) -> None:
    found = measure(Case("whatif", method, {"nodes": 12}, 0), tmp_path)
    assert found.wrong == ()
    assert int(found.values["pods"]) > 200
