from __future__ import annotations

import contextlib
import gzip
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.sources.errors import SourceError
from planner.sources.input_text import KUBECTL
from planner.sources.read import RawDocument, json_error, read_paths

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=4)
LIST = json.dumps(
    {"kind": "List", "items": [{"a": "}{"}, {"b": [1, 2.5, None]}]}, indent=2
).encode()


def read(*paths: Path | str, stdin: bytes = b"") -> list[RawDocument]:
    found = read_paths([str(path) for path in paths], io.BytesIO(stdin))
    return [document for document in found if isinstance(document, RawDocument)]


def values(*paths: Path | str, stdin: bytes = b"") -> list[Any]:
    return [json.loads(document.data) for document in read(*paths, stdin=stdin)]


def written(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def error_of(*paths: Path | str, stdin: bytes = b"") -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(*paths, stdin=stdin)
    return caught.value


# What is read


def test_a_json_file_is_handed_on_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path / "cluster.json", LIST)
    assert read(path) == [RawDocument(file=str(path), data=LIST, line=1)]


def test_a_yaml_file_becomes_json(tmp_path: Path) -> None:
    path = written(tmp_path / "web.yaml", "a: yes\n---\nb: 2\n")
    assert read(path) == [
        RawDocument(file=str(path), data=b'{"a":true}', line=1),
        RawDocument(file=str(path), data=b'{"b":2}', line=2),
    ]


def test_stdin_is_a_dash() -> None:
    assert read("-", stdin=b"[1]") == [RawDocument(file="<stdin>", data=b"[1]", line=1)]


def test_paths_keep_their_order(tmp_path: Path) -> None:
    b = written(tmp_path / "b.json", '{"b": 1}')
    a = written(tmp_path / "a.json", '{"a": 1}')
    assert values(b, "-", a, stdin=b"c: 1") == [{"b": 1}, {"c": 1}, {"a": 1}]


def test_a_directory_is_read_below_and_sorted_without_hidden_files(tmp_path: Path) -> None:
    written(tmp_path / "b.yaml", "b: 1")
    written(tmp_path / "a" / "z.yml", "z: 1")
    written(tmp_path / "c.json.gz", gzip.compress(b'{"c": 1}'))
    written(tmp_path / "empty.yaml", "# nothing yet")
    written(tmp_path / "notes.txt", "{")
    written(tmp_path / ".hidden.yaml", "{")
    written(tmp_path / ".git" / "x.yaml", "{")
    assert values(tmp_path) == [{"z": 1}, {"b": 1}, {"c": 1}]


def test_links_to_directories_never_lead_in_a_circle(tmp_path: Path) -> None:
    written(tmp_path / "a.yaml", "a: 1")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert values(tmp_path) == [{"a": 1}]


def test_gzip_is_known_by_its_first_bytes() -> None:
    assert values("-", stdin=gzip.compress(b"a: 1")) == [{"a": 1}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("text", ['{"a": "é"}', "a: é"])
def test_byte_order_marks_are_understood(encoding: str, text: str) -> None:
    assert values("-", stdin=text.encode(encoding)) == [{"a": "é"}]


def test_json_values_may_follow_each_other() -> None:
    documents = read("-", stdin=b'\n{"a": 1}{"b": "}{"}\n[3]\n\n  {"d": 4}\n')
    assert [(d.line, json.loads(d.data)) for d in documents] == [
        (1, {"a": 1}),
        (2, {"b": "}{"}),
        (3, [3]),
        (5, {"d": 4}),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a: 1}", [{"a": 1}]),
        ("[y, n]", [[True, False]]),
        ('{"a": 1}\n---\nb: 2\n', [{"a": 1}, {"b": 2}]),
        ("{} # comment", [{}]),
    ],
)
def test_yaml_may_start_like_json(text: str, expected: list[Any]) -> None:
    assert values("-", stdin=text.encode()) == expected


def test_much_space_before_json_changes_nothing() -> None:
    assert values("-", stdin=b" \n" * 500 + b'{"a":\t1}') == [{"a": 1}]


# What can't be read


def test_a_missing_file_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    assert error_of(path).render() == (
        f"error: can't read {path}: no such file\nhelp: {KUBECTL} json > {path}"
    )


def test_the_command_knows_yaml_gzip_and_stdin(tmp_path: Path) -> None:
    assert str(error_of(tmp_path / "a b.yaml").help).endswith(f"-o yaml > '{tmp_path}/a b.yaml'")
    assert "-o json | gzip > " in str(error_of(tmp_path / "a.json.gz").help)
    assert str(error_of("-").help).endswith("-o json | planner ... -f -")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"# comment\n", "it holds no objects"),
        (b"\x7fELF\0\0\0", "it is a binary file"),
        (gzip.compress(LIST * 50)[:-20], "its gzip data ends too early"),
        (b"\x1f\x8b\x07" + b"rest" * 5, "its gzip data is damaged"),
        (b"\x1f\x8b", "its gzip data ends too early"),
        (b"\xff\xfea", "it is neither UTF-8 nor UTF-16"),
    ],
)
def test_unreadable_content_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    path = written(tmp_path / "x.yaml", data)
    assert error_of(path).message.startswith(f"can't read {path}: {reason}")
    assert error_of("-", stdin=data).message.startswith(f"can't read <stdin>: {reason}")


def test_a_directory_without_files_to_read_is_an_error(tmp_path: Path) -> None:
    written(tmp_path / "notes.txt", "x")
    assert "it has no *.yaml, *.yml, *.json" in error_of(tmp_path).message


def test_permission_denied_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path / "a.json", "{}")
    monkeypatch.setattr(Path, "open", denied)
    assert error_of(path).message == f"can't read {path}: permission denied"


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": 1,\n "é": tru}', 2, 8, "invalid character"),
        ('{"a": [1,\n', 2, 1, "ends in the middle"),
        ('{"a": 1}\n{"b" 2}', 2, 6, "':'"),
        ('{"a": 1,}', 1, 9, "trailing comma"),
    ],
)
def test_json_errors_have_a_place(
    tmp_path: Path, text: str, line: int, column: int, words: str
) -> None:
    path = written(tmp_path / "x.json", text)
    error = error_of(path)
    assert error.message == f"{path} is not valid JSON"
    assert (error.line, error.column) == (line, column)
    assert words in str(error.detail)


def test_of_two_formats_the_one_that_got_further_is_blamed() -> None:
    assert error_of("-", stdin=b"{a: 1,\n b: *x}").message == "<stdin> is not valid YAML"
    assert error_of("-", stdin=b'{"a": [1,').message == "<stdin> is not valid JSON"


def test_a_json_file_is_never_yaml(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", "{a: 1}")
    assert error_of(path).message.endswith("is not valid JSON")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deep_nesting_is_an_error_like_any_other(opening: bytes, tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", opening * 100_000)
    assert error_of(path).message == f"{path} is nested too deeply"
    assert error_of("-", stdin=opening * 100_000).message == "<stdin> is nested too deeply"


def test_a_text_inside_json_that_is_not_utf8_has_a_place() -> None:
    data = b'{"a": 1,\n "b": "x\xff"}'
    with pytest.raises(UnicodeDecodeError) as caught:
        msgspec.json.decode(data)
    error = json_error("x.json", data, caught.value)
    assert (error.message, error.line, error.column) == ("x.json is not UTF-8 text", 2, 9)


def test_a_decoding_error_without_a_place_keeps_its_words() -> None:
    error = json_error("x.json", b"{}", msgspec.ValidationError("Expected `int`"))
    assert (error.line, error.detail) == (None, "Expected `int`")


# Properties


@settings(max_examples=150)
@given(st.lists(OBJECTS, min_size=1, max_size=5), st.sampled_from(["", "\n", " \n\n"]))
def test_any_stream_of_json_objects_is_split(objects: list[Any], gap: str) -> None:
    stream = gap.join(json.dumps(value) for value in objects)
    assert values("-", stdin=stream.encode()) == objects


@settings(max_examples=100)
@given(OBJECTS, st.sampled_from([None, 1]))
def test_any_single_value_is_handed_on_byte_by_byte(value: Any, indent: int | None) -> None:
    data = json.dumps(value, indent=indent).encode()
    assert [document.data for document in read("-", stdin=data)] == [data]


def only_documents_or_source_errors(data: bytes) -> None:
    with contextlib.suppress(SourceError):
        read("-", stdin=data)


@settings(max_examples=300)
@given(st.sampled_from([b"", b"{", b"[", b"\x1f\x8b", b"\xff\xfe"]), st.binary(max_size=80))
def test_random_bytes_give_documents_or_source_errors(start: bytes, rest: bytes) -> None:
    only_documents_or_source_errors(start + rest)


@settings(max_examples=300)
@given(st.sampled_from([LIST, LIST * 2, gzip.compress(LIST)]), st.data())
def test_mutated_files_give_documents_or_source_errors(source: bytes, data: st.DataObject) -> None:
    text = bytearray(source)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(text)))
        text[index : index + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    only_documents_or_source_errors(bytes(text))


def test_truncated_files_give_documents_or_source_errors() -> None:
    for source in (LIST, gzip.compress(LIST)):
        for length in range(len(source)):
            only_documents_or_source_errors(source[:length])
