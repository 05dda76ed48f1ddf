"""JSON streams: cut into values without decoding them; errors get a line and a column."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from planner.sources.errors import SourceError, line_and_column, not_utf8

_BYTE = re.compile(r"^(?P<problem>.*) \(byte (?P<byte>\d+)\)$", re.DOTALL)
_TRAILING = re.compile(r"trailing characters \(byte (?P<byte>\d+)\)$")
_TRUNCATED = "Input data was truncated"

BIG = 32 << 20
"""Streams above this many bytes are most likely a single dump."""


def json_values(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """The values of a stream, each with the line it starts on, counted from 1.

    A single value is handed on as it came, without a copy: msgspec skips over it at about 1 GB/s,
    which also tells whether another one follows. Values may stand one per line or one after the
    other, as `kubectl get -o json` calls write them into one file.
    """
    view = memoryview(data)
    start, line = 0, 1
    while start < len(data):
        length = _first_length(data, view, start, file)
        if start == 0 and length == len(data):
            yield line, data
            return
        yield line, bytes(view[start : start + length])
        line += data.count(b"\n", start, start + length)
        start += length


def unsplit(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """A big stream as one value: looking for another would cost as much as decoding its head.

    Whoever decodes it finds out, and then asks for `json_values`.
    """
    if len(data) <= BIG:
        yield from json_values(data, file)
    else:
        yield 1, data


def has_more(error: Exception) -> bool:
    """Whether msgspec complains that another value follows."""
    return _TRAILING.search(str(error)) is not None


def _first_length(data: bytes, view: memoryview, start: int, file: str) -> int:
    """How far the value at start reaches, with the spaces after it.

    msgspec names the first byte after them, counted from 1.
    """
    try:
        msgspec.json.decode(view[start:], type=msgspec.Raw)
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if trailing:
            return int(trailing["byte"]) - 1
        raise json_error(file, data, error, start) from error
    except RecursionError as error:
        raise json_error(file, data, error, start) from error
    return len(data) - start


def json_error(file: str, data: bytes, error: Exception, start: int = 0) -> SourceError:
    """The place of what msgspec found in data[start:], and what it is in plain words.

    Takes DecodeError, UnicodeDecodeError (a text inside is not UTF-8) and RecursionError.
    """
    if isinstance(error, RecursionError):
        return SourceError(
            f"{file} is nested too deeply",
            file=file,
            detail="lists and objects stand in each other too many times",
        )
    if isinstance(error, UnicodeDecodeError):
        return not_utf8(data, file, _first_bad_byte(data, start))
    message = f"{file} is not valid JSON"
    problem, offset = _problem(str(error), len(data) - start)
    if offset is None:
        return SourceError(message, file=file, detail=problem)
    line, column = line_and_column(data, min(start + offset, len(data)))
    return SourceError(message, file=file, line=line, column=column, detail=problem)


def is_truncated(error: SourceError) -> bool:
    """Whether the text was JSON up to its very end."""
    return isinstance(error.__cause__, msgspec.DecodeError) and str(error.__cause__) == _TRUNCATED


def _problem(text: str, length: int) -> tuple[str, int | None]:
    if text == _TRUNCATED:
        return "it ends in the middle of a value; was the output cut off?", length
    match = _BYTE.match(text)
    if match is None:
        return text, None
    return match["problem"].removeprefix("JSON is malformed: "), int(match["byte"])


def _first_bad_byte(data: bytes, start: int) -> int:
    try:
        data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        return start + error.start
    return start
