from __future__ import annotations

import math

import pytest

from planner.sources.yaml_scalars import Scalar, key_text, plain_value, tagged_value

TRUE = "y Y yes Yes YES true True TRUE on On ON"
FALSE = "n N no No NO false False FALSE off Off OFF"


@pytest.mark.parametrize("text", tuple(TRUE.split()))
def test_words_for_true(text: str) -> None:
    assert plain_value(text) is True


@pytest.mark.parametrize("text", tuple(FALSE.split()))
def test_words_for_false(text: str) -> None:
    assert plain_value(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_words_for_null(text: str) -> None:
    assert plain_value(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *("yEs", "tRUE", "oN", "nULL", "nan", "inf", "NaN", "Infinity"),
        *("22:22", "1:30:00", "2001-01-01", "2001-12-14T21:59:43Z", "2001-12-14 21:59:43"),
        *(
            "500m",
            "1Gi",
            "1.2.3",
            "10.0.0.1",
            "-",
            "+",
            "--1",
            "+-1",
            ".",
            "..",
            "._5",
            ".5_",
            "_1",
        ),
        *("0x", "0b", "0o", "0b2", "0xg", "0o8", "0b--1", "1e", "e5", "1e400", "-1e400", ".1e999"),
        *("0xFFFFFFFFFFFFFFFFFF", "<<", "=", "1 2", "\uff11", "1\u0662"),
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert plain_value(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("1_000", 1000),
        ("1__0_", 10),
        ("0x1F", 31),
        ("-0X1f", -31),
        ("0b101", 5),
        ("-0B11", -3),
        ("0b-11", -3),
        ("0o17", 15),
        ("017", 15),
        ("-017", -15),
        ("0_17", 15),
        ("08", 8),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("3.0", 3),
        ("1e3", 1000),
        ("1.", 1),
    ],
)
def test_integers(text: str, value: int) -> None:
    assert plain_value(text) == value
    assert type(plain_value(text)) is int


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        (".5", 0.5),
        (".5_0", 0.5),
        ("-.5", -0.5),
        ("+1.5e-3", 0.0015),
        ("1_0.2_5", 10.25),
        ("18446744073709551616", 2.0**64),
        ("+18446744073709551615", 2.0**64),
        ("-9223372036854775809", -(2.0**63)),
    ],
)
def test_floats(text: str, value: float) -> None:
    assert plain_value(text) == value


def test_infinity_and_nan_are_known() -> None:
    assert plain_value("-.inf") == -math.inf
    assert plain_value("+.INF") == math.inf
    assert math.isnan(float(str(plain_value(".NaN"))))


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [("str", "1", "1"), ("int", "0x10", 16), ("float", "5", 5), ("bool", "on", True)],
)
def test_a_tag_decides(tag: str, text: str, value: Scalar) -> None:
    assert tagged_value(f"tag:yaml.org,2002:{tag}", text) == value


def test_an_unknown_tag_leaves_the_text() -> None:
    assert tagged_value("!int", "5") == "5"
    assert tagged_value("!Ref", "on") == "on"


@pytest.mark.parametrize(
    ("tag", "text"),
    [("int", "x"), ("int", "1.5"), ("bool", "1"), ("null", "x"), ("binary", "aGk=")],
)
def test_a_tag_that_does_not_fit_is_refused(tag: str, text: str) -> None:
    with pytest.raises(ValueError, match="!!"):
        tagged_value(f"tag:yaml.org,2002:{tag}", text)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("a", "a"),
        (5, "5"),
        (-1, "-1"),
        (True, "true"),
        (False, "false"),
        (1.5, "1.5"),
        (0.1, "0.1"),
        (1234567.5, "1.2345675e+06"),
        (0.00001, "1e-05"),
        (1e300, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
    ],
)
def test_keys_become_text(value: Scalar, key: str) -> None:
    assert key_text(value) == key


def test_a_null_key_is_refused() -> None:
    with pytest.raises(ValueError, match="null"):
        key_text(None)
