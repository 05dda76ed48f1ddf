from __future__ import annotations

import copy

import pytest

from planner_models.meta import KubeObject, ObjectMeta, parse_time
from planner_models.pod import PodSpec
from planner_models.policy import PodDisruptionBudgetSpec, scaled


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-05-01T12:00:00Z", 1777636800),
        ("2026-05-01T14:00:00+02:00", 1777636800),
        ("2026-05-01T12:00:00.999999999Z", 1777636800),
        ("9999-12-31T23:59:59Z", 253402300799),
        ("0001-01-01T00:00:00Z", -62135596800),
    ],
)
def test_times_are_whole_seconds_since_the_epoch(text: str, seconds: int) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "now", "2026-05-01", "2026-05-01T12:00:00", "0000-01-01T00:00:00Z", "2026-13-01T0"]
)
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_time(text)


def test_the_controller_is_the_owner_that_says_so() -> None:
    owners = [{"kind": "A", "name": "a"}, {"kind": "B", "name": "b", "controller": True}]
    found = ObjectMeta.model_validate({"ownerReferences": owners}).controller
    assert found is not None
    assert found.name == "b"
    assert ObjectMeta().controller is None


def test_an_object_without_namespace_is_in_the_default_one() -> None:
    assert KubeObject.model_validate({"metadata": {"name": "web"}}).key == "default/web"


def test_null_is_an_absent_field() -> None:
    assert PodSpec.model_validate({"priority": None, "tolerations": None}) == PodSpec()


def test_replacing_a_field_forgets_what_was_computed_from_the_old_one() -> None:
    spec = PodSpec.model_validate({"overhead": {"cpu": "1"}})
    assert spec.requests == {"cpu": 1000}
    assert spec.replace(overhead={}).requests == {}
    assert spec.requests == {"cpu": 1000}


def test_a_frozen_value_is_its_own_copy() -> None:
    spec = PodSpec()
    assert copy.deepcopy(spec) is spec


def test_percentages_of_a_budget_are_rounded_up() -> None:
    budget = PodDisruptionBudgetSpec.model_validate({"minAvailable": "50%"})
    assert budget.min_available is not None
    assert [scaled(budget.min_available, total) for total in (0, 1, 2, 3)] == [0, 1, 1, 2]
    assert scaled(2, 10) == 2


@pytest.mark.parametrize(
    "spec",
    [
        {"minAvailable": 1, "maxUnavailable": 1},
        {"minAvailable": -1},
        {"minAvailable": "101%"},
        {"minAvailable": "half"},
        {"maxUnavailable": True},
        {"maxUnavailable": "9" * 5000 + "%"},
    ],
)
def test_other_budgets_are_refused(spec: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"negative|percentage|exclude"):
        PodDisruptionBudgetSpec.model_validate(spec)
