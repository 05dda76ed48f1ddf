"""Growth by failures: cells are what `whatif` says of the same question."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner import Cluster
from planner.api.grid import grid_in
from planner.sources.errors import SourceError
from planner.workers.processes import Processes
from planner_models.sweep_grid import GridFailure, Growth, SweepGrid

GRID = SweepGrid(
    growth=(Growth(name="today"), Growth(name="more web", scale=("deploy/web=14",))),
    failures=(GridFailure(), GridFailure(each="zone"), GridFailure(name="two", lose=("a1", "b1"))),
    seeds=2,
)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return planner.load(example="zone-outage")


def test_rows_are_growths_and_columns_failures(cluster: Cluster) -> None:
    found = cluster.grid(GRID)
    assert found.growth == ("today", "more web")
    assert found.failures == ("none", "eu-1a", "eu-1b", "eu-1c", "two")
    assert len(found.cells) == 10


@pytest.mark.parametrize("zone", ["eu-1a", "eu-1b", "eu-1c"])
def test_a_cell_without_growth_is_what_whatif_says(cluster: Cluster, zone: str) -> None:
    cell = next(c for c in cluster.grid(GRID).cells if (c.growth, c.failure) == ("today", zone))
    told = cluster.whatif(lose=[f"zone/{zone}"], seeds=2)
    assert cell.waiting == max(manner.seeds.most for manner in told.manners)


def test_a_cell_without_failure_is_what_whatif_says_of_the_growth(cluster: Cluster) -> None:
    grid = SweepGrid(
        growth=(Growth(name="huge", scale=("deploy/web=400",)),), failures=(GridFailure(),), seeds=2
    )
    (cell,) = cluster.grid(grid).cells
    told = cluster.whatif(scale=["deploy/web=400"], seeds=2)
    assert cell.waiting == told.manners[0].seeds.most > 0


def test_every_workload_grows_by_the_percentage_rounded_up(cluster: Cluster) -> None:
    grid = SweepGrid(
        growth=(Growth(name="tenfold", percent=900),), failures=(GridFailure(),), seeds=1
    )
    (cell,) = cluster.grid(grid).cells
    assert cell.waiting > 100


def test_two_processes_find_the_same(cluster: Cluster) -> None:
    with Processes(2, at_once=True) as workers:
        found = cluster.grid(GRID, jobs=workers)
    assert found.to_json() == cluster.grid(GRID).to_json()


def test_a_dask_cluster_finds_the_same(cluster: Cluster, dask_address: str) -> None:
    with planner.start_workers(dask=dask_address) as workers:
        found = cluster.grid(GRID, jobs=workers)
    assert found.to_json() == cluster.grid(GRID).to_json()


def test_the_page_has_a_heat_map(cluster: Cluster) -> None:
    page = cluster.grid(GRID).to_html()
    assert "Growth and failures" in page
    assert "more web, eu-1a:" in page


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("growth: [", "this is not YAML"),
        ("growth: []\nfailures: [{}]", "growth"),
        ("growth: [{name: a, per_cent: 3}]\nfailures: [{}]", "growth.0.per_cent"),
    ],
)
def test_a_file_that_is_no_grid_is_refused(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "grid.yaml"
    file.write_text(text)
    with pytest.raises(SourceError, match=told):
        grid_in(file)
