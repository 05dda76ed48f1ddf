"""Quantities are read exactly as Kubernetes reads them, and shown as people write them."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, ValidationError

from planner_models.base import KubeModel
from planner_models.quantity import (
    INT64_MAX,
    NANO,
    NonNegativeResourceList,
    Quantity,
    ResourceList,
    format_bytes,
    format_cpu,
    format_resource,
    milli_value,
    parse_quantity,
    whole_value,
)

FACTORS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}

GRAMMAR = (
    r"[+-]?([0-9]+|[0-9]+\.[0-9]+|[0-9]+\.|\.[0-9]+)"
    r"(|n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)"
)


class Holder(KubeModel):
    amount: Quantity = 0
    requests: NonNegativeResourceList = Field(default_factory=dict)
    anything: ResourceList = Field(default_factory=dict)
    maybe: Quantity | None = None


class StrictHolder(Holder):
    model_config = ConfigDict(strict=True)


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0", 0),
        ("-0", 0),
        ("1", NANO),
        ("+1", NANO),
        ("-1", -NANO),
        ("007", 7 * NANO),
        (".5", NANO // 2),
        ("5.", 5 * NANO),
        ("1.G", 10**9 * NANO),
        ("500m", NANO // 2),
        ("1.5", 3 * NANO // 2),
        ("100n", 100),
        ("3u", 3000),
        ("1k", 1000 * NANO),
        ("1Ki", 1024 * NANO),
        ("1.5Gi", 3 * 2**29 * NANO),
        ("1E", 10**18 * NANO),
        ("1Ei", 2**60 * NANO),
        ("1e3", 1000 * NANO),
        ("1E3", 1000 * NANO),
        ("1e+3", 1000 * NANO),
        ("5e-3", 5 * 10**6),
        ("12E-1", 12 * 10**8),
        ("1e0", NANO),
    ],
)
def test_every_form_of_the_grammar_is_read(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.0000000001", NANO + 1),
        (".000000000001Ki", 2),
        ("1e-100", 1),
        ("-1e-999999999", -1),
        ("0e-100", 0),
        ("0." + "0" * 6000 + "1", 1),
    ],
)
def test_what_is_finer_than_a_nano_is_rounded_away_from_zero(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize("text", ["8Ei", "9999Ei", "100E", "1e100", "1e999999999999", "9" * 6000])
def test_what_is_beyond_int64_is_capped(text: str) -> None:
    assert parse_quantity(text) == INT64_MAX * NANO
    assert parse_quantity("-" + text) == -INT64_MAX * NANO


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " 1",
        "1 ",
        "1\n",
        "1 Gi",
        "1e",
        "1e+",
        "-3.01e-",
        "1e1.5",
        "1e99999999999999999999",
        "500mm",
        "500MM",
        "1i",
        "1ki",
        "1K",
        "1mi",
        "1EE",
        "1e3Ki",
        "NaN",
        "inf",
        "Infinity",
        "+-1",
        "--1",
        "1_000",
        "1,5",
        "1.1.M",
        "1+1.0M",
        "0x10",
        "aoeu",
        ".",
        "+",
        "-",
        "m",
        "Ki",
        "e3",
        "٣",
    ],
)
def test_everything_else_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity") as refusal:
        parse_quantity(text)
    assert str(refusal.value) == f'"{text}" is not a quantity'


@pytest.mark.parametrize(
    ("number", "nano"),
    [
        (2, 2 * NANO),
        (-1, -NANO),
        (0.1, 10**8),
        (1e-7, 100),
        (1e22, INT64_MAX * NANO),
        (2.0, 2 * NANO),
    ],
)
def test_a_json_number_is_read_as_its_text(number: float, nano: int) -> None:
    assert parse_quantity(number) == nano


def test_a_json_integer_of_any_size_is_capped() -> None:
    assert parse_quantity(10**5000) == INT64_MAX * NANO


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (math.nan, "nan"), (math.inf, "inf")]
)
def test_booleans_and_infinities_are_refused(value: float, text: str) -> None:
    with pytest.raises(ValueError, match=f'^"{text}" is not a quantity$'):
        parse_quantity(value)


def test_one_is_not_taken_for_true() -> None:
    assert parse_quantity(1) == parse_quantity(1.0) == NANO
    with pytest.raises(ValueError, match='"true"'):
        parse_quantity(True)


@pytest.mark.parametrize(
    ("text", "milli", "whole"),
    [
        ("0", 0, 0),
        ("1", 1000, 1),
        ("1500m", 1500, 2),
        ("0.1m", 1, 1),
        ("1500.1m", 1501, 2),
        ("-0.1m", -1, -1),
        ("-1500m", -1500, -2),
        ("8Ei", INT64_MAX, INT64_MAX),
    ],
)
def test_values_are_rounded_away_from_zero_and_capped(text: str, milli: int, whole: int) -> None:
    assert milli_value(parse_quantity(text)) == milli
    assert whole_value(parse_quantity(text)) == whole


@pytest.mark.parametrize(
    ("milli", "text"),
    [
        (0, "0"),
        (2000, "2"),
        (500, "500m"),
        (1500, "1500m"),
        (1, "1m"),
        (-500, "-500m"),
        (-2000, "-2"),
    ],
)
def test_cpu_is_shown_in_cores_or_milli_cores(milli: int, text: str) -> None:
    assert format_cpu(milli) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (1, "1"),
        (512, "512"),
        (1000, "1000"),
        (1024, "1Ki"),
        (1536, "1.5Ki"),
        (512 * 2**20, "512Mi"),
        (1280 * 2**20, "1280Mi"),
        (16 * 2**30, "16Gi"),
        (29 * 2**29, "14.5Gi"),
        (2**40, "1Ti"),
        (2**30 + 1, "1073741825"),
        (16_246_128 * 1024, "16246128Ki"),
        (-29 * 2**29, "-14.5Gi"),
    ],
)
def test_bytes_are_shown_exactly_in_the_largest_unit_with_one_decimal(
    amount: int, text: str
) -> None:
    assert format_bytes(amount) == text


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("memory", 2**30, "1Gi"),
        ("ephemeral-storage", 2**30, "1Gi"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("pods", 2048, "2048"),
        ("nvidia.com/gpu", 1024, "1024"),
    ],
)
def test_the_resource_decides_how_its_amount_is_shown(name: str, amount: int, text: str) -> None:
    assert format_resource(name, amount) == text


@pytest.mark.parametrize("model", [Holder, StrictHolder])
def test_a_field_takes_strings_and_numbers(model: type[Holder]) -> None:
    read = model.model_validate_json(
        '{"amount": 0.5, "requests": {"cpu": 2, "memory": "1Ki"}, "anything": {"x": -1}}'
    )
    assert read.amount == NANO // 2
    assert read.requests == {"cpu": 2 * NANO, "memory": 1024 * NANO}
    assert read.anything == {"x": -NANO}


def test_a_null_in_a_list_of_resources_is_an_explicit_0() -> None:
    assert Holder.model_validate_json('{"requests": {"cpu": null}}').requests == {"cpu": 0}


@pytest.mark.parametrize("text", ["1 ", " 1", "\xa01\u3000"])
def test_blanks_around_a_quantity_are_dropped_as_by_the_api_server(text: str) -> None:
    assert Holder(amount=text).amount == NANO  # type: ignore[arg-type]


def test_a_null_field_is_absent() -> None:
    read = Holder.model_validate_json('{"amount": null, "requests": null, "maybe": null}')
    assert (read.amount, read.requests, read.maybe) == (0, {}, None)


@pytest.mark.parametrize("model", [Holder, StrictHolder])
@pytest.mark.parametrize(
    ("json", "place", "message"),
    [
        ('{"amount": "500mm"}', ("amount",), '"500mm" is not a quantity'),
        ('{"amount": true}', ("amount",), '"true" is not a quantity'),
        ('{"amount": []}', ("amount",), "a quantity is a string or a number"),
        ('{"requests": {"cpu": ""}}', ("requests", "cpu"), '"" is not a quantity'),
        (
            '{"requests": {"cpu": "-1"}}',
            ("requests", "cpu"),
            "must be greater than or equal to 0",
        ),
        ('{"anything": {"x": "1\\t"}}', ("anything", "x"), '"1\t" is not a quantity'),
    ],
)
def test_a_refused_quantity_names_its_field(
    model: type[Holder], json: str, place: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        model.model_validate_json(json)
    assert [error["loc"] for error in refusal.value.errors()] == [place]
    assert refusal.value.errors()[0]["msg"] == f"Value error, {message}"


def away_from_zero(value: Fraction) -> int:
    return math.ceil(value) if value >= 0 else math.floor(value)


def naive_nano(number: Fraction) -> int:
    cap = INT64_MAX * NANO
    return max(-cap, min(away_from_zero(number * NANO), cap))


signs = st.sampled_from(["", "+", "-"])
digits = st.text(alphabet="0123456789", max_size=25)


@given(signs, digits, st.booleans(), digits, st.sampled_from(sorted(FACTORS)))
@settings(max_examples=1000)
def test_suffixed_quantities_are_what_fractions_say(
    sign: str, whole: str, point: bool, tail: str, suffix: str
) -> None:
    tail = tail if point else ""
    assume(whole or tail)
    text = f"{sign}{whole}{'.' if point else ''}{tail}{suffix}"
    magnitude = Fraction(int(whole + tail or "0"), 10 ** len(tail)) * FACTORS[suffix]
    assert parse_quantity(text) == naive_nano(-magnitude if sign == "-" else magnitude)


@given(signs, st.integers(0, 10**20), digits, st.sampled_from("eE"), signs, st.integers(0, 60))
@settings(max_examples=1000)
def test_quantities_with_an_exponent_are_what_fractions_say(
    sign: str, whole: int, tail: str, letter: str, exponent_sign: str, exponent: int
) -> None:
    text = f"{sign}{whole}.{tail}{letter}{exponent_sign}{exponent}"
    power = Fraction(10) ** (-exponent if exponent_sign == "-" else exponent)
    magnitude = Fraction(int(f"{whole}{tail}"), 10 ** len(tail)) * power
    assert parse_quantity(text) == naive_nano(-magnitude if sign == "-" else magnitude)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=500)
def test_a_float_is_the_decimal_that_it_prints_as(number: float) -> None:
    assert parse_quantity(number) == naive_nano(Fraction(repr(number)))


@given(st.integers(-(10**30), 10**30))
@settings(max_examples=500)
def test_scaled_values_are_ceilings_away_from_zero(nano: int) -> None:
    for scaled, unit in ((milli_value(nano), 10**6), (whole_value(nano), NANO)):
        exact = away_from_zero(Fraction(nano, unit))
        assert scaled == max(-INT64_MAX, min(exact, INT64_MAX))


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP _", max_size=8) | st.text(max_size=4))
@settings(max_examples=1000)
def test_any_text_is_a_quantity_or_refused_with_the_one_message(text: str) -> None:
    if re.fullmatch(GRAMMAR, text):
        assert abs(parse_quantity(text)) <= INT64_MAX * NANO
    else:
        with pytest.raises(ValueError, match="is not a quantity") as refusal:
            parse_quantity(text)
        assert str(refusal.value) == f'"{text}" is not a quantity'


@given(
    st.integers(-(2**62), 2**62)
    | st.builds(lambda n, k: n << k, st.integers(-99, 99), st.integers(0, 50))
)
@settings(max_examples=500)
def test_what_is_shown_reads_back_as_the_same_amount(amount: int) -> None:
    assert parse_quantity(format_bytes(amount)) == amount * NANO
    assert parse_quantity(format_cpu(amount // 1000)) * 1000 == amount // 1000 * NANO
