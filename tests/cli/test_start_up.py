"""What a command imports, and that Ctrl-C is answered while it does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOLVERS = {"ortools", "ortools.math_opt", "networkx", "pandas"}
NETWORK = {"http.client", "ssl", "planner.sources.live.snapshot"}
RARE = {
    "planner_models.descheduler_policy",
    "planner_models.fleet",
    "planner_models.member_cluster",
}

LOADED = """
import io, json, sys
from planner.cli.app import main
out, sys.stdout = sys.stdout, io.StringIO()
code = main(sys.argv[1:])
json.dump([code, sorted(sys.modules)], out)
"""

STRUCK = """
import signal, sys
place = sys.argv.pop(1)
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == place:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Strike())
from planner.__main__ import main
sys.exit(main())
"""


def python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "code", "unneeded"),
    [
        (
            "inspect --example zone-outage",
            0,
            {*SOLVERS, *RARE, *NETWORK, "yaml", "planner_models.scheduler_config"},
        ),
        ("simulate --example zone-outage", 0, {*SOLVERS, *RARE, *NETWORK, "yaml"}),
        ("explain --example docs-conflicting-constraints mypod", 3, {*SOLVERS, *RARE}),
        ("solve --example zone-outage --rebalance", 0, {*SOLVERS - {"ortools"}, *RARE, "yaml"}),
        (
            "fleet --example fleet-groups",
            0,
            {*SOLVERS - {"ortools"}, "planner_models.descheduler_policy"},
        ),
    ],
)
def test_a_command_imports_only_what_it_needs(command: str, code: int, unneeded: set[str]) -> None:
    result = python(LOADED, *command.split())
    assert result.returncode == 0, result.stderr
    exit_code, loaded = json.loads(result.stdout)
    assert exit_code == code
    assert unneeded.intersection(loaded) == set()


MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
         labelSelector: {matchLabels: {app: web}}}
      containers: [{name: main, image: web}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""


def test_a_check_of_the_text_alone_needs_no_scheduler(tmp_path: Path) -> None:
    """It runs on every commit: what it imports is what it takes."""
    (tmp_path / "web.yaml").write_text(MANIFEST, encoding="utf-8")
    result = python(LOADED, "check", "-f", str(tmp_path))
    exit_code, loaded = json.loads(result.stdout)
    assert exit_code == 0
    unneeded = {*SOLVERS, *RARE, *NETWORK, "planner.scheduler.cycle", "planner.scenario"}
    assert unneeded.intersection(loaded) == set()
    assert [each for each in loaded if each in ("planner.cli.solve", "planner.cli.sweep")] == []


@pytest.mark.parametrize(
    "place",
    [
        "typer",
        "planner_models.pod",
        "ortools.sat.python.cp_model",
        "planner.report.tables.plan_table",
    ],
)
def test_ctrl_c_during_an_import_ends_planner(place: str) -> None:
    result = python(STRUCK, place, "solve", "--example", "zone-outage", "--rebalance")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "Interrupted.\n")


def test_a_process_that_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    ignoring = f"import signal; signal.signal({int(signal.SIGINT)}, signal.SIG_IGN)\n"
    result = python(ignoring + STRUCK, "planner_models.pod", "inspect", "--example", "zone-outage")
    assert result.returncode == 0, result.stderr
