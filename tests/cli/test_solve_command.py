from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.api.selectors import label_selector
from planner.cli import app
from planner.cli.solve import exit_code
from planner.errors import UsageError
from planner_models.plan import Plan
from planner_models.selectors import LabelSelector

ROOT = Path(__file__).resolve().parent.parent.parent
SHOP = str(ROOT / "tests" / "data" / "shop.yaml")
OUTAGE = ["--example", "zone-outage"]


def solved(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Plan]:
    code = app.main(["solve", *arguments, "-o", "json"])
    return code, Plan.model_validate_json(capsys.readouterr().out)


def test_a_plan_that_leaves_nothing_to_wish_for_exits_with_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, plan = solved(capsys, *OUTAGE, "--rebalance")
    assert (code, plan.status) == (0, "optimal")


@pytest.mark.parametrize(
    "arguments",
    [["-f", SHOP], ["-f", SHOP, "--relax"], OUTAGE, [*OUTAGE, "--rebalance", "--max-moves", "3"]],
)
def test_unplaced_pods_and_broken_rules_exit_with_3(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert solved(capsys, *arguments)[0] == 3


UNLABELLED = """
apiVersion: v1
kind: Node
metadata: {name: worker}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""


def test_relaxed_plans_may_use_nodes_without_the_label_of_a_rule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "cluster.yaml").write_text(UNLABELLED)
    _, strict = solved(capsys, "-f", str(tmp_path))
    assert not strict.placements
    _, relaxed = solved(capsys, "-f", str(tmp_path), "--relax")
    (broken,) = relaxed.broken
    assert (broken.constraint, broken.domain) == ("web zone spread", "no zone label")
    assert (broken.count, broken.allowed, broken.remedy) == (1, 0, "label worker")


def test_a_plan_without_a_proof_exits_with_4_and_an_interrupted_one_with_130(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, plan = solved(capsys, *OUTAGE, "--rebalance")
    undecided = plan.model_copy(update={"status": "feasible", "stopped": "timeLimit"})
    assert exit_code(undecided) == 4
    assert exit_code(undecided.model_copy(update={"stopped": "interrupted"})) == 130


def test_no_more_pods_move_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    _, plan = solved(capsys, *OUTAGE, "--rebalance", "--max-moves", "3")
    assert len(plan.placements) <= 3
    assert 0 < plan.excess_after < 27


@pytest.mark.parametrize(
    ("option", "workloads"),
    [
        (["--movable", "app=cart"], {"deploy/cart"}),
        (["--movable", "app in (cart, auth)"], {"deploy/cart", "deploy/auth"}),
        (["--immovable", "app notin (web)"], {"deploy/web"}),
    ],
)
def test_selectors_say_who_may_move(
    capsys: pytest.CaptureFixture[str], option: list[str], workloads: set[str]
) -> None:
    _, plan = solved(capsys, *OUTAGE, "--rebalance", *option)
    assert {placement.workload for placement in plan.placements} == workloads


def test_bare_pods_move_only_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    example = ["--example", "docs-conflicting-constraints", "--rebalance"]
    code, plan = solved(capsys, *example)
    assert (code, [pod.pod for pod in plan.unplaced]) == (3, ["default/mypod"])
    code, plan = solved(capsys, *example, "--allow-bare-pods")
    assert (code, plan.unplaced) == (3, ())
    assert len(plan.placements) == 2
    assert plan.excess_after == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--movable", "app in web"], "error: --movable 'app in web' is not a label selector: "),
        (["--immovable", "app=a b"], "error: --immovable 'app=a b' is not a label selector: "),
        (["--movable", ""], "error: --movable '' is not a label selector: a requirement is empty"),
        (["--movable", "-x=1"], "error: --movable '-x=1' is not a label selector: "),
        (["--time-limit", "0"], "error: --time-limit is 0; it must be above 0"),
        (["--time-limit", "nan"], "error: --time-limit is nan; it must be above 0"),
        (["--time-limit", "soon"], "error: invalid value for '--time-limit': "),
        (["--max-moves", "3"], "error: --max-moves limits what --rebalance may move"),
        (["--rebalance", "--max-moves", "-1"], "error: invalid value for '--max-moves': "),
        (["--prefer", "best"], "error: invalid value for '--prefer': 'best' is not one of"),
        (["--move-cost", "age"], "error: invalid value for '--move-cost': 'age' is not one of"),
        (["--workers", "0"], "error: invalid value for '--workers': "),
        (["--seed", "-1"], "error: invalid value for '--seed': "),
    ],
)
def test_wrong_options_are_usage_errors(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert app.main(["solve", *OUTAGE, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)


def test_a_scheduler_configuration_without_the_default_profile_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "sched.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: mine}]\n"
    )
    assert app.main(["solve", *OUTAGE, "--scheduler-config", str(file)]) == 1
    assert capsys.readouterr().err.startswith(
        "error: the scheduler configuration has no profile default-scheduler\nhelp: it has mine"
    )


@pytest.mark.parametrize("command", ["solve", "explain", "evict"])
def test_a_profile_without_a_filter_is_refused_where_models_know_them_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    file = tmp_path / "sched.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {multiPoint: {disabled: [{name: PodTopologySpread}]}}}]\n"
    )
    assert app.main([command, *OUTAGE, "--scheduler-config", str(file)]) == 1
    captured = capsys.readouterr()
    assert not captured.out
    assert "disables the filter of PodTopologySpread" in captured.err
    assert str(file) in captured.err


def test_nodes_are_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n")
    assert app.main(["solve", "-f", str(file)]) == 1
    assert capsys.readouterr().err.startswith("error: the input has no nodes, so nothing can be")


def test_two_runs_write_the_same_bytes() -> None:
    command = [sys.executable, "-m", "planner", "solve", *OUTAGE, "--rebalance", "-o", "json"]
    runs = [
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert json.loads(runs[0].stdout)["kind"] == "Plan"
    assert runs[0].stderr == b""


@pytest.mark.parametrize(
    ("written", "matching", "other"),
    [
        ("app=web", {"app": "web"}, {"app": "api"}),
        ("app==web", {"app": "web"}, {}),
        ("app!=web", {}, {"app": "web"}),
        ("tier in (a,b)", {"tier": "b"}, {"tier": "c"}),
        ("tier notin (a, b)", {"tier": "c"}, {"tier": "a"}),
        ("app", {"app": ""}, {}),
        ("!app", {}, {"app": "web"}),
        ("app=web,tier in (a, b)", {"app": "web", "tier": "a"}, {"app": "web"}),
        ("app=", {"app": ""}, {"app": "web"}),
    ],
)
def test_selectors_read_as_kubectl_reads_them(
    written: str, matching: dict[str, str], other: dict[str, str]
) -> None:
    selector = label_selector("movable", written)
    assert isinstance(selector, LabelSelector)
    assert selector.matches(matching)
    assert not selector.matches(other)


@pytest.mark.parametrize("written", ["a in ()x", "a=b=c", "in (a)", ",", "a in (b", "a!", "=x"])
def test_what_kubectl_refuses_is_no_selector(written: str) -> None:
    with pytest.raises(UsageError):
        label_selector("movable", written)


def test_the_help_names_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["solve", "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--rebalance", "--relax", "--preempt", "--max-moves", "--time-limit"):
        assert option in shown
