"""Big dumps piece by piece: gigabytes of text need be neither held nor scanned twice.

kubectl indents, so all items of a List begin in one column, and strings in JSON hold no line
breaks: a line with a closing brace and a comma in that column, then one with an opening brace, part
two items. Tools that write no blanks at all leave another trace: an item begins with `apiVersion`,
`kind` and `metadata`, and JSON can't write these quoted words inside a string. A piece that was
parted wrongly, because something else wrote the file, can't be JSON; then the file is read as a
whole.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from planner.sources.input_text import GZIP, too_big
from planner.sources.options import MAX_INPUT

SMALLEST = 8 << 20
"""Smaller files are read as a whole."""

PIECE = 1 << 20
"""Small enough to stay in the processor's cache from reading to decoding."""

_BLANK, _OPEN, _CLOSE = b" []"
_PACKED = 10
"""How many times smaller gzip makes a dump, more or less."""

# Items that name their kind, as here, need not be told it by the list's own, which comes last.
_INDENTED = re.compile(
    rb'\s*\{\s*"apiVersion":\s*"v1",\s*"items":\s*\[(\r?\n[ \t]+)\{\r?\n[ \t]*"apiVersion":'
)
_COMPACT = re.compile(rb'\s*\{"apiVersion":"v1","items":\[(?=\{"apiVersion":")')
_COMPACT_BETWEEN = b'},{"apiVersion":"'
_COMPACT_ITEM = re.compile(rb'\},\{"apiVersion":"[^"\\]*","kind":"[^"\\]*","metadata":\{')
_ANYTHING = re.compile(b"")
_REST_OF_LIST = b'{"apiVersion":"v1","items":['


class Piece(msgspec.Struct, frozen=True):
    """A JSON array of some items, or at last a List of the others.

    The text is overwritten when the next piece is asked for.
    """

    file: str
    data: memoryview | bytes


class _Layout(msgspec.Struct, frozen=True):
    """How the items of a List follow each other.

    `between` parts two items where `item` matches too; both begin where the first item ends.
    """

    start: int
    between: bytes
    item: re.Pattern[bytes] = _ANYTHING

    def last_end(self, text: bytearray, start: int, filled: int) -> int:
        """Where the last item ends that has another one after it; -1 if there is none."""
        cut = text.rfind(self.between, start, filled)
        while cut >= 0 and not self.item.match(text, cut, filled):
            cut = text.rfind(self.between, start, cut + len(self.between) - 1)
        return cut if cut < 0 else text.index(b"}", cut) + 1


def _layout(text: bytearray) -> _Layout | None:
    """The layout of a List that begins like this; None if pieces of it can't be told apart."""
    if found := _INDENTED.match(text):
        return _Layout(found.end(1), found[1] + b"}," + found[1] + b"{")
    if found := _COMPACT.match(text):
        return _Layout(found.end(), _COMPACT_BETWEEN, _COMPACT_ITEM)
    return None


class UnevenDumpError(Exception):
    """The file is not laid out as it seemed at its start."""


def dump_pieces(file: str, limit: int = MAX_INPUT) -> Iterator[Piece] | None:
    """A big list in pieces; None if the file is none, or can't be read, which others will say.

    More than `limit` bytes of text are an error.
    """
    path = Path(file)
    try:
        size = path.stat().st_size if path.is_file() else -1
        if size < SMALLEST // _PACKED:
            return None
        with _opened(path) as stream:
            if isinstance(stream, io.RawIOBase) and size < SMALLEST:
                return None
            layout = _layout(_Buffer(stream).text)
    except (OSError, UnevenDumpError):
        return None
    return None if layout is None else _pieces(path, file, layout, limit)


def text_size(file: str) -> int:
    """How many bytes of text a file holds, more or less."""
    path = Path(file)
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    return path.stat().st_size * (_PACKED if packed else 1)


@contextmanager
def _opened(path: Path) -> Iterator[io.RawIOBase | gzip.GzipFile]:
    with path.open("rb", buffering=0) as raw:
        packed = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        if not packed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield unpacked


def _pieces(path: Path, file: str, layout: _Layout, limit: int) -> Iterator[Piece]:
    """Cuts at the last end of an item in each block; the rest waits for the next one."""
    start = layout.start
    with _opened(path) as stream:
        buffer = _Buffer(stream)
        while True:
            if buffer.read > limit:
                raise too_big(file, limit)
            end = layout.last_end(buffer.text, start, buffer.filled)
            if end >= 0:
                yield Piece(file, buffer.array(start, end))
                start = end + 1
            if not buffer.more(start):
                yield Piece(file, _REST_OF_LIST + bytes(buffer.text[1 : buffer.filled]))
                return
            start = 1


class _Buffer:
    """A part of the file, in the same memory for as long as that suffices.

    The first byte is kept free, so that an array can begin there.
    """

    def __init__(self, file: io.RawIOBase | gzip.GzipFile) -> None:
        self._file = file
        self.read = 0
        self.text = bytearray(PIECE)
        self.filled = 1
        self.text[0] = _BLANK
        self.more(1)

    def array(self, start: int, end: int) -> memoryview:
        """The items between as a JSON array; what stands around them is no longer needed."""
        self.text[start - 1] = _OPEN
        self.text[end] = _CLOSE
        return memoryview(self.text)[start - 1 : end + 1]

    def more(self, start: int) -> bool:
        """Drops what stands before `start`, reads on; False at the end of the file."""
        rest = self.text[start : self.filled]
        if 2 * len(rest) > len(self.text):
            self.text = bytearray(2 * len(self.text))
        self.filled = 1 + len(rest)
        self.text[1 : self.filled] = rest
        try:
            read = self._file.readinto(memoryview(self.text)[self.filled :])
        except (OSError, EOFError, zlib.error) as error:
            raise UnevenDumpError from error
        self.filled += read or 0
        self.read += read or 0
        return bool(read)
