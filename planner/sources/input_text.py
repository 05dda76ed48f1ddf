"""The text of files and streams: out of gzip and UTF-16, and never more than was asked for."""

from __future__ import annotations

import gzip
import io
import os
import shlex
import zlib
from pathlib import Path
from typing import BinaryIO

from planner.sources.errors import SourceError

GZIP = b"\x1f\x8b"

STDIN = "<stdin>"
"""What stdin is called in messages; on the command line it is `-`."""

KUBECTL = (
    "kubectl get nodes,pods,deploy,rs,sts,ds,jobs,cronjobs,rc,svc,pdb,pv,pvc,sc,pc,ns,limits,quota,"
    "hpa,csinodes,csidrivers,csistoragecapacities,volumeattachments -A -o"
)
"""What a dump should hold: every kind of a cluster's that planner reads."""

_BLOCK = 1 << 20
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 8192
"""Bytes at the start that tell a binary file; one that never ends is not read to find out."""


def file_text(file: str, limit: int) -> bytes:
    """The text of a file."""
    try:
        with Path(file).open("rb") as stream:
            return read_text(file, stream, limit)
    except FileNotFoundError as error:
        raise unreadable(file, "no such file", help_text=kubectl_into(file)) from error
    except OSError as error:
        raise unreadable(file, reason_of(error)) from error


def read_text(file: str, stream: BinaryIO, limit: int) -> bytes:
    """UTF-8 without a byte order mark; PowerShell's `>` writes UTF-16.

    Files and pipes are buffered readers; what anybody else hands over is in memory already.
    """
    source = stream if isinstance(stream, io.BufferedReader) else io.BytesIO(stream.read())
    data = _unpacked(file, source, limit)
    if data.startswith(_UTF16_MARKS):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError as error:
            raise unreadable(file, "it is neither UTF-8 nor UTF-16 text") from error
        if b"\0" in data[:_LOOKED_AT]:
            raise _binary(file)
    return data.removeprefix(_UTF8_MARK)


def _unpacked(file: str, stream: io.BufferedReader | io.BytesIO, limit: int) -> bytes:
    head = stream.getvalue() if isinstance(stream, io.BytesIO) else stream.peek(len(GZIP))
    if not head.startswith(GZIP):
        return _bounded(file, stream, limit)
    try:
        return _bounded(file, gzip.GzipFile(fileobj=stream), limit)
    except EOFError as error:
        raise unreadable(file, "its gzip data ends too early; was the copy cut off?") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise unreadable(file, "its gzip data is damaged") from error


def _bounded(file: str, stream: io.BufferedIOBase, limit: int) -> bytes:
    """All of a stream; stops where it is no text, or too much of it to be held."""
    held = min(limit, _half_of_memory())
    text = io.BytesIO()
    while block := stream.read(_BLOCK):
        if not text.tell() and b"\0" in block[:_LOOKED_AT] and not block.startswith(_UTF16_MARKS):
            raise _binary(file)
        if text.write(block) and text.tell() > held:
            raise too_big(file, limit) if held == limit else _too_big_to_hold(file, held)
    return text.getvalue()


def _half_of_memory() -> int:
    """The other half is for what is read from the text."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def too_big(file: str, limit: int) -> SourceError:
    """The error for a file that holds more than `--max-input` allows."""
    from planner_models.quantity import format_bytes  # not needed by who only reads

    return SourceError(
        f"{file} holds more than {format_bytes(limit)} of text",
        file=file,
        help="--max-input SIZE, such as 32Gi, lets planner read more",
    )


def _too_big_to_hold(file: str, held: int) -> SourceError:
    return SourceError(
        f"{file} holds more than {held / (1 << 30):.1f} GiB of text, half of this machine's memory",
        file=file,
        help=f"a file of JSON need not be held as a whole: {KUBECTL} json > cluster.json",
    )


def _binary(file: str) -> SourceError:
    return unreadable(file, "it is a binary file, neither JSON nor YAML")


def unreadable(file: str, reason: str, help_text: str | None = None) -> SourceError:
    """The error for a file that can't be read at all."""
    return SourceError(f"can't read {file}: {reason}", file=file, help=help_text)


def reason_of(error: OSError) -> str:
    """What the system says."""
    return (error.strerror or str(error)).lower()


def kubectl_into(file: str) -> str:
    """The command that would have made the file."""
    if file == STDIN:
        return f"{KUBECTL} json | planner ... -f -"
    packed = " | gzip" if file.endswith(".gz") else ""
    output = "yaml" if file.removesuffix(".gz").endswith((".yaml", ".yml")) else "json"
    return f"{KUBECTL} {output}{packed} > {shlex.quote(file)}"
