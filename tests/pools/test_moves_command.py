"""`planner scale-up --moves` from outside: moves instead of nodes, in every format."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import planner
from planner.api.node_plan import NodePlan
from planner.cli.app import main
from planner.errors import UsageError
from planner.examples import example_path
from planner.report.tables import scale_up_table
from planner.report.text.blocks import plain_text
from tests.objects import Json, node
from tests.pools.moving import budget, running
from tests.pools.templates import pool

ZONES = "eu-1a,eu-1b,eu-1c"
POOLS = (
    pool("c7i.large", "1930m", "3.2Gi", price="0.08925", zones=ZONES),
    pool("m7i.2xlarge", "7910m", "30Gi", price="0.4032", zones=ZONES),
)
TWO = (node("n1"), node("n2"))
TRAIN: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "train"},
    "spec": {
        "replicas": 4,
        "selector": {"matchLabels": {"app": "train"}},
        "template": {
            "metadata": {"labels": {"app": "train"}},
            "spec": {
                "containers": [
                    {"name": "main", "resources": {"requests": {"cpu": "3", "memory": "8Gi"}}}
                ]
            },
        },
    },
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cluster with four pods that fit nowhere, and two pools, as arguments."""
    monkeypatch.chdir(tmp_path)
    Path("train.json").write_text(json.dumps(TRAIN))
    Path("pools.yaml").write_text("\n---\n".join(map(json.dumps, POOLS)))
    example = ["--example", "zone-outage-before", "-f", "train.json"]
    return [*example, "--pools", "pools.yaml", "--no-compare"]


@cache
def answer(moves: int | None) -> NodePlan:
    """Asked once for all tests."""
    Path("train.json").write_text(json.dumps(TRAIN))
    Path("pools.yaml").write_text("\n---\n".join(map(json.dumps, POOLS)))
    cluster = planner.load([str(example_path("zone-outage-before")), "train.json"])
    return cluster.scale_up(pools="pools.yaml", moves=moves, compare=False)


@pytest.mark.usefixtures("files")
def test_six_moves_instead_of_two_large_nodes() -> None:
    plan = answer(6)
    assert plan.moves is not None
    assert (plan.status, plan.cost, plan.adds, plan.moves.saved) == ("optimal", 0, (), 0.8064)
    assert (len(plan.moves.evictions), plan.moves.fewest) == (6, True)
    assert (plan.moves.without.cost, plan.moves.checked_seeds) == (0.8064, 20)


@pytest.mark.usefixtures("files")
def test_two_moves_save_one_of_them() -> None:
    plan = answer(3)
    assert plan.moves is not None
    assert [(each.pool, each.nodes) for each in plan.adds] == [("m7i.2xlarge", 1)]
    assert (plan.cost, plan.moves.saved, len(plan.moves.evictions)) == (0.4032, 0.4032, 2)
    assert all(each.expected_nodes for each in plan.moves.evictions)
    assert [wave.number for wave in plan.moves.waves] == [1, 2][: len(plan.moves.waves)]


@pytest.mark.usefixtures("files")
def test_the_answer_by_nodes_alone_says_what_moves_would_save() -> None:
    plan = answer(None)
    better = plan.moves_instead
    assert better is not None
    assert (better.moves, better.nodes, better.cost, better.saved) == (6, 0, 0, 0.8064)
    told = " ".join(plain_text(scale_up_table.blocks(plan, wide=True)).split())
    moves = "6 moves of running pods would be enough, too, and save 0.8064 per hour: --moves 6"
    assert moves in told


@pytest.mark.usefixtures("files")
def test_no_moves_leave_the_answer_as_it_was() -> None:
    none, default = answer(0).model_dump(), answer(None).model_dump()
    assert none["moves"] is None
    assert none["moves_instead"] is None
    assert {**default, "moves_instead": None} == none


def test_names_are_nodes_and_pods(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale-up", *files, "--moves", "3", "-o", "name"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("m7i.2xlarge/eu-1")
    assert [line.partition("/")[0] for line in lines[1:]] == ["pod", "pod"]


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("table", "Add 1 node and evict 2 pods for 4 pending pods: 0.4032 per hour. Optimal."),
        ("markdown", "Saves 0.4032 per hour: without moves it takes"),
        ("json", '"fewest": true'),
        ("yaml", "kind: Node"),
    ],
)
@pytest.mark.usefixtures("files")
def test_every_format_shows_it(output: str, told: str) -> None:
    text = answer(3).to_text(output)
    assert told in " ".join(text.split())


@pytest.mark.usefixtures("files")
def test_the_page_counts_evictions_and_lists_them() -> None:
    page = answer(3).to_html()
    assert "pods to evict" in page
    assert "makes room on" in page


@pytest.mark.usefixtures("files")
def test_what_is_not_proven_says_what_is_needed_at_least() -> None:
    plan = answer(3).model_copy(update={"status": "feasible", "bound": 0.2016})
    assert scale_up_table.proof(plan) == (
        "At least 0.2016 per hour is needed with at most 3 moves (gap 50%). Limit: 60s."
    )


@pytest.mark.parametrize("given", ["-1", "few", "1.5"])
def test_moves_are_a_number(
    files: list[str], given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scale-up", *files, "--moves", given]) == 2
    assert "--moves" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_moves_below_nothing_are_refused_in_python_too() -> None:
    cluster = planner.load([str(example_path("zone-outage-before")), "train.json"])
    with pytest.raises(UsageError, match="`moves` is -1"):
        cluster.scale_up(pools="pools.yaml", moves=-1)


@pytest.mark.usefixtures("files")
def test_controllers_that_the_input_lacks_are_assumed_and_named() -> None:
    pods = [each for each in running("web", "1", ["n1", "n2"]) if each["kind"] == "Pod"]
    waiting = running("train", "4", [], waiting=1)
    Path("cluster.yaml").write_text("\n---\n".join(map(json.dumps, [*TWO, *pods, *waiting])))
    plan = planner.load("cluster.yaml").scale_up(pools="pools.yaml", moves=1, compare=False)
    assert plan.moves is not None
    assert len(plan.moves.evictions) == 1
    (assumed,) = [each for each in plan.notices if each.code == "controllerNotInInput"]
    assert assumed.objects == ("rs/web",)


@pytest.mark.usefixtures("files")
def test_a_budget_is_named_with_the_evictions_that_wait_for_it() -> None:
    objects = [*TWO, *running("web", "1", ["n1", "n2"]), budget("web", 1)]
    objects += running("train", "4", [], waiting=1)
    Path("cluster.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    plan = planner.load("cluster.yaml").scale_up(pools="pools.yaml", moves=1, compare=False)
    assert plan.moves is not None
    assert plan.moves.budgets == ("default/web-budget",)
