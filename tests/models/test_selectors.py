"""Label and node selectors: what they match, what they refuse, and that they are values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from planner_models.selectors import (
    LabelSelector,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    selector_matches,
    with_match_label_keys,
    with_mismatch_label_keys,
)


def label_selector(**fields: Any) -> LabelSelector:
    return LabelSelector.model_validate_json(json.dumps(fields))


def node_selector(*terms: dict[str, Any]) -> NodeSelector:
    return NodeSelector.model_validate_json(json.dumps({"nodeSelectorTerms": terms}))


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("requirement", "labels", "matches"),
    [
        (expression("app", "In", "web", "api"), {"app": "api"}, True),
        (expression("app", "In", "web"), {"app": "db"}, False),
        (expression("app", "In", "web"), {}, False),
        (expression("app", "In", ""), {"app": ""}, True),
        (expression("app", "In", ""), {}, False),
        (expression("app", "NotIn", "web"), {"app": "db"}, True),
        (expression("app", "NotIn", "web"), {"app": "web"}, False),
        (expression("app", "NotIn", "web"), {}, True),
        (expression("app", "Exists"), {"app": ""}, True),
        (expression("app", "Exists"), {"tier": "x"}, False),
        (expression("app", "DoesNotExist"), {}, True),
        (expression("app", "DoesNotExist"), {"app": ""}, False),
    ],
)
def test_an_operator_matches_as_in_kubernetes(
    requirement: dict[str, Any], labels: dict[str, str], matches: bool
) -> None:
    assert label_selector(matchExpressions=[requirement]).matches(labels) is matches
    assert node_selector({"matchExpressions": [requirement]}).matches(labels, "n1") is matches


@pytest.mark.parametrize(
    ("operator", "bound", "value", "matches"),
    [
        ("Gt", "4", "5", True),
        ("Gt", "4", "4", False),
        ("Lt", "4", "3", True),
        ("Lt", "4", "4", False),
        ("Lt", "4", "-3", True),
        ("Lt", "4", "+3", True),
        ("Gt", "007", "8", True),
        ("Gt", "4", "five", False),
        ("Gt", "4", "5.5", False),
        ("Gt", "4", "", False),
        ("Gt", "4", "9223372036854775807", True),
        ("Gt", "4", "9223372036854775808", False),
        ("Gt", "4", "5_0", False),
        ("Gt", "4", "\u0665", False),
        ("Gt", "4", None, False),
        ("Lt", "4", None, False),
        ("Gt", "4.5", "5", False),
        ("Lt", "many", "4", False),
        ("Lt", "9999999999999999999", "4", False),
    ],
)
def test_gt_and_lt_compare_integers_and_nothing_else(
    operator: str, bound: str, value: str | None, matches: bool
) -> None:
    selector = node_selector({"matchExpressions": [expression("cores", operator, bound)]})
    assert selector.matches({} if value is None else {"cores": value}, "n1") is matches


def test_labels_and_expressions_must_all_hold() -> None:
    selector = label_selector(
        matchLabels={"app": "web"}, matchExpressions=[expression("tier", "Exists")]
    )
    assert selector.matches({"app": "web", "tier": "front"})
    assert not selector.matches({"app": "web"})
    assert not selector.matches({"app": "api", "tier": "front"})


def test_an_absent_selector_matches_nothing_and_an_empty_one_everything() -> None:
    assert not selector_matches(None, {})
    assert not selector_matches(None, {"app": "web"})
    assert selector_matches(LabelSelector(), {})
    assert selector_matches(LabelSelector(), {"app": "web"})
    assert LabelSelector().is_empty
    assert not label_selector(matchLabels={"app": "web"}).is_empty


def test_null_fields_are_absent() -> None:
    assert label_selector(matchLabels=None, matchExpressions=None) == LabelSelector()
    exists = {"key": "app", "operator": "Exists", "values": None}
    assert label_selector(matchExpressions=[exists]).matches({"app": "web"})
    assert not node_selector({"matchExpressions": None, "matchFields": None}).matches({}, "n1")


def test_match_label_keys_ask_for_the_pods_own_values() -> None:
    pod = {"app": "web", "pod-template-hash": "7d9f"}
    merged = with_match_label_keys(
        label_selector(matchLabels={"app": "web"}), ("pod-template-hash", "absent"), pod
    )
    assert merged.matches(pod)
    assert not merged.matches({"app": "web", "pod-template-hash": "5c4b"})
    assert merged.keys() == {"app", "pod-template-hash"}


def test_mismatch_label_keys_refuse_the_pods_own_values() -> None:
    pod = {"tenant": "a"}
    merged = with_mismatch_label_keys(LabelSelector(), ["tenant", "absent"], pod)
    assert not merged.matches(pod)
    assert merged.matches({"tenant": "b"})
    assert merged.matches({})


def test_adding_no_keys_changes_nothing() -> None:
    selector = label_selector(matchLabels={"app": "web"})
    assert with_match_label_keys(selector, ["absent"], {"app": "web"}) == selector


def test_an_empty_term_matches_no_node_and_terms_are_alternatives() -> None:
    assert not node_selector({}).matches({"zone": "a"}, "n1")
    assert not NodeSelectorTerm().matches({}, "n1")
    either = node_selector(
        {},
        {"matchExpressions": [expression("zone", "In", "a")]},
        {"matchFields": [expression("metadata.name", "In", "n2")]},
    )
    assert either.matches({"zone": "a"}, "n1")
    assert either.matches({"zone": "b"}, "n2")
    assert not either.matches({"zone": "b"}, "n1")


def test_match_fields_look_at_the_node_name() -> None:
    chosen = node_selector({"matchFields": [expression("metadata.name", "In", "n1")]})
    assert chosen.matches({}, "n1")
    assert not chosen.matches({}, "n2")
    avoided = node_selector({"matchFields": [expression("metadata.name", "NotIn", "n1")]})
    assert not avoided.matches({}, "n1")
    assert avoided.matches({}, "n2")


def test_label_and_field_requirements_of_a_term_must_both_hold() -> None:
    both = node_selector(
        {
            "matchExpressions": [expression("zone", "In", "a")],
            "matchFields": [expression("metadata.name", "In", "n1")],
        }
    )
    assert both.matches({"zone": "a"}, "n1")
    assert not both.matches({"zone": "a"}, "n2")
    assert not both.matches({"zone": "b"}, "n1")


def test_selectors_are_values() -> None:
    one = label_selector(
        matchLabels={"a": "1", "b": "2"}, matchExpressions=[expression("c", "Exists")]
    )
    same = label_selector(
        matchLabels={"b": "2", "a": "1"}, matchExpressions=[expression("c", "Exists")]
    )
    one.matches({"a": "1", "b": "2", "c": "3"})
    assert one == same
    assert {one: "seen"}[same] == "seen"
    term = {"matchExpressions": [expression("zone", "In", "a")]}
    assert {node_selector(term): "seen"}[node_selector(term)] == "seen"


def test_the_canonical_form_ignores_order_repetition_and_spelling() -> None:
    one = label_selector(
        matchLabels={"a": "1"},
        matchExpressions=[expression("b", "In", "x", "y", "x"), expression("c", "Exists")],
    )
    same = label_selector(
        matchExpressions=[
            expression("c", "Exists"),
            expression("b", "In", "y", "x"),
            expression("a", "In", "1"),
            expression("c", "Exists"),
        ],
    )
    assert one != same
    assert one.canonical() == same.canonical()
    assert hash(one.canonical()) == hash(same.canonical())
    assert one.canonical() != label_selector(matchLabels={"a": "1"}).canonical()


LABEL_REFUSALS = [
    ({"matchLabels": {"bad key": "x"}}, ("matchLabels", "bad key", "[key]")),
    ({"matchLabels": {"app": "bad value"}}, ("matchLabels", "app")),
    ({"matchExpressions": [{"operator": "Exists"}]}, ("matchExpressions", 0, "key")),
    ({"matchExpressions": [{"key": "app"}]}, ("matchExpressions", 0, "operator")),
    ({"matchExpressions": [expression("-", "Exists")]}, ("matchExpressions", 0, "key")),
    ({"matchExpressions": [expression("a", "Is", "b")]}, ("matchExpressions", 0, "operator")),
    ({"matchExpressions": [expression("a", "in", "b")]}, ("matchExpressions", 0, "operator")),
    ({"matchExpressions": [expression("a", "Gt", "1")]}, ("matchExpressions", 0, "operator")),
    ({"matchExpressions": [expression("a", "In")]}, ("matchExpressions", 0, "values")),
    (
        {"matchExpressions": [{"key": "a", "operator": "NotIn"}]},
        ("matchExpressions", 0, "values"),
    ),
    (
        {"matchExpressions": [{"key": "a", "operator": "In", "values": None}]},
        ("matchExpressions", 0, "values"),
    ),
    (
        {"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]},
        ("matchExpressions", 0, "values", 0),
    ),
    ({"matchExpressions": [expression("a", "Exists", "b")]}, ("matchExpressions", 0, "values")),
    (
        {"matchExpressions": [expression("a", "DoesNotExist", "b")]},
        ("matchExpressions", 0, "values"),
    ),
    (
        {"matchExpressions": [expression("a", "In", "ok", "not ok")]},
        ("matchExpressions", 0, "values", 1),
    ),
]


@pytest.mark.parametrize(("fields", "place"), LABEL_REFUSALS)
def test_a_refused_label_selector_names_the_field(
    fields: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as refusal:
        label_selector(**fields)
    assert [error["loc"] for error in refusal.value.errors()] == [place]


TERM = ("nodeSelectorTerms", 0)
NODE_REFUSALS = [
    ({"matchExpressions": [expression("a", "Gt")]}, ("matchExpressions", 0, "values")),
    ({"matchExpressions": [expression("a", "Gt", "1", "2")]}, ("matchExpressions", 0, "values")),
    ({"matchExpressions": [expression("a", "Lt", "-1")]}, ("matchExpressions", 0, "values", 0)),
    ({"matchExpressions": [expression("a", "In")]}, ("matchExpressions", 0, "values")),
    ({"matchExpressions": [expression("a", "Ge", "1")]}, ("matchExpressions", 0, "operator")),
    ({"matchFields": [expression("metadata.uid", "In", "x")]}, ("matchFields", 0, "key")),
    ({"matchFields": [expression("metadata.name", "Exists")]}, ("matchFields", 0, "operator")),
    ({"matchFields": [expression("metadata.name", "In")]}, ("matchFields", 0, "values")),
    (
        {"matchFields": [expression("metadata.name", "In", "n1", "n2")]},
        ("matchFields", 0, "values"),
    ),
    ({"matchFields": [expression("metadata.name", "In", "N_1")]}, ("matchFields", 0, "values", 0)),
]


@pytest.mark.parametrize(("term", "place"), NODE_REFUSALS)
def test_a_refused_node_selector_names_the_field(
    term: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as refusal:
        node_selector(term)
    first, *others = (error["loc"] for error in refusal.value.errors())
    assert first == TERM + place
    assert all(loc[:2] == TERM for loc in others)


@pytest.mark.parametrize("text", ["{}", '{"nodeSelectorTerms": []}', '{"nodeSelectorTerms": null}'])
def test_a_node_selector_needs_a_term(text: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        NodeSelector.model_validate_json(text)
    assert [error["loc"] for error in refusal.value.errors()] == [("nodeSelectorTerms",)]


def test_several_faults_are_all_reported() -> None:
    with pytest.raises(ValidationError) as refusal:
        label_selector(
            matchLabels={"app": "a b"},
            matchExpressions=[expression("a", "In"), expression("b", "Is")],
        )
    assert {error["loc"] for error in refusal.value.errors()} == {
        ("matchLabels", "app"),
        ("matchExpressions", 0, "values"),
        ("matchExpressions", 1, "operator"),
    }


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["", "1", "2", "03", "x"])
NAMES = st.sampled_from(["n1", "n2"])
LABELS = st.dictionaries(KEYS, VALUES)
PLAIN = st.builds(
    lambda key, operator, values: expression(key, operator, *values),
    KEYS,
    st.sampled_from(["In", "NotIn"]),
    st.lists(VALUES, min_size=1, max_size=4),
) | st.builds(expression, KEYS, st.sampled_from(["Exists", "DoesNotExist"]))
NUMERIC = st.builds(
    expression, KEYS, st.sampled_from(["Gt", "Lt"]), st.sampled_from(["0", "1", "2", "03"])
)
FIELD = st.builds(expression, st.just("metadata.name"), st.sampled_from(["In", "NotIn"]), NAMES)
TERMS = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.lists(PLAIN | NUMERIC, max_size=3) | st.none(),
        "matchFields": st.lists(FIELD, max_size=2) | st.none(),
    },
)
SELECTORS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": LABELS | st.none(),
        "matchExpressions": st.lists(PLAIN, max_size=4) | st.none(),
    },
)


def naive_requirement(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """The documentation read literally, one operator a line; nothing compares with NaN."""
    key, values = requirement["key"], requirement["values"]
    has = key in labels
    as_number = {"0": 0, "1": 1, "2": 2, "03": 3}
    number = as_number.get(labels.get(key, ""), math.nan)
    bound = as_number.get(next(iter(values), ""), math.nan)
    return {
        "In": has and labels[key] in values,
        "NotIn": not has or labels[key] not in values,
        "Exists": has,
        "DoesNotExist": not has,
        "Gt": number > bound,
        "Lt": number < bound,
    }[requirement["operator"]]


def naive_label_selector(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted = set((selector.get("matchLabels") or {}).items())
    return wanted <= set(labels.items()) and all(
        naive_requirement(requirement, labels)
        for requirement in selector.get("matchExpressions") or []
    )


def naive_term(term: Mapping[str, Any], labels: Mapping[str, str], name: str) -> bool:
    expressions = term.get("matchExpressions") or []
    fields = term.get("matchFields") or []
    results = [naive_requirement(requirement, labels) for requirement in expressions]
    results += [naive_requirement(field, {"metadata.name": name}) for field in fields]
    return bool(results) and all(results)


@given(SELECTORS, LABELS)
@settings(max_examples=600)
def test_a_label_selector_matches_as_its_literal_reading(
    selector: dict[str, Any], labels: dict[str, str]
) -> None:
    assert label_selector(**selector).matches(labels) == naive_label_selector(selector, labels)


@given(st.lists(TERMS, min_size=1, max_size=3), LABELS, NAMES)
@settings(max_examples=600)
def test_a_node_selector_matches_as_its_literal_reading(
    terms: list[dict[str, Any]], labels: dict[str, str], name: str
) -> None:
    expected = any(naive_term(term, labels, name) for term in terms)
    assert node_selector(*terms).matches(labels, name) == expected


@given(SELECTORS, st.randoms(use_true_random=False), st.lists(LABELS, max_size=5))
@settings(max_examples=400)
def test_shuffling_keeps_the_canonical_form_and_the_meaning(
    selector: dict[str, Any], random: Any, objects: list[dict[str, str]]
) -> None:
    expressions = [
        {**e, "values": random.sample(e["values"] * 2, len(e["values"] * 2))}
        for e in selector.get("matchExpressions") or []
    ]
    expressions += [
        expression(key, "In", value) for key, value in (selector.get("matchLabels") or {}).items()
    ]
    random.shuffle(expressions)
    original, shuffled = label_selector(**selector), label_selector(matchExpressions=expressions)
    assert original.canonical() == shuffled.canonical()
    assert all(original.matches(labels) == shuffled.matches(labels) for labels in objects)


@given(SELECTORS, SELECTORS)
@settings(max_examples=400)
def test_equal_selectors_have_equal_hashes_and_canonical_forms(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = label_selector(**one), label_selector(**other)
    assert first == label_selector(**one)
    assert hash(first) == hash(label_selector(**one))
    if first == second:
        assert hash(first) == hash(second)
        assert first.canonical() == second.canonical()


@given(SELECTORS, st.lists(KEYS, max_size=3), LABELS, LABELS)
@settings(max_examples=400)
def test_match_label_keys_add_equality_with_the_pod_on_the_keys_it_has(
    selector: dict[str, Any], keys: list[str], pod: dict[str, str], other: dict[str, str]
) -> None:
    plain = label_selector(**selector)
    present = [key for key in keys if key in pod]
    same = all(other.get(key) == pod[key] for key in present)
    differs = all(other.get(key) != pod[key] for key in present)
    matches = plain.matches(other)
    assert with_match_label_keys(plain, keys, pod).matches(other) == (matches and same)
    assert with_mismatch_label_keys(plain, keys, pod).matches(other) == (matches and differs)


def test_a_requirement_can_be_written_in_code_too() -> None:
    requirement = NodeSelectorRequirement(key="cores", operator="Gt", values=("4",))
    assert requirement.matches({"cores": "8"})
