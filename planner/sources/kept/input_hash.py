"""What an input is known by: the bytes of its files, and whatever else decides what is read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from planner.sources.options import ReadOptions
from planner.sources.read import files_of
from planner.version import __version__

_BLOCK = 1 << 20


def input_hash(paths: Sequence[str], options: ReadOptions, version: int) -> bytes:
    """SHA-256 of the files' bytes, their names, how they are read, and the code that reads them.

    The size and the time of a file say nothing: a file may change and keep both. OSError if one
    can't be read, which whoever loads it can say better.
    """
    files = [str(file) for path in paths for file in files_of(path)]
    told = (
        *(version, __version__, _code(), options.max_input, options.skip_invalid),
        *(paths, [(file, _hash_of(file)) for file in files]),
    )
    return hashlib.sha256(msgspec.msgpack.encode(told)).digest()


def _hash_of(file: str) -> bytes:
    found = hashlib.sha256()
    block = bytearray(_BLOCK)
    view = memoryview(block)
    with Path(file).open("rb", buffering=0) as stream:
        while size := stream.readinto(block):
            found.update(view[:size])
    return found.digest()


@cache
def _code() -> bytes:
    """Other code may read the same bytes otherwise, and that of a checkout changes at any time."""
    import planner_models

    found = hashlib.sha256()
    for folder in (Path(__file__).parent.parent, Path(planner_models.__file__).parent):
        for file in sorted(folder.rglob("*.py")):
            about = file.stat()
            found.update(f"{file}\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    return found.digest()
