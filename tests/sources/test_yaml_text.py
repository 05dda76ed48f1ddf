from __future__ import annotations

import contextlib
import json
import string
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from planner.sources.errors import SourceError
from planner.sources.positions import yaml_trees
from planner.sources.yaml_scalars import plain_value
from planner.sources.yaml_text import MAX_DEPTH, numbered_documents, yaml_documents

DEPLOYMENT = b"""\
# a comment
apiVersion: apps/v1
kind: Deployment
metadata: &meta
  name: web
  labels: {app: web, tier: "1"}
spec:
  replicas: 3
  template:
    metadata:
      <<: *meta
      name: other
    spec:
      containers:
      - name: main
        command: [sh, -c, 'echo "hi"']
        args: ["-x", |-
          not a block here]
        resources: {requests: {cpu: 500m, memory: 1Gi}}
---
kind: ConfigMap
data:
  text: |
    two
    lines
  folded: >-
    one
    line
"""


def read(text: str | bytes) -> list[Any]:
    data = text.encode() if isinstance(text, str) else text
    return [json.loads(document) for document in yaml_documents(data, "web.yaml")]


def value_of(text: str | bytes) -> Any:
    (value,) = read(text)
    return value


def error_of(text: str | bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(text)
    return caught.value


def place(error: SourceError) -> tuple[int | None, int | None]:
    return error.line, error.column


# Values


def test_plain_scalars_are_resolved_and_quoted_ones_are_not() -> None:
    text = "{a: yes, b: 'yes', c: 010, d: \"010\", e: 22:22, f: , g: ~, h: 2001-01-01}"
    assert value_of(text) == {
        "a": True,
        "b": "yes",
        "c": 8,
        "d": "010",
        "e": "22:22",
        "f": None,
        "g": None,
        "h": "2001-01-01",
    }


def test_block_scalars_are_text() -> None:
    assert value_of("a: |\n  1\nb: >-\n  yes\n") == {"a": "1\n", "b": "yes"}


def test_explicit_tags_decide() -> None:
    assert value_of("[!!str 1, !!int '2', ! 3, !x 4]") == ["1", 2, "3", "4"]


def test_whole_floats_are_integers_as_go_writes_them() -> None:
    assert list(yaml_documents(b"replicas: 3.0", "f")) == [b'{"replicas":3}']


def test_keys_become_text() -> None:
    assert value_of("{1: a, on: b, 1.5: c, '2': d}") == {
        "1": "a",
        "true": "b",
        "1.5": "c",
        "2": "d",
    }


def test_documents_are_numbered_and_empty_ones_left_out() -> None:
    text = b"# only a comment\n---\na: 1\n---\n---\n~\n---\n# nothing\n---\nb: 2\n...\n"
    assert list(numbered_documents(text, "f")) == [(2, b'{"a":1}'), (9, b'{"b":2}')]


def test_nothing_has_no_documents() -> None:
    assert read("") == []
    assert read("\n# comment\n") == []


def test_a_byte_order_mark_is_passed_over() -> None:
    assert value_of(b"\xef\xbb\xbfa: 1") == {"a": 1}


# Anchors, aliases, merge keys


def test_an_alias_repeats_the_value_of_its_anchor() -> None:
    assert value_of("a: &x [1, &y 2]\nb: *x\nc: *y\n*y : z") == {
        "a": [1, 2],
        "b": [1, 2],
        "c": 2,
        "2": "z",
    }


def test_merged_keys_give_way_to_keys_below_and_replace_keys_above() -> None:
    assert value_of("{a: 0, <<: {a: 1, b: 2}, b: 3}") == {"a": 1, "b": 3}


def test_of_several_merged_mappings_the_first_wins() -> None:
    assert value_of("x: &x {a: 1}\ny: &y {a: 2, b: 2}\nz: {<<: [*x, *y]}")["z"] == {"a": 1, "b": 2}


def test_merging_leaves_the_anchor_as_it_is() -> None:
    assert value_of("x: &x {a: 1}\ny: {<<: *x, b: 2}")["x"] == {"a": 1}


def test_a_quoted_merge_key_is_text() -> None:
    assert value_of("{'<<': 1}") == {"<<": 1}


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("a: *x", (1, 4), "not set before"),
        ("a: &x 1\n---\nb: *x", (3, 4), "not set before"),
        ("a: &x [*x]", (1, 8), "contains itself"),
        ("a: 1\n<<: 5", (2, 5), "takes a mapping"),
        ("<<: [5]", (1, 7), "takes a mapping"),
    ],
)
def test_what_anchors_and_merges_cannot_do(text: str, where: tuple[int, int], words: str) -> None:
    error = error_of(text)
    assert place(error) == where
    assert words in str(error.detail)


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    error = error_of("\n".join(lines))
    assert "aliases expand to more than 400,000 values" in str(error.detail)


def test_merges_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 {k: [x, x, x, x, x, x, x, x, x]}"]
    lines += [f"a{n}: &a{n} {{k: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 10)]
    assert "aliases expand" in str(error_of("\n".join(lines)).detail)


def test_aliases_nested_into_each_other_never_exhaust_the_stack() -> None:
    lines = ["a0: &a0 []", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 860))]
    only_values_or_source_errors("\n".join(lines).encode())


# Errors


def test_a_tab_in_the_indentation_is_named() -> None:
    error = error_of("a:\n  b: 1\n\tc: 2\n")
    assert error.render() == (
        "error: web.yaml is not valid YAML\n"
        "  --> web.yaml:3:1: found a tab where spaces are expected for indentation"
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("\tfoo: 1", (1, 1)),
        ("a:\n\tb: 1", (2, 1)),
        ("a:\n  - x\n \t- y", (3, 2)),
        ("a: |\n\tfoo\n", (2, 1)),
    ],
)
def test_every_kind_of_tab_is_named(text: str, where: tuple[int, int]) -> None:
    error = error_of(text)
    assert place(error) == where
    assert "found a tab where spaces are expected" in str(error.detail)


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("a: b: c", (1, 5), "mapping values are not allowed"),
        ("a: 'x", (1, 6), "unexpected end"),
        ("a: [1", (2, 1), "',' or ']'"),
        ("x: é\nb: \x01", (2, 4), "control characters"),
        ("a: 1\nb: 2\na: 3", (3, 1), 'the key "a" is set twice'),
        ("1: a\n'1': b", (2, 1), 'the key "1" is set twice'),
        ("{<<: {a: 1}, a: 2, a: 3}", (1, 20), 'the key "a" is set twice'),
        ("a: [.inf]", (1, 5), ".inf is no number"),
        ("a: .NaN", (1, 4), ".NaN is no number"),
        ("~: 1", (1, 1), "a key is empty or null"),
        ("? [a]\n: 1", (1, 3), "a key must be a text"),
        ("x: &x [a]\n*x : 1", (2, 1), "a key must be a text"),
        ("a: !!int x", (1, 4), "!!int"),
    ],
)
def test_errors_say_where_and_what(text: str, where: tuple[int, int], words: str) -> None:
    error = error_of(text)
    assert place(error) == where
    assert words in str(error.detail)
    assert error.file == "web.yaml"


def test_a_byte_that_is_not_utf8_is_named() -> None:
    error = error_of(b"a: 1\nb: \xff")
    assert error.message == "web.yaml is not UTF-8 text"
    assert place(error) == (2, 4)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused(opening: str) -> None:
    error = error_of(opening * 5000)
    assert error.message == "web.yaml is nested too deeply"
    assert place(error) == (1, MAX_DEPTH * len(opening) + 1)


def test_documents_before_an_error_are_read() -> None:
    documents = yaml_documents(b"a: 1\n---\nb: [", "f")
    assert next(documents) == b'{"a":1}'
    with pytest.raises(SourceError):
        next(documents)


# Properties

TEXTS = st.text(max_size=12) | st.text(string.digits + "+-._eExXoObB:ynYN~<", max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


class KubectlDumper(yaml.SafeDumper):
    """PyYAML leaves `y`, `0o7` and `1e5` unquoted, which kubectl takes for other things."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if plain_value(text) == text and text != "<<" else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


KubectlDumper.add_representer(str, _represent_text)


@settings(max_examples=300)
@given(VALUES, st.sampled_from([None, True, False]))
def test_any_json_value_dumped_as_yaml_reads_back_equal(value: Any, flow: bool | None) -> None:
    text = yaml.dump(value, Dumper=KubectlDumper, default_flow_style=flow)
    assert read(text) == ([] if value is None else [value])


@settings(max_examples=100)
@given(VALUES)
def test_any_json_value_dumped_with_tags_reads_back_equal(value: Any) -> None:
    text = yaml.safe_dump(value, default_style='"')
    assert read(text) == ([] if value is None else [value])


@settings(max_examples=100)
@given(st.lists(VALUES.filter(lambda value: value is not None), max_size=4))
def test_streams_keep_every_document(values: list[Any]) -> None:
    text = yaml.dump_all(values, Dumper=KubectlDumper, explicit_start=True)
    assert read(text) == values


def only_values_or_source_errors(data: bytes) -> None:
    with contextlib.suppress(SourceError):
        read(data)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_random_bytes_give_values_or_source_errors(data: bytes) -> None:
    only_values_or_source_errors(data)


@settings(max_examples=300)
@given(st.text("ab:-?[]{},#&*!|>'\"%@`<~ \t\n\r\x85\u2028\ufeff01.", max_size=60))
@example("? - &a\n  *a")
@example("&a &b c")
def test_random_yaml_characters_give_values_or_source_errors(text: str) -> None:
    only_values_or_source_errors(text.encode())


@settings(max_examples=300)
@given(st.data())
def test_mutated_manifests_give_values_or_source_errors(data: st.DataObject) -> None:
    text = bytearray(DEPLOYMENT)
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(text)))
        text[index : index + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=2))
    only_values_or_source_errors(bytes(text))


def test_truncated_manifests_give_values_or_source_errors() -> None:
    for length in range(len(DEPLOYMENT)):
        only_values_or_source_errors(DEPLOYMENT[:length])


ESCAPED = b"""\
a: 1
---
command: ["sh", "-c", "echo \\'hello\\'"]
---
c: 3
"""


def test_an_escaped_single_quote_is_a_quote_as_for_go_yaml() -> None:
    found = [json.loads(document) for document in yaml_documents(ESCAPED, "f")]
    assert found == [{"a": 1}, {"command": ["sh", "-c", "echo 'hello'"]}, {"c": 3}]


def test_any_other_unknown_escape_is_refused_beside_it() -> None:
    with pytest.raises(SourceError, match="found unknown escape character"):
        list(yaml_documents(ESCAPED.replace(b"echo", b"\\q"), "f"))


def test_positions_are_found_in_a_text_with_escaped_quotes() -> None:
    (_, tree, _) = yaml_trees(ESCAPED.decode())
    assert tree.child("command") is not None
