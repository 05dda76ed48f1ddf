"""`planner drain --rolling` and `--most` from outside."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cli import app
from planner.errors import PlannerError, UsageError
from planner_models.drain import DrainPlan
from tests.objects import document, node, owned, pod

TESTS = Path(__file__).resolve().parent.parent
BEFORE = ["drain", "--example", "zone-outage-before"]


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, DrainPlan]:
    code = app.main([*BEFORE, *arguments, "--seeds", "2", "-o", "json"])
    return code, DrainPlan.model_validate_json(capsys.readouterr().out)


def text_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert app.main([*BEFORE, *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("drain-rolling", ["--all", "--rolling"]),
        ("drain-most", ["--most", "--price", "0.2016"]),
    ],
)
def test_texts(name: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    expected = (TESTS / "snapshots" / f"{name}-zone-outage-before.txt").read_text()
    assert text_of(capsys, *arguments, "--seeds", "3") == expected


def test_rounds_of_a_shape_name_every_node_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = planned(capsys, "--all", "--rolling", "--nodes-at-once", "3")
    assert code == 0
    assert sorted(name for each in plan.rounds for name in each.nodes) == list(plan.nodes)
    assert all(each.uncordon == each.nodes for each in plan.rounds)
    assert plan.bounds.evictions == 51 <= len(plan.evictions)
    assert {each.uid for each in plan.evictions if each.again} == {""}


def test_with_extra_nodes_all_old_ones_are_cordoned_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, plan = planned(capsys, "--all", "--rolling", "--nodes-at-once", "6", "--extra-nodes", "6")
    first = plan.rounds[0]
    assert first.waves[0].drain == plan.nodes
    assert len(first.extra_nodes) == 6
    assert not any(each.again for each in plan.evictions)


def test_one_round_alone(capsys: pytest.CaptureFixture[str]) -> None:
    _, plan = planned(capsys, "--all", "--rolling", "--nodes-at-once", "3", "--round", "2")
    assert {each.round for each in plan.evictions} == {2}
    assert plan.later is not None
    assert (plan.later.rounds, plan.later.nodes) == (2, 6)


def test_nodes_that_are_kept_stay(capsys: pytest.CaptureFixture[str]) -> None:
    kept = "topology.kubernetes.io/zone=eu-1a"
    _, plan = planned(capsys, "--most", "--keep", kept, "--price", "0.5")
    assert not any(name.startswith("a") for name in plan.nodes)
    assert plan.savings is not None
    assert (plan.savings.per_hour, plan.savings.of) == (len(plan.nodes) * 0.5, 6.0)


@pytest.mark.parametrize("shape", [["--nodes-at-once", "3"], ["--extra-nodes", "12"]])
def test_scripts_of_rounds_are_shell_that_changes_nothing_without_run(
    shape: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "drain.sh"
    script.write_text(text_of(capsys, "--all", "--rolling", *shape, "--seeds", "2", "-o", "script"))
    said = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=True).stdout
    assert "nothing was changed; --run acts" in said
    assert "upgrade them" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--most", "--rolling", "--all"], "not both"),
        (["--nodes-at-once", "3", "--all"], "--nodes-at-once goes with --rolling"),
        (["--survive", "zone", "--all"], "--survive goes with --most"),
        (["--most", "--keep", "pool=none"], "no node has labels that --keep pool=none selects"),
        (["--most", "--price", "0"], "error: "),
        (["--rolling"], "drain needs nodes"),
        (["--all", "--rolling", "--nodes-at-once", "6", "--round", "9"], "the plan has 2"),
    ],
)
def test_questions_that_make_no_sense(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main([*BEFORE, *arguments, "--seeds", "1"]) in (1, 2)
    assert message in capsys.readouterr().err


# Prices


def cluster_with(tmp_path: Path, *objects: dict[str, Any]) -> planner.Cluster:
    file = tmp_path / "cluster.json"
    file.write_bytes(document(*objects).data)
    return planner.load(file)


def typed(name: str, kind: str, **labels: str) -> dict[str, Any]:
    told = {"node.kubernetes.io/instance-type": kind, **labels}
    return node(name, metadata={"labels": told})


def prices(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    return file


def replica(name: str, on: str) -> dict[str, Any]:
    return pod(name, on, metadata=owned("ReplicaSet", "web"))


def test_the_dearer_node_goes(tmp_path: Path) -> None:
    nodes = (typed("n1", "small"), typed("n2", "big"))
    cluster = cluster_with(tmp_path, *nodes, replica("w1", "n1"), replica("w2", "n2"))
    plan = cluster.drain(most=True, price=prices(tmp_path, "small: 0.1\nbig: 0.4\n"), seeds=2)
    assert plan.nodes == ("n2",)
    assert plan.savings is not None
    assert (plan.savings.per_hour, plan.savings.of) == (0.4, 0.5)


def test_a_label_goes_before_the_instance_type(tmp_path: Path) -> None:
    nodes = (typed("n1", "small", pool="spot"), typed("n2", "small"))
    cluster = cluster_with(tmp_path, *nodes, replica("w1", "n1"), replica("w2", "n2"))
    told = prices(tmp_path, "pool=spot: 0.01\nsmall: 0.1\n")
    assert cluster.drain(most=True, price=told, seeds=2).nodes == ("n2",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("big: 0.4\n", "has no price for node n1"),
        ("small: cheap\n", "is no price"),
        ("- small\n", "has no prices"),
        ("small: -1\n", "is no price"),
    ],
)
def test_prices_that_say_too_little(text: str, message: str, tmp_path: Path) -> None:
    cluster = cluster_with(tmp_path, typed("n1", "small"), replica("w1", "n1"))
    with pytest.raises(PlannerError, match=message):
        cluster.drain(most=True, price=prices(tmp_path, text))


def test_pools_with_an_annotation_are_prices(tmp_path: Path) -> None:
    pool = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "pool",
            "labels": {"node.kubernetes.io/instance-type": "small"},
            "annotations": {"planner/price": "0.25"},
        },
    }
    cluster = cluster_with(tmp_path, typed("n1", "small"), typed("n2", "small"))
    plan = cluster.drain(most=True, price=prices(tmp_path, json.dumps(pool)), seeds=2)
    assert plan.savings is not None
    assert plan.savings.per_hour == 0.5


# Edges


def test_a_cluster_of_one_node_keeps_it(tmp_path: Path) -> None:
    plan = cluster_with(tmp_path, node("n1"), replica("w1", "n1")).drain(most=True, seeds=2)
    assert plan.nodes == ()
    assert plan.most is not None
    assert plan.most.optimal


def test_a_pod_that_may_not_leave_blocks_its_round(tmp_path: Path) -> None:
    cluster = cluster_with(tmp_path, node("n1"), node("n2"), pod("bare", "n1"))
    plan = cluster.drain(all_nodes=True, rolling=True, seeds=2)
    assert plan.status == "impossible"
    assert [(each.pod, each.by) for each in plan.blocked] == [("default/bare", "barePod")]


def test_empty_nodes_take_one_round_without_evictions(tmp_path: Path) -> None:
    plan = cluster_with(tmp_path, node("n1"), node("n2")).drain(
        all_nodes=True, rolling=True, seeds=2
    )
    assert (plan.status, len(plan.rounds), len(plan.evictions)) == ("possible", 1, 0)


def test_arguments_of_python_are_checked_as_well() -> None:
    cluster = planner.load(example="zone-outage-before")
    with pytest.raises(UsageError, match="survive"):
        cluster.drain(most=True, survive="galaxy")
