from __future__ import annotations

import pytest

from planner.report.tables.plan_steps import more
from planner.report.text.blocks import plain_text
from planner.report.text.wording import decimal, name_some, part_of
from planner.words import amount_of, count_of, short_key
from planner_models.inspection import Unit


@pytest.mark.parametrize(
    ("requested", "allocatable", "unit", "text"),
    [
        (18950, 48000, "milliCores", "18.95 of 48"),
        (0, 16000, "milliCores", "0 of 16"),
        (59 << 29, 192 << 30, "bytes", "29.5 of 192Gi"),
        (3 << 30, 512 << 20, "bytes", "3 of 0.5Gi"),
        (0, 0, "bytes", "0 of 0"),
        (51, 384, "pieces", "51 of 384"),
    ],
)
def test_requested_and_allocatable_share_a_unit(
    requested: int, allocatable: int, unit: Unit, text: str
) -> None:
    assert part_of(requested, allocatable, unit) == text


def test_two_decimals_are_enough() -> None:
    assert [decimal(n, 1000) for n in (1, 5, 1234, 1999, 2000)] == ["0", "0.01", "1.23", "2", "2"]


def test_six_names_are_named_and_the_rest_is_counted() -> None:
    assert name_some(list("abcdef")) == "a, b, c, d, e, f"
    assert name_some(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"


def test_one_is_singular() -> None:
    assert [count_of(n, "node") for n in (0, 1, 2)] == ["0 nodes", "1 node", "2 nodes"]


def test_what_is_counted_is_plural_and_not_what_is_done_with_it() -> None:
    assert plain_text(more(28, "pod", " to place")) == (
        "and 28 more pods to place; -o wide shows all\n"
    )
    assert plain_text(more(1, "step")) == "and 1 more step; -o wide shows all\n"


def test_one_slot_for_a_pod_is_singular() -> None:
    assert [amount_of("pods", n) for n in (1, 2)] == ["1 pod slot", "2 pod slots"]


def test_a_topology_key_is_called_by_its_last_part() -> None:
    assert short_key("topology.kubernetes.io/zone") == "zone"
    assert short_key("rack") == "rack"
