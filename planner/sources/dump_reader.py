"""Big dumps read by a second process: it finds what planner reads, this one builds objects of it.

Half of the time of loading goes into text that is passed over. `python -m` of this module writes
the pods of a dump as rows, and every other piece as it stands, so that whatever is odd is found
and said here, as without it. Where there is no second core or process, all is done in this one.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

import msgspec

from planner.sources.dump import Piece, UnevenDumpError, dump_pieces, text_size
from planner.sources.errors import SourceError
from planner.sources.input_text import too_big
from planner.sources.options import MAX_INPUT
from planner.sources.pod_row import PodRow, RowReader

if TYPE_CHECKING:
    import subprocess

FROM = 48 << 20
"""Bytes of text from which on another process is worth its start."""

_AHEAD = 1 << 20
"""How far the other process may be ahead; more is not for every user to ask for on Linux."""

_LEFT = 6
"""One in so many pieces is left to this process, whose part of the work is the smaller one."""

_ROWS, _PIECE, _END, _TOO_BIG = b"RPEB"
_HEADER = 9
"""Bytes before each block: what it is, and its length."""


class PodRows(msgspec.Struct, frozen=True):
    """Some stored pods of a file."""

    file: str
    rows: list[PodRow]


def read_dump(file: str, limit: int = MAX_INPUT) -> Iterator[Piece | PodRows] | None:
    """A big list in pieces; None if the file is none, or can't be read, which others will say."""
    pieces = dump_pieces(file, limit)
    if pieces is None or text_size(file) < FROM or _cores() < 2:
        return pieces
    return _read_beside(file, pieces, limit)


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _read_beside(file: str, pieces: Iterator[Piece], limit: int) -> Iterator[Piece | PodRows]:
    """What the other process reads, or the pieces as they are if it can't even start."""
    try:
        reader = _start(file, limit)
    except OSError:
        yield from pieces
        return
    blocks = 0
    try:
        for block in _blocks(file, reader.stdout or io.BytesIO(), limit):
            blocks += 1
            yield block
    except EOFError:
        if blocks:
            raise UnevenDumpError(file) from None
    finally:
        reader.kill()
        reader.communicate()
    if not blocks:
        yield from pieces


def _start(file: str, limit: int) -> subprocess.Popen[bytes]:
    """The same interpreter with the same path of imports, wherever it was started."""
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, file, str(limit)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pipesize=_AHEAD,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def _blocks(file: str, stream: IO[bytes], limit: int) -> Iterator[Piece | PodRows]:
    """EOFError if the other process ended before the dump did."""
    decoder = msgspec.msgpack.Decoder(list[PodRow])
    while True:
        header = _exactly(stream, _HEADER)
        if header[0] == _END:
            return
        if header[0] == _TOO_BIG:
            raise too_big(file, limit)
        data = _exactly(stream, int.from_bytes(header[1:], "big"))
        if header[0] == _ROWS:
            yield PodRows(file, decoder.decode(data))
        else:
            yield Piece(file, data)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def write_blocks(file: str, out: IO[bytes], limit: int = MAX_INPUT) -> None:
    """The other process: rows where a piece has stored pods alone, and all other pieces."""
    reader, encode, last = RowReader(), msgspec.msgpack.Encoder().encode, _END
    try:
        for number, piece in enumerate(dump_pieces(file, limit) or ()):
            rows = [] if number % _LEFT == 0 else reader.rows(piece.data)
            kind, data = (_ROWS, encode(rows)) if rows else (_PIECE, piece.data)
            out.write(bytes([kind]) + len(data).to_bytes(_HEADER - 1, "big"))
            out.write(data)
    except SourceError:
        last = _TOO_BIG
    out.write(bytes([last]) + bytes(_HEADER - 1))


if __name__ == "__main__":
    import gc

    gc.disable()
    write_blocks(sys.argv[1], sys.stdout.buffer, int(sys.argv[2]))
