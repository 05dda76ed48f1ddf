from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import planner
from planner.cli import app
from planner.report.html.cluster_map import TILES
from planner.report.html.evict_page import evict_page
from planner.report.html.inspect_page import inspect_page
from planner.report.html.map_view import ClusterMap
from planner.report.html.solve_page import solve_page
from planner.report.html.view import Page, SpreadSection, TableSection, TextSection
from tests.report.html.large import large_cluster, large_plan


def kinds(page: Page) -> list[type]:
    return [type(section) for section in page.sections]


def cluster_of_nodes(number: int) -> planner.Cluster:
    room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}}
        | {"status": {"allocatable": room}}
        for i in range(number)
    ]
    return planner.load(io.StringIO(json.dumps({"kind": "List", "items": nodes})))


@pytest.mark.parametrize(("nodes", "dense"), [(TILES, False), (TILES + 1, True)])
def test_a_hundred_nodes_are_a_heat_map(nodes: int, dense: bool) -> None:
    cluster = cluster_of_nodes(nodes)
    page = inspect_page(cluster.snapshot, cluster.inspect())
    drawn = next(section for section in page.sections if isinstance(section, ClusterMap))
    assert (nodes >= 100, drawn.dense) == (dense, dense)


def test_pages_of_large_clusters_begin_with_the_answer() -> None:
    cluster = large_cluster()
    order = kinds(solve_page(cluster, large_plan(cluster)))
    assert order[0] is TableSection
    assert order.index(ClusterMap) > max(i for i, k in enumerate(order) if k is TableSection)
    assert order[-1] is TextSection


def test_pages_of_small_clusters_begin_with_the_map() -> None:
    cluster = planner.load(example="zone-outage")
    order = kinds(inspect_page(cluster.snapshot, cluster.inspect()))
    assert order == [ClusterMap, SpreadSection, TableSection, TextSection]


@pytest.fixture(scope="module")
def drain() -> Page:
    cluster = planner.load(example="zone-outage")
    return evict_page(cluster.snapshot, cluster.evict(goals=["a1"], seeds=3))


def test_the_page_of_a_drain_says_how_many_pods_leave(drain: Page) -> None:
    assert drain.badge.text == "6 pods leave a1"
    assert ("6 → 0", "pods on a1") in [(fact.value, fact.label) for fact in drain.facts]
    assert drain.lead[0].startswith("Pods that have to leave a1: 6 -> 0.")


def test_the_map_of_a_drain_marks_the_node(drain: Page) -> None:
    drawn = next(section for section in drain.sections if isinstance(section, ClusterMap))
    states = {tile.name: tile.state for zone in drawn.zones for tile in zone.tiles}
    assert {name for name, state in states.items() if state} == {"a1"}
    assert states["a1"] == "to be emptied"


def test_a_cordon_stands_in_the_columns_of_the_evictions(drain: Page) -> None:
    table = next(s for s in drain.sections if isinstance(s, TableSection))
    assert table.header == ("Wave", "Evict", "From", "Expected on", "Why")
    assert table.rows[0].cells == ("1", "(cordon)", "a1", "", "is to be emptied, stays cordoned")


def test_a_page_says_where_it_comes_from(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    app.main(["inspect", "--example", "zone-outage", "-n", "default", "--report", str(page)])
    html = page.read_text()
    command = f"planner inspect --example zone-outage -n default --report {page}"
    assert f"<dt>Command</dt><dd>{command}</dd>" in html
    assert "<dt>Input</dt><dd>zone-outage</dd>" in html
    assert "<dt>Newest pod in it</dt><dd>20" in html


def test_the_same_input_gives_the_same_page() -> None:
    first, second = (planner.load(example="zone-outage").inspect().to_html() for _ in range(2))
    assert first == second
    assert "<dd>planner inspect --example zone-outage</dd>" in first


def test_wide_tables_show_that_there_is_more_to_the_right() -> None:
    html = planner.load(example="zone-outage").inspect().to_html()
    assert "background-attachment: local, local, scroll, scroll" in html
