"""Files, directories and stdin as a stream of JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from planner.sources.errors import SourceError
from planner.sources.input_text import (
    STDIN,
    file_text,
    kubectl_into,
    read_text,
    reason_of,
    unreadable,
)
from planner.sources.json_text import is_truncated, json_error, unsplit
from planner.sources.options import DEFAULTS, MAX_INPUT, ReadOptions
from planner.sources.seems import helm_template, kubectl_table

__all__ = [
    "STDIN",
    "RawDocument",
    "Refused",
    "documents_in",
    "file_texts",
    "json_error",
    "read_paths",
]

SUFFIXES = (".yaml", ".yml", ".json")
"""What is read in a directory, also with .gz after it."""

MAX_FLOW_YAML = 16 << 20
"""Larger input that starts like JSON is not tried as YAML, which would take minutes."""

_LIKE_JSON = re.compile(rb"\s*[{\[]")


class RawDocument(msgspec.Struct, frozen=True):
    """One JSON value, the name of its file as the user knows it, and the line it starts on."""

    file: str
    data: bytes
    line: int


class Refused(msgspec.Struct, frozen=True):
    """A document, or the rest of a file, that can't be read and that the user goes on without."""

    error: SourceError


Document = RawDocument | Refused


def read_paths(
    paths: Sequence[str], stdin: BinaryIO, options: ReadOptions = DEFAULTS
) -> Iterator[Document]:
    """Every document of the files, directories and stdin (`-`), in the order of the paths.

    A file that was named and holds nothing is an error; one found in a directory is passed over.
    """
    return documents_of(paths, lambda: read_text(STDIN, stdin, options.max_input), options)


def documents_of(
    paths: Sequence[str], piped: Callable[[], bytes], options: ReadOptions
) -> Iterator[Document]:
    """The same with the text that is piped in, where it is asked for."""
    for path in paths:
        if path == "-":
            yield from documents_in(STDIN, piped(), options)
        elif Path(path).is_dir():
            for file in map(str, files_of(path)):
                yield from _documents(file, file_text(file, options.max_input), options)
        else:
            yield from documents_in(path, file_text(path, options.max_input), options)


def file_texts(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The text of every file once more, for those who look for a place in it.

    Stdin and pipes can't be read twice; what is packed has no lines that anybody could open.
    """
    for path in paths:
        for file in files_of(path):
            if file.is_file() and file.suffix.lower() != ".gz":
                yield str(file), file_text(str(file), MAX_INPUT)


def documents_in(file: str, text: bytes, options: ReadOptions = DEFAULTS) -> Iterator[Document]:
    """Every document of one text; `file` is what it is called in messages."""
    empty = True
    for document in _documents(file, text, options):
        empty = False
        yield document
    if empty:
        reason = "it holds no objects" if text.strip() else "it is empty"
        raise unreadable(file, reason, help_text=kubectl_into(file))


def _documents(file: str, text: bytes, options: ReadOptions) -> Iterator[Document]:
    """Where the text can't be read any further, the error says what it seems to be."""
    try:
        if (table := kubectl_table(file, text)) is not None:
            raise table
        for line, value in _values(file, text):
            yield RawDocument(file=file, data=value, line=line)
    except SourceError as error:
        refused = helm_template(file, text, error) or error
        if not options.skip_invalid:
            raise refused from error.__cause__
        yield Refused(refused)


def _values(file: str, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The format is told by the first character; flow YAML may start like JSON."""
    if not _LIKE_JSON.match(text):
        return _yaml_values(file, text)
    try:
        return iter(list(unsplit(text, file)))
    except SourceError as error:
        if _never_yaml(file, text, error):
            raise
        return _flow_yaml(file, text, error)


def _yaml_values(file: str, text: bytes) -> Iterator[tuple[int, bytes]]:
    """Dumps mostly are JSON: only whoever reads YAML imports its reader."""
    from planner.sources.yaml_text import numbered_documents

    return numbered_documents(text, file)


def _never_yaml(file: str, text: bytes, error: SourceError) -> bool:
    named_json = file.lower().removesuffix(".gz").endswith(".json")
    return named_json or is_truncated(error) or len(text) > MAX_FLOW_YAML


def _flow_yaml(file: str, text: bytes, as_json: SourceError) -> Iterator[tuple[int, bytes]]:
    """Read as YAML; if it is neither, the error of the format that got further counts."""
    try:
        return iter(list(_yaml_values(file, text)))
    except SourceError as as_yaml:
        further = (as_yaml.line or 0, as_yaml.column or 0) > (
            as_json.line or 0,
            as_json.column or 0,
        )
        raise (as_yaml if further else as_json) from None


def files_of(path: str) -> list[Path]:
    """A file itself; of a directory, the files in it that are read."""
    return _files_below(path) if Path(path).is_dir() else [Path(path)]


def _files_below(directory: str) -> list[Path]:
    """The files to read, sorted by path; hidden files and directories stay out."""
    root = Path(directory)
    found = sorted(
        path
        for path in _walk(root)
        if path.name.lower().removesuffix(".gz").endswith(SUFFIXES) and path.is_file()
    )
    if not found:
        wanted = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
        raise unreadable(directory, f"it has no {wanted} (or .gz of these)")
    return found


def _walk(directory: Path) -> Iterator[Path]:
    """Everything below, without following links to directories: they may lead in a circle."""
    try:
        entries = list(directory.iterdir())
    except OSError as error:
        raise unreadable(str(directory), reason_of(error)) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if not entry.is_dir():
            yield entry
        elif not entry.is_symlink():
            yield from _walk(entry)
