"""`explain` and `capacity` say which node of the pools to add."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import planner
from planner.errors import UsageError
from tests.objects import Json, node, template, workload
from tests.pools.templates import pool

Write = Callable[..., str]
SMALL = pool("small", "4", price="0.5", zones="a,b")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, *objects: Json) -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(objects))
        return str(path)

    return written


def web(cpu: str, replicas: int) -> Json:
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    return workload("Deployment", "web", {"replicas": replicas, "template": template(spec=spec)})


def test_explain_says_which_node_for_how_many_pods_at_which_price(write: Write) -> None:
    file = write("c.yaml", node("n1", status={"allocatable": {"cpu": "1"}}), web("3", 2))
    found = planner.load(file).explain("deploy/web", pools=write("pools.yaml", SMALL))
    assert found.nodes_to_add is not None
    assert (found.nodes_to_add.pods, found.nodes_to_add.waiting) == (2, 0)
    assert "; 2 of 2 waiting pods run then." in " ".join(found.to_text("table").split())
    assert found.nodes_to_add.cost == 1.0


def test_explain_says_if_no_node_of_the_pools_helps(write: Write) -> None:
    file = write("c.yaml", node("n1", status={"allocatable": {"cpu": "1"}}), web("9", 1))
    found = planner.load(file).explain_pending(pools=write("pools.yaml", SMALL))
    assert "Of the pools: no node helps." in found.to_text("table")


def test_capacity_says_what_nodes_cost_for_one_more(write: Write) -> None:
    file = write("c.yaml", node("n1", status={"allocatable": {"cpu": "1"}}), web("1", 1))
    found = planner.load(file).capacity("deploy/web", pools=write("pools.yaml", SMALL))
    (cost,) = found.lines[0].cost
    assert (cost.count, cost.moves, cost.nodes.cost) == (1, 0, 0.5)
    assert "For 1 pod: 1 small in " in found.to_text("table")


def test_capacity_asks_pools_about_one_workload_only(write: Write) -> None:
    other = workload("Deployment", "db", {"replicas": 1})
    file = write("c.yaml", node("n1"), web("1", 1), other)
    with pytest.raises(UsageError, match="`pools` is about one workload, and these are 2"):
        planner.load(file).capacity(pools=write("pools.yaml", SMALL))
