"""Progress tells one story: best never worse, bound never weaker, one clock, attempts by number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner.solver.progress import Progress, silent, steady

LEVELS = ("placed 1000", "placed 0", "excess", "moves", "preferences")
reports = st.builds(
    Progress, st.sampled_from(LEVELS), st.integers(0, 9), st.integers(0, 9), st.floats(0, 9)
)


def told(given_: list[Progress]) -> list[Progress]:
    found: list[Progress] = []
    report = steady(found.append)
    for each in given_:
        report(each)
    return found


def contradictions(stream: list[Progress]) -> list[tuple[Progress, Progress]]:
    """Two reports that can't both be true, or are not in their order."""
    last: dict[tuple[int, str], Progress] = {}
    found, before = [], stream[0]
    for each in stream:
        same = last.get((each.attempt, each.level), each)
        sign = 1 if each.level.startswith("placed") else -1
        better = sign * (each.best - same.best) >= 0 and sign * (same.bound - each.bound) >= 0
        in_order = each.attempt >= before.attempt and each.seconds >= before.seconds
        possible = sign * (each.bound - each.best) >= 0
        if not (better and in_order and possible):
            found.append((same, each))
        before = last[each.attempt, each.level] = each
    return found


@given(st.lists(reports, min_size=1))
def test_no_report_contradicts_one_before_it(given_: list[Progress]) -> None:
    assert not contradictions(told(given_))


def test_going_back_to_an_earlier_level_is_another_attempt() -> None:
    stream = told([Progress("moves", 3, 3, 1), Progress("placed 0", 0, 8, 0)])
    assert [each.attempt for each in stream] == [1, 2]


def test_lower_priorities_come_after_higher_ones_in_one_attempt() -> None:
    stream = told([Progress("placed 1000", 3, 3, 1), Progress("placed 0", 0, 8, 0)])
    assert [each.attempt for each in stream] == [1, 1]


def test_a_weaker_bound_is_not_told() -> None:
    stream = told([Progress("moves", 25, 25, 6.0), Progress("moves", 26, 0, 2.0)])
    assert (stream[1].best, stream[1].bound) == (25, 25)


def test_who_asks_for_no_reports_gets_none() -> None:
    assert steady(None) is silent


@pytest.mark.parametrize("name", ["rack-row-grid", "zone-outage"])
def test_what_a_command_reports_is_one_story(name: str) -> None:
    stream: list[Progress] = []
    planner.load(example=name).solve(rebalance=True, time_limit=5, progress=stream.append)
    assert stream
    assert not contradictions(stream)
