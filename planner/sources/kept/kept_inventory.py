"""The file of an inventory: found by the hash of the input, and trusted only with its own."""

from __future__ import annotations

import gc
import hashlib
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import msgspec

from planner.sources.cache_directory import cache_directory
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.kept.input_hash import input_hash
from planner.sources.kept.object_graph import Graph, GraphWriter, NotKeptError, objects_of
from planner.sources.kept.pod_columns import PodColumns, columns_of, pods_of
from planner.sources.load import FREEZE_FROM, load_paths, no_garbage_collection
from planner.sources.options import DEFAULTS, ReadOptions
from planner.sources.whole_file import write_whole

VERSION = 1
"""Of the format; files of another one are found by nobody, and go in time."""
MOST = 16
"""Files that are kept; beyond them the one that was used the longest time ago goes."""
SUFFIX = ".inventory"

_MAGIC = b"planner inventory\n"
_DIGEST = hashlib.sha256().digest_size
_FOR_OTHERS = 0o077
_DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ImportError, NotKeptError)
"""What reading values raises that are not those that were written."""


class KeptRead(NamedTuple):
    """What was read, and what there is to say about how."""

    inventory: Inventory
    remarks: tuple[str, ...] = ()


class _Stored(msgspec.Struct, array_like=True):
    graph: Graph
    kinds: dict[str, int]
    """The row of each field of the inventory but its pods."""
    pods: PodColumns


def load_kept(paths: Sequence[str], options: ReadOptions = DEFAULTS) -> KeptRead:
    """Like load_paths; what was read is kept, and taken from there while the files are equal."""
    if not all(map(_read_again, paths)):
        remark = "what is piped in can't be kept: it was read without `cache`"
        return KeptRead(load_paths(paths, options=options), (remark,))
    try:
        key = input_hash(paths, options, VERSION)
        directory = _directory()
    except OSError as error:
        remark = f"nothing can be kept in {cache_directory()}: {_reason(error)}"
        return KeptRead(load_paths(paths, options=options), (remark,))
    except SourceError:
        return KeptRead(load_paths(paths, options=options))
    file, remarks = directory / f"{key.hex()}{SUFFIX}", []
    try:
        return KeptRead(_read(file, key))
    except FileNotFoundError:
        pass
    except (NotKeptError, OSError) as error:
        reason = _reason(error) if isinstance(error, OSError) else error
        remarks.append(f"{file} is not used and made anew: {reason}")
    inventory = load_paths(paths, options=options)
    try:
        # A file that was changed while it was read is no longer what the key says.
        if input_hash(paths, options, VERSION) == key:
            write_whole(file, _packed(inventory, key), 0o600)
            _tidy(directory)
    except (NotKeptError, OSError, UnicodeEncodeError) as error:
        remarks.append(f"the cluster was not kept for the next command: {error}")
    return KeptRead(inventory, tuple(remarks))


def _read_again(path: str) -> bool:
    """Whether it can be read twice, as pipes can't; what is missing is for others to say."""
    found = Path(path)
    return path != "-" and (found.is_file() or found.is_dir() or not found.exists())


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _directory() -> Path:
    """Nobody else may look or write there: what is read from it would be their word, not ours."""
    directory = cache_directory() / "inventories"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = directory.stat()
    if not _own(about):
        raise PermissionError(0, "others may use this directory; chmod 700 makes it yours alone")
    return directory


def _own(about: os.stat_result) -> bool:
    """Where there are no such users and modes, the system keeps users apart by other means."""
    user = getattr(os, "geteuid", None)
    return user is None or (about.st_uid == user() and not about.st_mode & _FOR_OTHERS)


def _packed(inventory: Inventory, key: bytes) -> bytes:
    graph = GraphWriter()
    kinds = {
        each.name: graph.number(getattr(inventory, each.name))
        for each in fields(inventory)
        if each.name != "pods"
    }
    stored = _Stored(graph.graph, kinds, columns_of(inventory.pods, graph))
    data = msgspec.msgpack.encode(stored)
    return _MAGIC + key + hashlib.sha256(data).digest() + data


def _read(file: Path, key: bytes) -> Inventory:
    """The inventory in a file, if that is ours and whole."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or not _own(about):
            raise NotKeptError("others may have written it")
        text = stream.read()
    begin = len(_MAGIC) + _DIGEST
    data = memoryview(text)[begin + _DIGEST :]
    if text[:begin] != _MAGIC + key or hashlib.sha256(data).digest() != text[begin:][:_DIGEST]:
        raise NotKeptError("it is damaged")
    try:
        with no_garbage_collection():
            found = _unpacked(data)
            if len(found.pods) >= FREEZE_FROM:
                gc.freeze()
    except _DAMAGED as error:
        raise NotKeptError("it is of another planner") from error
    with suppress(OSError):  # only tells which files are in use
        os.utime(file)
    return found


def _unpacked(data: memoryview) -> Inventory:
    stored = msgspec.msgpack.decode(data, type=_Stored)
    objects = objects_of(stored.graph)
    kinds = {name: objects[row] for name, row in stored.kinds.items()}
    return Inventory(**kinds, pods=tuple(pods_of(stored.pods, objects)))


def _tidy(directory: Path) -> None:
    """Old files go, those of other versions too; another command may be at the same."""
    found = sorted(directory.glob(f"*{SUFFIX}"), key=_used, reverse=True)
    for file in found[MOST:]:
        file.unlink(missing_ok=True)


def _used(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0
