"""Quantities as Fleet holds them, from which its floating point follows."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_models.fleet_quantity import parse_fleet_quantity
from planner_models.quantity import NANO, parse_quantity


@pytest.mark.parametrize(
    ("text", "unscaled", "exponent"),
    [
        ("12", 12, 0),
        ("12.5", 125, -1),
        ("12500m", 12500, -3),
        ("-0.5", -5, -1),
        ("1e3", 1, 3),
        ("1Ki", 1024, 0),
        ("1E", 1, 18),
        ("1e40", 1, 40),
    ],
)
def test_a_short_text_is_taken_as_it_is(text: str, unscaled: int, exponent: int) -> None:
    assert parse_fleet_quantity(text) == (text, unscaled, exponent)


@pytest.mark.parametrize(
    ("text", "unscaled"),
    [
        ("0.5Ki", 512 * NANO),
        ("0.1n", 1),
        ("-1e-30", -1),
        ("1234567890123456789", 1234567890123456789 * NANO),
    ],
)
def test_other_texts_are_brought_to_nano_units_away_from_zero(text: str, unscaled: int) -> None:
    assert parse_fleet_quantity(text) == (text, unscaled, -9)


def test_only_binary_suffixes_are_capped() -> None:
    assert parse_fleet_quantity("9Ei").exact == 2**63 - 1
    assert parse_fleet_quantity("100E").exact == 100 * 10**18


def test_the_same_amount_in_two_spellings_is_one_value_and_two_floats() -> None:
    tenths, thousandths = parse_fleet_quantity("0.3"), parse_fleet_quantity("300m")
    assert tenths.exact == thousandths.exact
    assert (tenths.approximate, thousandths.approximate) == (0.30000000000000004, 0.3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e400", math.inf),
        ("1e-400", 1e-9),
        ("1e999999999999999999", math.inf),
        ("12345678901234567890e300", math.inf),
    ],
)
def test_there_is_no_end_to_exponents(text: str, value: float) -> None:
    assert parse_fleet_quantity(text).approximate == value


@pytest.mark.parametrize("text", ["v1.30", "", ".", "-", "1.2.3", "1e", " 1", "1 ", "1ki", "0x1"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_fleet_quantity(text)


numbers = st.decimals(0, 10**6, allow_nan=False, places=4).map(str)
suffixes = st.sampled_from(["", "n", "u", "m", "k", "M", "Ki", "Mi", "e2", "e-3"])


@given(numbers, suffixes)
def test_the_value_is_that_of_every_other_quantity(number: str, suffix: str) -> None:
    text = number + suffix
    rounded = Decimal(parse_quantity(text)).scaleb(-9)
    exact = parse_fleet_quantity(text).exact
    assert abs(rounded - exact) < Decimal("1e-9")
