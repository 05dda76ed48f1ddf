from __future__ import annotations

import json

import pytest

from planner.examples import UnknownExampleError, example_path, examples, fleets
from planner.sources.errors import SourceError
from planner.sources.example import example_file


def test_the_five_of_the_documentation_the_outage_and_the_grid_are_there() -> None:
    assert [each.name for each in examples()] == [
        "docs-one-constraint",
        "docs-two-constraints",
        "docs-conflicting-constraints",
        "docs-missing-zone-label",
        "docs-node-affinity",
        "zone-outage",
        "zone-outage-before",
        "zone-outage-lost",
        "zone-outage-scaled",
        "rack-row-grid",
    ]


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_every_example_is_a_list_of_objects_with_nodes(name: str) -> None:
    items = json.loads(example_path(name).read_bytes())["items"]
    assert any(item["kind"] == "Node" for item in items)


@pytest.mark.parametrize("name", [each.name for each in fleets()])
def test_every_fleet_has_member_clusters_and_a_placement(name: str) -> None:
    kinds = {item["kind"] for item in json.loads(example_path(name).read_bytes())["items"]}
    assert {"MemberCluster", "ClusterResourcePlacement"} <= kinds


def test_the_fleets_are_those_of_the_documentation_and_a_dead_lock() -> None:
    assert [each.name for each in fleets()] == [
        "fleet-groups",
        "fleet-walkthrough",
        "fleet-two-constraints",
        "fleet-deadlock",
    ]


def test_every_file_has_a_name() -> None:
    paths = {example_path(each.name) for each in (*examples(), *fleets())}
    assert paths == set(next(iter(paths)).parent.iterdir())


def test_names_and_descriptions_fit_a_line() -> None:
    every = (*examples(), *fleets())
    width = max(len(each.name) for each in every)
    assert all(width + 2 + len(each.description) <= 80 for each in every)


def test_a_typo_is_answered_with_the_name_that_was_meant() -> None:
    with pytest.raises(UnknownExampleError) as caught:
        example_path("zone-outge")
    assert caught.value.close == ("zone-outage",)
    with pytest.raises(SourceError) as told:
        example_file("zone-outge")
    assert told.value.render() == (
        "error: there is no example zone-outge\n"
        "help: did you mean zone-outage? --example list names them all"
    )


def test_a_name_like_no_other_is_answered_with_the_list() -> None:
    with pytest.raises(SourceError) as told:
        example_file("???")
    assert told.value.help == "--example list names them all"
