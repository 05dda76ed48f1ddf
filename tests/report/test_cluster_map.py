"""The map of letters, and the bars of counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.cli.app import main
from planner.cluster import Cluster
from planner.documents.inspection import inspect_cluster
from planner.examples import examples
from planner.report.emit import to_text
from planner.report.tables.cluster_map import MOST_NODES, MapTexts, letters_of
from planner.report.text.blocks import WIDTH, plain_text
from planner.report.text.cluster_view import view_of
from planner.report.text.formats import Output
from planner.report.text.spread_bars import Spread, spread_bars
from planner_models.inspection import Inspection
from tests.objects import cluster_of, node, owned, pod
from tests.report.hostile import hostile_cluster

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
SHOP = "tests/data/shop.yaml"


def drawn(cluster: Cluster) -> str:
    document: Inspection = inspect_cluster(cluster)
    return to_text(document, Output.TABLE, MapTexts(cluster))


@pytest.mark.parametrize("name", ["zone-outage", "docs-missing-zone-label"])
def test_the_map_of_an_example(name: str) -> None:
    expected = (SNAPSHOTS / f"inspect-map-{name}.txt").read_text(encoding="utf-8")
    assert drawn(planner.load(example=name).snapshot) == expected


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_every_map_fits_80_columns(name: str) -> None:
    assert all(
        len(line) <= WIDTH for line in drawn(planner.load(example=name).snapshot).splitlines()
    )


def test_pods_that_wait_are_outside_of_the_boxes() -> None:
    lines = drawn(planner.load(SHOP).snapshot).splitlines()
    assert "| c1 DEW 3.75   c2 BBB 3.75 |" in lines
    assert "No node: CCEMRWW" in lines


def test_workloads_of_the_same_initial_have_different_letters() -> None:
    pods = [pod(f"{name}-1", "n1", metadata=owned("StatefulSet", name)) for name in ("web", "was")]
    letters = letters_of(view_of(cluster_of(node("n1"), *pods)).pods)
    assert {ref.name: sign for ref, sign in letters.items()} == {"was": "W", "web": "E"}


def test_more_workloads_than_signs_share_the_last_one() -> None:
    pods = [pod(f"p{i}", "n1") for i in range(70)]
    text = drawn(cluster_of(node("n1"), *pods))
    assert "* other workloads (8)" in text.replace("\n", " ")


def test_a_large_cluster_is_shown_by_zone() -> None:
    text = drawn(cluster_of(*(node(f"n{i}", f"z{i % 2}") for i in range(MOST_NODES + 1))))
    assert f"{MOST_NODES + 1} nodes are too many for a map; by zone:" in text
    assert "ZONE  NODES  PODS" in text


def test_hostile_names_break_no_box() -> None:
    boxes = [line for line in drawn(hostile_cluster()).splitlines() if line[0:1] in ("|", "+")]
    assert len(boxes) == 6
    assert len(set(map(len, boxes))) == 1


@pytest.mark.parametrize("output", ["json", "sarif", "name", "markdown"])
def test_a_map_is_text(capsys: pytest.CaptureFixture[str], output: str) -> None:
    assert main(["inspect", "-f", SHOP, "--map", "-o", output]) == 2
    assert f"--map is drawn as text, and -o {output} is none" in capsys.readouterr().err


# Bars


def spread(*counts: int, limit: int = 2) -> Spread:
    domains = tuple(f"z{i}" for i in range(len(counts)))
    return Spread("web", "topology.kubernetes.io/zone", domains, counts, limit)


def test_bars_tell_what_is_allowed_from_what_is_above_it() -> None:
    assert plain_text(spread_bars([spread(4, 2, 1)])) == (
        "BY ZONE  LIMIT NOW  z0      z1    z2\n"
        "web      2          4 ==##  2 ==  1 =\n"
        "Bars: = up to the limit now (min + maxSkew), # above it.\n"
    )


def test_long_bars_are_scaled_and_never_hide_a_pod() -> None:
    text = plain_text(spread_bars([spread(40, 1, limit=20)]))
    assert "40 ====####  1 =" in text
    assert "a sign is 5 pods" in text


def test_of_many_domains_the_fullest_and_the_emptiest_are_shown() -> None:
    text = plain_text(spread_bars([spread(1, 2, 6, 0, 1, 1, 1)]))
    assert text.splitlines()[:2] == [
        "BY ZONE  LIMIT NOW  FULLEST      EMPTIEST  DOMAINS",
        "web      2          z2 6 ==####  z3 0      7",
    ]


def test_nothing_uneven_draws_nothing() -> None:
    assert plain_text(spread_bars([])) == ""
