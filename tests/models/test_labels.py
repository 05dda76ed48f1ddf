"""Label keys and values follow the API server's rules."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from planner_models.base import KubeModel
from planner_models.labels import (
    LabelKey,
    Labels,
    check_dns_subdomain,
    check_label_key,
    check_label_value,
)


class Labelled(KubeModel):
    labels: Labels = Field(default_factory=dict)
    topology_key: LabelKey = "zone"


@pytest.mark.parametrize(
    "key",
    [
        "app",
        "a",
        "A.b_c-9",
        "topology.kubernetes.io/zone",
        "kubernetes.io/metadata.name",
        "n" * 63,
        "p" * 253 + "/name",
        "1.2/3",
    ],
)
def test_qualified_names_are_label_keys(key: str) -> None:
    assert check_label_key(key) == key


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/name",
        "prefix/",
        "a/b/c",
        "-app",
        "app-",
        "app name",
        "app\n",
        "Example.com/name",
        "under_score.io/name",
        "a..b/name",
        "-a.io/name",
        "zürich",
        "n" * 64,
        "p" * 254 + "/name",
    ],
)
def test_other_texts_are_refused_as_label_keys(key: str) -> None:
    with pytest.raises(ValueError, match="is not a label key: ") as refusal:
        check_label_key(key)
    assert str(refusal.value).startswith(f'"{key}" ')


@pytest.mark.parametrize("value", ["", "a", "web-7d9f", "1.0_rc", "V" * 63])
def test_empty_texts_and_names_are_label_values(value: str) -> None:
    assert check_label_value(value) == value


@pytest.mark.parametrize("value", ["-a", "a-", ".", "a b", "a/b", "a\n", "é", "V" * 64])
def test_other_texts_are_refused_as_label_values(value: str) -> None:
    with pytest.raises(ValueError, match="is not a label value: "):
        check_label_value(value)


def test_a_refusal_says_which_part_is_wrong() -> None:
    with pytest.raises(ValueError, match='the part before "/" must be lower-case'):
        check_label_key("Example.com/name")
    with pytest.raises(ValueError, match="the name is empty"):
        check_label_key("example.com/")
    with pytest.raises(ValueError, match="it has 64 characters; at most 63 are allowed"):
        check_label_value("v" * 64)


def test_node_names_are_dns_subdomains() -> None:
    assert check_dns_subdomain("node-1.eu.example") == "node-1.eu.example"
    with pytest.raises(ValueError, match="is not a DNS subdomain"):
        check_dns_subdomain("Node_1")


@pytest.mark.parametrize(
    ("json", "place"),
    [
        ('{"labels": {"bad key": "x"}}', ("labels", "bad key", "[key]")),
        ('{"labels": {"app": "bad value"}}', ("labels", "app")),
        ('{"labels": {"app": 1}}', ("labels", "app")),
        ('{"labels": ["app"]}', ("labels",)),
        ('{"topologyKey": "a b"}', ("topologyKey",)),
    ],
)
def test_a_refused_label_names_its_field(json: str, place: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as refusal:
        Labelled.model_validate_json(json)
    assert [error["loc"] for error in refusal.value.errors()] == [place]


def test_null_labels_are_no_labels() -> None:
    assert Labelled.model_validate_json('{"labels": null}').labels == {}


def test_a_null_label_is_an_empty_one() -> None:
    assert Labelled.model_validate_json('{"labels": {"app": null}}').labels == {"app": ""}


NAME_CHARACTERS = set(string.ascii_letters + string.digits + "-_.")
ALPHANUMERIC = set(string.ascii_letters + string.digits)


def naive_name(text: str) -> bool:
    return (
        1 <= len(text) <= 63
        and set(text) <= NAME_CHARACTERS
        and text[0] in ALPHANUMERIC
        and text[-1] in ALPHANUMERIC
    )


def naive_subdomain(text: str) -> bool:
    return len(text) <= 253 and all(
        part
        and set(part) <= set(string.ascii_lowercase + string.digits + "-")
        and part[0] != "-"
        and part[-1] != "-"
        for part in text.split(".")
    )


def accepted(text: str, *, as_key: bool) -> bool:
    try:
        return (check_label_key if as_key else check_label_value)(text) == text
    except ValueError:
        return False


labelish = st.text(alphabet="aZ0-_./ é\n", max_size=8) | st.text(max_size=5)


@given(labelish)
@settings(max_examples=500)
def test_keys_are_accepted_exactly_when_a_literal_reading_of_the_rules_accepts_them(
    text: str,
) -> None:
    parts = text.split("/")
    expected = naive_name(parts[-1]) and (
        len(parts) == 1 or (len(parts) == 2 and naive_subdomain(parts[0]))
    )
    assert accepted(text, as_key=True) == expected


@given(labelish)
@settings(max_examples=500)
def test_values_are_accepted_exactly_when_empty_or_a_name(text: str) -> None:
    assert accepted(text, as_key=False) == (text == "" or naive_name(text))
