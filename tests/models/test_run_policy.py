from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planner_models.component_config import parse_duration
from planner_models.run_policy import RunPolicy, duration_text

HEAD = {"apiVersion": "planner/v1", "kind": "RunPolicy"}


def policy(**fields: Any) -> RunPolicy:
    return RunPolicy.model_validate({**HEAD, **fields})


def test_an_empty_policy_is_a_careful_one() -> None:
    found = policy()
    assert (found.mode, found.goals, found.cordons) == ("DryRun", ("spread",), False)
    assert (found.limits.per_round, found.limits.per_node, found.limits.per_namespace) == (10, 2, 5)
    assert found.protect.priority_threshold == "system-cluster-critical"
    assert found.protect.namespaces.exclude == ("kube-system",)
    assert (found.pause_when.not_ready_nodes, found.pause_when.pending_pods) == (20, 5)
    assert (found.period, found.cooldown) == (timedelta(minutes=5), timedelta(hours=1))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"goals": []}, "at least 1"),
        ({"goals": ["spreed"]}, "spread"),
        ({"goals": ["soft", "soft"]}, "soft stands there twice"),
        ({"mode": "Dry"}, "DryRun"),
        ({"period": "1s"}, "at least 10s"),
        ({"period": 300}, "a duration is a text"),
        ({"cooldown": "-1h"}, "must not be negative"),
        ({"limits": {"perRound": -1}}, "perRound is -1"),
        ({"limits": {"perrNode": 1}}, "perrNode"),
        ({"pauseWhen": {"notReadyNodes": 20}}, "write 20%"),
        ({"pauseWhen": {"pendingPods": "101%"}}, "0% to 100%"),
        ({"hours": [{"from": "9:00", "to": "17:00"}]}, "no time of day"),
        ({"hours": [{"from": 540, "to": "17:00"}]}, "no time of day"),
        ({"hours": [{"from": "09:00", "to": "09:00"}]}, "ends when it begins"),
        ({"hours": [{"from": "09:00", "to": "17:00", "days": []}]}, "at least 1"),
        ({"hours": [{"from": "09:00", "to": "17:00", "timeZone": "Mars"}]}, "no time zone 'Mars'"),
        ({"hours": [{"from": "09:00", "to": "17:00", "timeZone": "/etc"}]}, "no time zone"),
        ({"protect": {"namespaces": {"include": ["a"], "exclude": ["b"]}}}, "can't both be set"),
    ],
)
def test_what_can_not_be_meant_is_refused(fields: Any, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        policy(**fields)
    assert words in str(caught.value)


def test_a_policy_is_written_as_it_is_read() -> None:
    hours = [{"days": ["mon", "fri"], "from": "22:00", "to": "24:00", "timeZone": "Europe/Berlin"}]
    found = policy(hours=hours, period="1h30m", cooldown="90s", pauseWhen={"pendingPods": "7%"})
    text = found.model_dump_json(by_alias=True)
    assert RunPolicy.model_validate_json(text) == found
    assert '"period":"1h30m"' in text
    assert '"cooldown":"1m30s"' in text
    assert '"to":"24:00"' in text


@given(st.integers(0, 10**7))
def test_a_duration_is_read_again_as_it_was_written(seconds: int) -> None:
    value = timedelta(seconds=seconds)
    assert parse_duration(duration_text(value)) == value
