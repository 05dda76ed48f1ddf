"""Which package may import which, and what starting the command line may cost.

The contracts stand in pyproject.toml. They are run on the code, and on made-up code that breaks
them one by one: a contract that nothing can break would be worth nothing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "api",
    "apply",
    "capacity",
    "checks",
    "cli",
    "cluster",
    "descheduler",
    "disruption",
    "documents",
    "drain",
    "dump",
    "evictions",
    "examples",
    "explain",
    "fleet",
    "pools",
    "replay",
    "report",
    "rules",
    "scenario",
    "scheduler",
    "sequences",
    "solver",
    "sources",
    "whatif",
)
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
HEAVY = frozenset({"jinja2", "networkx", "numpy", "ortools", "pandas", "pydantic"})


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter as `make layers` does, on the packages below root."""
    return subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """All packages of the design, empty, under the contracts of this repository."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("planner_models", "planner", *(f"planner/{name}" for name in PACKAGES)):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for module in ("__main__", "apply/access", "apply/writing"):
        (tmp_path / "planner" / f"{module}.py").touch()
    return tmp_path


def test_the_code_keeps_every_contract() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("planner/cli", "planner.api"),
        ("planner/explain", "planner.sequences"),
        ("planner/explain", "ortools.sat.python"),
        ("planner/solver", "ortools.sat.python"),
        ("planner/replay", "planner.scheduler"),
        ("planner/scheduler", "planner_models"),
    ],
)
def test_an_import_that_the_layers_allow_is_kept(
    made_up: Path, importer: str, imported: str
) -> None:
    (made_up / importer / "__init__.py").write_text(f"import {imported}\n")
    result = lint_imports(made_up)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("importer", "imported", "contract"),
    [
        ("planner_models", "planner.sources", "Models import nothing of ours"),
        ("planner/sources", "planner.cluster", "Imports go one way"),
        ("planner/scheduler", "planner.solver", "Imports go one way"),
        ("planner/solver", "planner.scheduler", "Imports go one way"),
        ("planner/evictions", "planner.apply.writing", "Imports go one way"),
        ("planner/api", "planner.apply.writing", "Only apply and run write to a cluster"),
        ("planner/replay", "planner.solver", "Replay never meets the solver"),
        ("planner/scenario", "planner.solver", "Scenario never meets the solver"),
        ("planner/report", "planner.cli", "Imports go one way"),
        ("planner/cli", "planner.solver", "The command line is built on the façade alone"),
        ("planner/cli", "planner.report", "The command line is built on the façade alone"),
        ("planner/cluster", "ortools.sat.python", "Only solver and explain import ortools"),
        ("planner/cli", "ortools.sat.python", "Only solver and explain import ortools"),
        ("planner/fleet", "ortools.sat.python", "Only solver and explain import ortools"),
    ],
)
def test_an_import_against_the_layers_breaks_a_contract(
    made_up: Path, importer: str, imported: str, contract: str
) -> None:
    (made_up / importer / "rule.py").write_text(f"def late() -> None:\n    import {imported}\n")
    result = lint_imports(made_up)
    assert result.returncode == 1
    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    assert [line for line in broken if line.startswith(contract)], result.stdout


def test_a_package_without_a_layer_breaks_a_contract(made_up: Path) -> None:
    (made_up / "planner" / "utils.py").touch()
    result = lint_imports(made_up)
    assert result.returncode == 1
    assert "planner.utils" in result.stdout


@pytest.mark.parametrize("module", ["planner", "planner.cli.app"])
def test_the_package_and_the_command_line_import_nothing_heavy(module: str) -> None:
    script = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    loaded = {module.partition(".")[0] for module in json.loads(result.stdout)}
    assert loaded & HEAVY == set()
