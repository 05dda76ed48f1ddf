"""Files, directories and stdin as a stream of JSON values."""

from __future__ import annotations

import gzip
import re
import shlex
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from planner.sources.errors import SourceError
from planner.sources.json_text import is_truncated, json_error, unsplit

__all__ = ["STDIN", "RawDocument", "documents_in", "file_texts", "json_error", "read_paths"]

STDIN = "<stdin>"
"""What stdin is called in messages; on the command line it is `-`."""

SUFFIXES = (".yaml", ".yml", ".json")
"""What is read in a directory, also with .gz after it."""

MAX_FLOW_YAML = 16 << 20
"""Larger input that starts like JSON is not tried as YAML, which would take minutes."""

_KUBECTL = "kubectl get nodes,pods,deploy,rs,sts,pdb,pv,pvc -A -o"
_LIKE_JSON = re.compile(rb"\s*[{\[]")
_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class RawDocument(msgspec.Struct, frozen=True):
    """One JSON value, the name of its file as the user knows it, and the line it starts on."""

    file: str
    data: bytes
    line: int


def read_paths(paths: Sequence[str], stdin: BinaryIO) -> Iterator[RawDocument]:
    """Every document of the files, directories and stdin (`-`), in the order of the paths.

    A file that was named and holds nothing is an error; one found in a directory is passed over.
    """
    for path in paths:
        if path == "-":
            yield from documents_in(STDIN, stdin.read())
        elif Path(path).is_dir():
            for file in _files_below(path):
                yield from _documents(str(file), _bytes_of(str(file)))
        else:
            yield from documents_in(path, _bytes_of(path))


def file_texts(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The text of every file once more, for those who look for a place in it.

    Stdin and pipes can't be read twice; what is packed has no lines that anybody could open.
    """
    for path in map(Path, paths):
        files = _files_below(str(path)) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and file.suffix.lower() != ".gz":
                yield str(file), _text_of(str(file), _bytes_of(str(file)))


def documents_in(file: str, data: bytes) -> Iterator[RawDocument]:
    """Every document of one text; `file` is what it is called in messages."""
    empty = True
    for document in _documents(file, data):
        empty = False
        yield document
    if empty:
        reason = "it holds no objects" if data.strip() else "it is empty"
        raise _unreadable(file, reason, help_text=_kubectl_into(file))


def _documents(file: str, data: bytes) -> Iterator[RawDocument]:
    text = _text_of(file, data)
    values = _values(file, text)
    return (RawDocument(file=file, data=value, line=line) for line, value in values)


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
        raise _unreadable(directory, f"it has no {wanted} (or .gz of these)")
    return found


def _walk(directory: Path) -> Iterator[Path]:
    """Everything below, without following links to directories: they may lead in a circle."""
    try:
        entries = list(directory.iterdir())
    except OSError as error:
        raise _unreadable(str(directory), _reason(error)) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if not entry.is_dir():
            yield entry
        elif not entry.is_symlink():
            yield from _walk(entry)


def _bytes_of(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except FileNotFoundError as error:
        raise _unreadable(file, "no such file", help_text=_kubectl_into(file)) from error
    except OSError as error:
        raise _unreadable(file, _reason(error)) from error


def _text_of(file: str, data: bytes) -> bytes:
    """UTF-8 without a byte order mark, out of gzip or the UTF-16 that PowerShell's `>` writes."""
    if data.startswith(_GZIP):
        data = _unzipped(file, data)
    if data.startswith(_UTF16_MARKS):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError as error:
            raise _unreadable(file, "it is neither UTF-8 nor UTF-16 text") from error
    if b"\0" in data[:8192]:
        raise _unreadable(file, "it is a binary file, neither JSON nor YAML")
    return data.removeprefix(_UTF8_MARK)


def _unzipped(file: str, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise _unreadable(file, "its gzip data ends too early; was the copy cut off?") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _unreadable(file, "its gzip data is damaged") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _unreadable(file: str, reason: str, help_text: str | None = None) -> SourceError:
    return SourceError(f"can't read {file}: {reason}", file=file, help=help_text)


def _kubectl_into(file: str) -> str:
    """The command that would have made the file."""
    if file == STDIN:
        return f"{_KUBECTL} json | planner ... -f -"
    packed = " | gzip" if file.endswith(".gz") else ""
    output = "yaml" if file.removesuffix(".gz").endswith((".yaml", ".yml")) else "json"
    return f"{_KUBECTL} {output}{packed} > {shlex.quote(file)}"
