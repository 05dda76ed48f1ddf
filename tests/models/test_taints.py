"""Taints and tolerations: who is kept away, and what the API server refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner_models.taints import HARD_EFFECTS, Taint, Toleration, first_untolerated

GPU = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")


def toleration(**fields: Any) -> Toleration:
    return Toleration.model_validate_json(json.dumps(fields))


@pytest.mark.parametrize(
    ("fields", "tolerates"),
    [
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, True),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "operator": "", "value": "present", "effect": ""}, True),
        ({"key": "nvidia.com/gpu", "operator": None, "value": "present", "effect": None}, True),
        ({"key": "nvidia.com/gpu"}, False),
        ({"key": "nvidia.com/gpu", "value": "absent"}, False),
    ],
)
def test_a_toleration_answers_a_taint_as_in_kubernetes(
    fields: dict[str, Any], tolerates: bool
) -> None:
    assert toleration(**fields).tolerates(GPU) is tolerates


def test_toleration_seconds_do_not_change_what_is_tolerated() -> None:
    unreachable = Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")
    for seconds in (0, -1, 300):
        tolerates = toleration(
            key=unreachable.key, operator="Exists", effect="NoExecute", tolerationSeconds=seconds
        )
        assert tolerates.tolerates(unreachable)


def test_the_first_untolerated_taint_with_a_wanted_effect_is_found() -> None:
    soft = Taint(key="slow", effect="PreferNoSchedule")
    old = Taint(key="old", effect="NoExecute")
    assert first_untolerated((soft, GPU, old), (), HARD_EFFECTS) == GPU
    gpu_only = (toleration(key=GPU.key, operator="Exists"),)
    assert first_untolerated((soft, GPU, old), gpu_only, HARD_EFFECTS) == old
    assert first_untolerated((soft, GPU, old), gpu_only, ["PreferNoSchedule"]) == soft
    assert first_untolerated((soft, GPU), gpu_only, HARD_EFFECTS) is None
    assert first_untolerated((), (), HARD_EFFECTS) is None


def test_taints_and_tolerations_are_values() -> None:
    again = Taint.model_validate_json(GPU.model_dump_json())
    assert {GPU: "seen"}[again] == "seen"
    assert len({toleration(key="a"), toleration(key="a", operator="Equal", value="")}) == 1


def test_a_taint_is_shown_as_kubectl_writes_it() -> None:
    assert str(GPU) == "nvidia.com/gpu=present:NoSchedule"
    assert str(Taint(key="old", effect="NoExecute")) == "old:NoExecute"


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"effect": "NoSchedule"}, "key"),
        ({"key": "", "effect": "NoSchedule"}, "key"),
        ({"key": "a b", "effect": "NoSchedule"}, "key"),
        ({"key": "a", "value": "b c", "effect": "NoSchedule"}, "value"),
        ({"key": "a"}, "effect"),
        ({"key": "a", "effect": ""}, "effect"),
        ({"key": "a", "effect": "noSchedule"}, "effect"),
        ({"key": "a", "effect": "NoAdmit"}, "effect"),
    ],
)
def test_a_refused_taint_names_the_field(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Taint.model_validate_json(json.dumps(fields))
    assert [error["loc"] for error in refusal.value.errors()] == [(place,)]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "operator"),
        ({"operator": "Equal"}, "operator"),
        ({"key": "", "value": "x"}, "operator"),
        ({"key": "a b"}, "key"),
        ({"key": "a", "operator": "Like"}, "operator"),
        ({"key": "a", "operator": "Gt", "value": "5"}, "operator"),
        ({"key": "a", "operator": "Exists", "value": "x"}, "value"),
        ({"key": "a", "value": "x y"}, "value"),
        ({"key": "a", "effect": "Never"}, "effect"),
        ({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}, "tolerationSeconds"),
        ({"key": "a", "tolerationSeconds": 5}, "tolerationSeconds"),
        ({"key": "a", "effect": "NoExecute", "tolerationSeconds": "5"}, "tolerationSeconds"),
        ({"key": "a", "effect": "NoExecute", "tolerationSeconds": 5.0}, "tolerationSeconds"),
    ],
)
def test_a_refused_toleration_names_the_field(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        toleration(**fields)
    assert [error["loc"] for error in refusal.value.errors()] == [(place,)]


KEYS = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["", "x", "y"])
EFFECTS = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
TAINTS = st.builds(Taint, key=KEYS, value=VALUES, effect=EFFECTS)
TOLERATIONS = st.fixed_dictionaries(
    {"key": KEYS},
    optional={
        "operator": st.sampled_from(["", "Equal"]),
        "value": VALUES,
        "effect": st.just("") | EFFECTS,
    },
) | st.fixed_dictionaries(
    {"operator": st.just("Exists")},
    optional={"key": st.just("") | KEYS, "effect": st.just("") | EFFECTS},
)


def naive_tolerates(fields: dict[str, str], taint: Taint) -> bool:
    """Lists every taint the toleration stands for and looks whether this one is among them."""
    exists = fields.get("operator") == "Exists"
    keys = [fields["key"]] if fields.get("key") else ["a", "b"]
    values = ["", "x", "y"] if exists else [fields.get("value", "")]
    effects = [fields["effect"]] if fields.get("effect") else [*HARD_EFFECTS, "PreferNoSchedule"]
    return (taint.key, taint.value, taint.effect) in [
        (key, value, effect) for key in keys for value in values for effect in effects
    ]


@given(TOLERATIONS, TAINTS)
@settings(max_examples=500)
def test_a_toleration_tolerates_as_its_literal_reading(
    fields: dict[str, str], taint: Taint
) -> None:
    assert toleration(**fields).tolerates(taint) == naive_tolerates(fields, taint)


@given(st.lists(TAINTS, max_size=4), st.lists(TOLERATIONS, max_size=3), st.sets(EFFECTS))
@settings(max_examples=400)
def test_the_first_untolerated_taint_heads_the_list_of_all(
    taints: list[Taint], tolerations: list[dict[str, str]], effects: set[Any]
) -> None:
    untolerated = [
        taint
        for taint in taints
        if taint.effect in effects and not any(naive_tolerates(t, taint) for t in tolerations)
    ]
    found = first_untolerated(taints, [toleration(**t) for t in tolerations], effects)
    assert found == (untolerated[0] if untolerated else None)
