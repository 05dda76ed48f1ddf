"""What a round decides, and what it remembers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.apply.events import MOST as NOTE
from planner.apply.events import Regarded, event_of, note_of
from planner.errors import PlannerError
from planner.run.applied import applied
from planner.run.decide import Facts, after_miss, left_alone, next_round, paused, refusal
from planner.run.hours import within
from planner.run.plan_summary import PlanSummary, plan_summary
from planner.run.state import MOST, state_of, state_text, with_round, with_told
from planner_models.run_policy import Hours, RunPolicy
from planner_models.run_state import Missed, RoundRecord, RunState

FRIDAY = datetime(2026, 5, 1, 12, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
WELL = Facts(nodes=10, not_ready=0, pods=100, waiting=0)


def policy(**fields: Any) -> RunPolicy:
    return RunPolicy.model_validate({"apiVersion": "planner/v1", "kind": "RunPolicy", **fields})


def hours(**fields: Any) -> Hours:
    return Hours.model_validate({"from": "09:00", "to": "17:00", **fields})


def summary(**changes: Any) -> PlanSummary:
    plan = {
        "evictions": [{"pod": "shop/w", "workload": "deploy/w", "node": "a", "reason": "r"}],
        "waves": [{"landings": [{"pod": "shop/w", "node": "b"}]}],
        "converges": True,
        "convergence": {"seeds": 20, "gone": 20, "terminating": 20},
        "before": {"excess": 3, "pending": 1},
        "after": {"excess": 1, "pending": 1},
        **changes,
    }
    return plan_summary(json.dumps(plan).encode())


# Hours


@pytest.mark.parametrize(
    ("window", "now", "open_"),
    [
        (hours(), "2026-05-01T09:00Z", True),
        (hours(), "2026-05-01T08:59Z", False),
        (hours(), "2026-05-01T17:00Z", False),
        (hours(days=["mon"]), "2026-05-01T12:00Z", False),
        (hours(timeZone="Europe/Berlin"), "2026-05-01T07:30Z", True),
        (hours(timeZone="Europe/Berlin"), "2026-01-02T07:30Z", False),  # winter: 08:30 there
        (hours(**{"from": "22:00", "to": "02:00"}, days=["thu"]), "2026-05-01T01:59Z", True),
        (hours(**{"from": "22:00", "to": "02:00"}, days=["fri"]), "2026-05-01T01:59Z", False),
        (hours(**{"from": "22:00", "to": "02:00"}, days=["fri"]), "2026-05-01T23:00Z", True),
        (hours(**{"from": "00:00", "to": "24:00"}, days=["fri"]), "2026-05-01T23:59Z", True),
    ],
)
def test_a_window_is_open_by_the_clock_of_its_zone(window: Hours, now: str, open_: bool) -> None:
    assert within((window,), datetime.fromisoformat(now)) is open_


def test_without_windows_it_is_always_open() -> None:
    assert within((), FRIDAY)


@given(
    st.integers(0, 1439),
    st.integers(1, 1440),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)),
)
def test_a_window_and_what_is_between_two_of_it_are_a_whole_day(
    start: int, end: int, now: datetime
) -> None:
    if start in (end, end % 1440):
        return
    texts = [f"{minute // 60:02}:{minute % 60:02}" for minute in (start, end, end % 1440, start)]
    one = hours(**{"from": texts[0], "to": texts[1]})
    rest = hours(**{"from": texts[2], "to": texts[3] if start else "24:00"})
    moment = now.replace(tzinfo=UTC)
    assert within((one,), moment) is not within((rest,), moment)


# Pauses


@given(st.integers(1, 500), st.integers(0, 500), st.integers(0, 100))
def test_a_share_is_exceeded_when_it_is_more(nodes: int, lost: int, share: int) -> None:
    lost = min(lost, nodes)
    wanted = policy(pauseWhen={"notReadyNodes": f"{share}%"})
    facts = Facts(nodes, lost, 100, 0)
    assert (paused(wanted, facts, FRIDAY) is not None) is (lost / nodes > share / 100)


def test_a_cluster_without_anything_is_no_outage() -> None:
    assert paused(policy(), Facts(0, 0, 0, 0), FRIDAY) is None


# Plans


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"after": {"excess": 3, "pending": 0}}, None),
        ({"converges": False, "convergence": {"seeds": 20, "gone": 20, "terminating": 17}}, "17"),
        ({"after": {"excess": 3, "pending": 1}}, "nothing would be repaired"),
        ({"after": {"excess": 4, "pending": 0}}, "more would be broken"),
        ({"after": {"excess": 1, "pending": 2}}, "left waiting"),
        ({"waves": [{"landings": [{"pod": "shop/w"}]}]}, "left waiting"),
    ],
)
def test_a_part_is_enough_if_every_seed_ends_better(changes: Any, why: str | None) -> None:
    found = refusal(summary(**changes), ("spread",))
    assert found is None if why is None else why in str(found)


def test_an_even_load_breaks_no_rule() -> None:
    same = summary(after={"excess": 3, "pending": 1})
    assert refusal(same, ("utilization",)) is None


# Periods


def test_a_period_is_stretched_where_reading_takes_long() -> None:
    assert next_round(100.0, timedelta(minutes=5), 1.0) == 400.0
    assert next_round(100.0, timedelta(minutes=5), 30.0) == 700.0


# Cooldown


def test_one_miss_is_a_cooldown_and_two_are_for_good() -> None:
    state, first = after_miss(RunState(), "a/deploy/w", "p1", HOUR, FRIDAY)
    assert (first.times, first.until) == (1, FRIDAY + HOUR)
    assert left_alone(state, "p1", FRIDAY + HOUR / 2) == (first,)
    assert left_alone(state, "p1", FRIDAY + 2 * HOUR) == ()
    state, second = after_miss(state, "a/deploy/w", "p1", HOUR, FRIDAY + 2 * HOUR)
    assert (second.times, second.until) == (2, None)
    assert left_alone(state, "p1", FRIDAY + timedelta(days=99)) == (second,)
    assert left_alone(state, "p2", FRIDAY) == ()
    state, again = after_miss(state, "a/deploy/w", "p2", HOUR, FRIDAY)
    assert again.times == 1


# State


def record(number: int, text: str = "done") -> RoundRecord:
    return RoundRecord(number=number, started=FRIDAY, mode="DryRun", result="done", text=text)


def test_the_last_20_rounds_are_kept() -> None:
    state = RunState()
    for number in range(1, 31):
        state = with_round(state, record(number, "x" * 10_000))
    assert [each.number for each in state.rounds] == list(range(11, 31))
    assert len(state_text(state)) < 20_000


def test_an_event_is_told_again_after_15_minutes() -> None:
    state = with_told(RunState(), "key", FRIDAY)
    assert state is not None
    assert with_told(state, "key", FRIDAY + timedelta(minutes=14)) is None
    assert with_told(state, "other", FRIDAY) is not None
    again = with_told(state, "key", FRIDAY + timedelta(minutes=15))
    assert again is not None
    assert len(again.told) == 1


def missed(number: int) -> tuple[Missed, ...]:
    return tuple(Missed(workload=f"n/deploy/{i:060}", times=2, policy="p") for i in range(number))


@settings(max_examples=20)
@given(st.integers(0, 1500), st.integers(0, 20), st.integers(0, 900))
def test_a_state_stays_below_its_limit_and_forgets_no_workload(
    suspended: int, rounds: int, events: int
) -> None:
    state = RunState(
        missed=missed(suspended), rounds=tuple(record(i, "x" * 500) for i in range(rounds))
    )
    for number in range(0, events, 30):
        state = with_told(state, f"{number:0200}", FRIDAY) or state
    text = state_text(state)
    assert len(text.encode()) < MOST
    found = state_of(text)
    assert found is not None
    assert found.missed == state.missed


def test_a_state_that_can_not_be_kept_is_an_error() -> None:
    with pytest.raises(PlannerError, match="9000 workloads are left alone"):
        state_text(RunState(missed=missed(9000)))


# Events


@settings(max_examples=30)
@given(st.text(max_size=20), st.text(max_size=60))
def test_a_note_has_at_most_1_kib_and_keeps_its_ending(text: str, ending: str) -> None:
    text = (text * 400).encode("utf-8", "ignore").decode()
    ending = ending.encode("utf-8", "ignore").decode()
    note = note_of(text, ending)
    assert len(note.encode()) <= NOTE
    assert note.endswith(ending)


def test_an_event_is_one_that_the_api_server_takes() -> None:
    about = Regarded("Pod", "v1", "shop", "web-1", "u1")
    found = event_of(about, "Explained", "impossible: x", "planner-0", FRIDAY.timestamp())
    assert found["metadata"]["name"].startswith("web-1.")
    assert found["metadata"]["namespace"] == found["regarding"]["namespace"] == "shop"
    assert found["eventTime"] == "2026-05-01T12:05:00.000000Z"
    assert (found["type"], found["action"]) == ("Normal", "Explaining")
    assert (found["reportingController"], found["reportingInstance"]) == ("planner", "planner-0")


# Landings


@pytest.mark.parametrize(
    ("result", "landed", "promised", "missed"),
    [
        ("done", "b", True, {}),
        ("done", "z", False, {}),
        ("stopped", "z", False, {"shop/deploy/w": "is on z, expected b c"}),
        ("stopped", None, None, {"shop/deploy/w": "waits, expected b c"}),
        ("interrupted", "b", True, {}),
    ],
)
def test_a_plan_that_ended_as_promised_has_missed_nothing(
    result: str, landed: str | None, promised: bool | None, missed: dict[str, str]
) -> None:
    plan = summary(
        evictions=[
            {"pod": "shop/w", "workload": "deploy/w", "node": "a", "reason": "r"}
            | {"expectedNodes": ["b", "c"]}
        ]
    )
    went = {"pod": "shop/w", "outcome": "evicted"} | {"landedOn": landed, "asPromised": promised}
    waiting = [] if landed else ["shop/w-2"]
    body = {"planId": "p", "result": result, "evictions": [went], "waiting": waiting}
    assert applied(json.dumps(body).encode()).missed(plan.evictions) == missed
