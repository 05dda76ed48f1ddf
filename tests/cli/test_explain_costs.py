"""What changes cost: as documented, or as the user says."""

from __future__ import annotations

import re

import pytest

from planner.api.diagnosis import costs_of
from planner.cli import app
from planner.cli.explain import explain
from planner.explain.repairs import COSTS


def test_the_help_lists_every_kind_with_its_cost() -> None:
    told = dict(re.findall(r"(\w+) (\d+)(?: each)?(?:\s|$)", explain.__doc__ or ""))
    expected = {kind: str(cost) for kind, cost in COSTS.items() if kind != "combined"}
    assert expected.items() <= told.items()


def test_one_cost_is_changed_and_the_others_stay() -> None:
    costs = costs_of({"addNode": 5})
    assert costs["addNode"] == 5
    assert costs["scale"] == COSTS["scale"]


@pytest.mark.parametrize(
    ("text", "message", "meant"),
    [
        ("addnode=5", 'there is no kind of change "addnode"', "did you mean addNode?"),
        ("zzz=5", 'there is no kind of change "zzz"', "kinds: addNode,"),
        ("addNode", "N is a whole number from 0 to 1000000", "--cost addNode=95"),
        ("addNode=-1", "N is a whole number", "--cost addNode=95"),
        ("addNode=9999999999", "N is a whole number", "--cost addNode=95"),
    ],
)
def test_what_is_no_cost_is_refused_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], text: str, message: str, meant: str
) -> None:
    assert app.main(["explain", "--example", "zone-outage", "--cost", text]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert meant in told
