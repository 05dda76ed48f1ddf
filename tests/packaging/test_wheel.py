"""What is installed: the wheel is built, installed into an empty folder, and used from there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input")

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="`make dev` installs hatchling"
)


def succeed(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    """What the command prints."""
    result = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    succeed(*PIP, "wheel", ".", "--no-deps", "--no-build-isolation", "-w", str(folder))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    succeed(*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    return folder


@pytest.fixture
def django(tmp_path: Path) -> Path:
    """A folder like that of any web application: it has a models.py of its own."""
    (tmp_path / "models.py").write_text('OWNER = "the application"\n')
    return tmp_path


def test_the_wheel_claims_two_import_names_and_models_is_none(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"planner", "planner_models"}


def test_planner_is_imported_beside_a_foreign_models_module(installed: Path, django: Path) -> None:
    script = (
        "import models, planner, planner_models\n"
        "print(models.OWNER)\n"
        "print(planner.load(example='zone-outage'))\n"
        "print(planner.__file__, planner_models.__file__, sep='\\n')\n"
    )
    told = succeed(sys.executable, "-c", script, cwd=django, PYTHONPATH=str(installed))
    owner, cluster, *places = told.splitlines()
    assert owner == "the application"
    assert cluster == "<Cluster: 12 nodes, 51 pods, 0 pending>"
    assert all(Path(place).is_relative_to(installed) for place in places)


def test_the_command_runs_in_a_folder_with_a_models_module(installed: Path, django: Path) -> None:
    command = (sys.executable, "-m", "planner")
    version = succeed(*command, "--version", cwd=django, PYTHONPATH=str(installed))
    assert version.startswith("planner ")
    table = succeed(*command, "inspect", "--example", "zone-outage", cwd=django)
    assert table.startswith("12 nodes in 3 zones")


def test_kubectl_finds_a_plugin_and_its_completion(installed: Path) -> None:
    scripts = installed / "bin"
    told = succeed(str(scripts / "kubectl-planner"), "inspect", "--help", PYTHONPATH=str(installed))
    assert told.startswith("Usage: kubectl planner inspect")
    asked = (str(scripts / "kubectl_complete-planner"), "insp")
    assert succeed(*asked, PYTHONPATH=str(installed)).startswith("inspect\t")
