from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.case import Case
from benchmarks.commands import COMMANDS, measure, prepare


@pytest.mark.parametrize("command", COMMANDS)
def test_the_stages_of_a_command_add_up_to_it(command: str, tmp_path: Path) -> None:
    case = Case("commands", command, {"nodes": 9, "drift": "scale"}, seed=0)
    prepare(case, tmp_path)
    measured = measure(case, tmp_path)
    assert measured.wrong == ()
    stages = [measured.values[stage] for stage in ("start", "load", "decide", "show")]
    assert all(isinstance(each, float) and each > 0 for each in stages)
    assert sum(map(float, stages)) == pytest.approx(measured.cpu)
