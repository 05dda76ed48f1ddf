from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner_models.component_config import ComponentConfig, GoDuration, Percentage, parse_duration


class Sample(ComponentConfig):
    wait_time: GoDuration = timedelta()
    share: Percentage = 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta()),
        ("90s", timedelta(seconds=90)),
        ("10m0s", timedelta(minutes=10)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("1.5h", timedelta(minutes=90)),
        ("250ms", timedelta(milliseconds=250)),
        ("-5s", timedelta(seconds=-5)),
    ],
)
def test_durations_are_read_as_go_prints_them(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "1d", "s", "1h 30m", "5 s", "1h-3m"])
def test_other_texts_are_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@given(hours=st.integers(0, 999), minutes=st.integers(0, 59), seconds=st.integers(0, 59))
def test_the_parts_of_a_duration_add_up(hours: int, minutes: int, seconds: int) -> None:
    expected = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    assert parse_duration(f"{hours}h{minutes}m{seconds}s") == expected


def test_a_duration_is_never_a_number() -> None:
    with pytest.raises(ValidationError, match="a duration is a text"):
        Sample.model_validate({"waitTime": 90})


def test_a_misspelled_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="waittime"):
        Sample.model_validate({"waittime": "90s"})


def test_a_number_out_of_range_is_named_with_its_field() -> None:
    with pytest.raises(ValidationError, match="share is 101; it must be between 0 and 100"):
        Sample.model_validate({"share": 101})
