"""Decisions as text and as documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import planner
from planner.examples import fleets
from planner.report.emit import to_json, to_text, to_yaml
from planner.report.tables import fleet_table
from planner.report.text.formats import Output
from planner_models.documents import json_schema
from planner_models.fleet_decision import FleetDecision, FleetDecisionList
from tests.fleet.fleet_objects import (
    GPU,
    affinity,
    agent,
    binding,
    by_region,
    decided,
    member,
    pick_n,
    preferred,
    spread,
)

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
NAMES = [each.name for each in fleets()]


def packaged(name: str) -> FleetDecision:
    (decision,) = planner.load_fleet(example=name).decide().items
    return decision


def impossible() -> FleetDecision:
    """An empty region, a cluster that is gone and one that the affinity excludes."""
    gold = {"labelSelector": {"matchLabels": {"tier": "gold"}}}
    members = [
        *(member(n, {"region": r, "tier": "gold"}) for n, r in (("ash", "east"), ("elm", "east"))),
        *(member(n, {"region": r, "tier": "gold"}) for n, r in (("fir", "west"), ("oak", "west"))),
        member("yew", {"region": "north", "tier": "gold"}, spec=GPU),
        member("pine", {"region": "west", "tier": "tin"}),
        member("rowan", {"region": "east", "tier": "gold"}, status=agent(joined="False")),
    ]
    return decided(pick_n(4, spread("region"), affinity=affinity([gold])), members)


def rescaled() -> FleetDecision:
    """Fewer wanted, one cluster gone, affinity that would rather have another cluster."""
    policy = pick_n(2, affinity=affinity(preferences=[preferred(20, tier="gold")]))
    members = [member("ash"), member("elm"), member("fir"), member("yew", {"tier": "gold"})]
    bindings = [binding(name) for name in ("ash", "elm", "fir", "gone")]
    return decided(policy, members, bindings)


def text(document: FleetDecision | FleetDecisionList, output: Output = Output.TABLE) -> str:
    return to_text(document, output, fleet_table)


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_an_example_is_as_agreed(name: str) -> None:
    assert text(packaged(name)) == (SNAPSHOTS / f"{name}.txt").read_text()


MADE = {"impossible": impossible, "rescaled": rescaled}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("output", [Output.TABLE, Output.WIDE])
def test_other_texts_are_as_agreed(name: str, output: Output) -> None:
    expected = (SNAPSHOTS / f"fleet-{name}-{output}.txt").read_text()
    assert text(MADE[name](), output) == expected


@pytest.mark.parametrize("name", NAMES)
def test_piped_text_fits_80_columns_and_has_no_trailing_spaces(name: str) -> None:
    for line in text(packaged(name)).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


def test_three_constraints_leave_columns_out_rather_than_be_too_wide() -> None:
    labels = {"region": "europe-west-1", "environment": "production", "provider": "somebody-big"}
    other = {"region": "europe-north-1", "environment": "staging", "provider": "somebody-small"}
    members = [member("production-cluster-a", labels), member("production-cluster-b", other)]
    found = decided(pick_n(2, *(spread(key) for key in labels)), members)
    lines = text(found).splitlines()
    assert max(map(len, lines)) <= 80
    (header,) = [line for line in lines if line.startswith("ROUND")]
    assert header.split() == ["ROUND", "CLUSTER", "SPREAD", "SCORE", "OUTCOME"]


def test_many_candidates_are_summed_up_in_a_table_and_listed_in_wide() -> None:
    members = by_region(**{f"c{index:02}": "east" if index % 2 else "west" for index in range(20)})
    found = decided(pick_n(4, spread("region")), members)
    assert "and 70 more candidates; -o wide shows more" in text(found)
    assert len([line for line in text(found, Output.WIDE).splitlines() if "east" in line]) > 30


@pytest.mark.parametrize("name", NAMES)
def test_the_document_validates_against_its_schema(name: str) -> None:
    document = packaged(name)
    data = json.loads(to_json(document))
    assert FleetDecision.model_validate(data) == document
    assert yaml.safe_load(to_yaml(document)) == data
    schema = json_schema("FleetDecision")
    assert set(data) <= set(schema["properties"])
    assert set(schema["required"]) <= set(data)


def test_the_document_has_what_others_rely_on() -> None:
    data = json.loads(to_json(packaged("fleet-walkthrough")))
    assert (data["apiVersion"], data["kind"]) == ("planner/v1", "FleetDecision")
    assert data["picked"] == ["smartfish", "jumpingcat"]
    assert data["scores"]["jumpingcat"] == {
        "outcome": "picked",
        "round": 2,
        "spread": 1,
        "affinity": 0,
        "previous": 0,
    }
    assert list(data["filtered"]) == ["bravelion"]
    assert data["optimal"]["picked"] == ["jumpingcat", "smartfish"]
    assert data["optimal"]["status"] == "optimal"
    assert data["differs"] is False


def test_several_placements_are_a_list() -> None:
    decisions = FleetDecisionList(items=(packaged("fleet-walkthrough"), packaged("fleet-groups")))
    data = json.loads(to_json(decisions))
    assert (data["kind"], len(data["items"])) == ("FleetDecisionList", 2)
    assert text(decisions, Output.NAME).splitlines() == [
        "membercluster/smartfish",
        "membercluster/jumpingcat",
        "membercluster/smartfish",
        "membercluster/jumpingcat",
        "membercluster/bravelion",
    ]


def test_markdown_has_the_rounds_as_a_table() -> None:
    found = text(packaged("fleet-walkthrough"), Output.MARKDOWN)
    assert "| ROUND | CLUSTER | REGION | SKEW | SPREAD SCORE | OUTCOME |" in found
