"""CP-SAT comes without pandas, and pandas is still there for those who use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT = "import sys; from planner.solver.model.cp_sat import cp_model; "
SERIES = "from pandas import Index; x = cp_model.CpModel().new_bool_var_series('x', Index(['b'])); "


@pytest.mark.parametrize(
    "script",
    [
        IMPORT + "assert 'pandas' not in sys.modules; " + SERIES + "assert 'b' in x.index",
        "import pandas; " + IMPORT + "assert cp_model.pd is pandas",
    ],
    ids=["pandas later", "pandas before"],
)
def test_series_are_pandas_s_own(script: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
