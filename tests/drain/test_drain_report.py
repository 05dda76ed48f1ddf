"""The texts of drains, as agreed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import planner
from planner.api.drain_plan import DrainPlan
from tests.drain.ledger import with_ledger

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"


def one_node() -> DrainPlan:
    return planner.load(example="zone-outage-before").drain("c1")


def ledger() -> DrainPlan:
    text = json.dumps({"kind": "List", "items": with_ledger({"minAvailable": 1})})
    return planner.load(io.StringIO(text)).drain("c2")


@cache
def zone() -> DrainPlan:
    return planner.load(example="zone-outage-before").drain(zone="eu-1a")


DRAINS: dict[str, Callable[[], DrainPlan]] = {
    "one-node": one_node,
    "ledger": ledger,
    "zone": zone,
}


@pytest.mark.parametrize("name", DRAINS)
def test_the_text_of_a_drain_is_as_agreed(name: str) -> None:
    text = DRAINS[name]().to_text()
    assert text == (SNAPSHOTS / f"drain-{name}.txt").read_text()


def test_each_change_that_is_said_to_help_is_a_repair_with_a_command_or_an_option() -> None:
    for repair in zone().helps:
        assert repair.verified
        assert repair.command
