"""Mutated fleets end in a decision or in one clean error, never in anything else."""

from __future__ import annotations

import copy
import json
import random

from planner.documents.fleet import decide_placements, placements
from planner.report.tables import fleet_table
from planner.report.text.blocks import plain_text
from planner.sources.errors import SourceError
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from tests.fleet.fleet_objects import RICH, by_region
from tests.sources.test_mutations import MUTATIONS, encoded, places

FLEET = [*RICH, *by_region(elm="east", fir="west", oak="north", yew="west")]


def decides_or_is_refused(data: bytes) -> bool:
    """Whether the text ends in decisions that can be shown."""
    try:
        inventory = load_documents([RawDocument(file="fuzz.json", data=data, line=1)])
        for decision in decide_placements(inventory, placements(inventory)):
            assert plain_text(fleet_table.blocks(decision, wide=True))
            assert json.loads(decision.model_dump_json(by_alias=True))
    except SourceError as error:
        refused = error.render()
    else:
        return True
    assert refused.startswith("error: ")
    return False


def test_the_whole_fleet_is_decided() -> None:
    assert decides_or_is_refused(encoded(FLEET))


def test_mutated_fleets_are_decided_or_refused_cleanly() -> None:
    rng = random.Random("fleet")
    outcomes = set()
    for _ in range(150):
        mutated = copy.deepcopy(FLEET)
        for _ in range(rng.choice((1, 1, 2, 3))):
            rng.choice(MUTATIONS)(rng, rng.choice(list(places(mutated))))
        outcomes.add(decides_or_is_refused(encoded(mutated)))
    assert outcomes == {True, False}
