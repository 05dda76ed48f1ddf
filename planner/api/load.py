"""From what a user has, paths or open files, to a Cluster or a Fleet."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from planner.api.live import Live, cluster_name, most_seconds, read_live
from planner.errors import UsageError

if TYPE_CHECKING:
    from planner.api.cluster import Cluster
    from planner.api.fleet import Fleet
    from planner.sources.inventory import Inventory
    from planner.sources.live.reader import ReadProgress
    from planner.sources.options import ReadOptions
    from planner.sources.read import Document, RawDocument
    from planner_models.source import ClusterSource

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A file, a directory, `-` for standard input, or an open file."""

NOT_KEPT = "`cache` was not used: the objects themselves are needed here, not what is read of them"


def load(  # noqa: PLR0913 - what a user may say about input
    source: Source | Iterable[Source] = (),
    *,
    example: str | None = None,
    keep_objects: bool = False,
    skip_invalid: bool = False,
    max_input: int | str | None = None,
    live: bool | Live = False,
    progress: Callable[[ReadProgress], object] | None = None,
    cache: bool = False,
) -> Cluster:
    """The cluster in files, directories or open files, in the order given.

    YAML with several documents, JSON, Lists and gzip, as `kubectl get -o` writes them. `example`
    names a cluster that ships with planner. `keep_objects` keeps the objects as they came, so that
    `Cluster.write` can write them again. `skip_invalid` goes on without objects that can't be used;
    a notice names them. `max_input` bounds the text of one file, in bytes or as `"2Gi"`.
    `live` reads a running cluster, that of kubectl's current context or of `planner.Live(...)`, and
    puts the files on top of it as `kubectl apply` would; `progress` is told how far that is.
    `cache` keeps what was read of files in the user's cache directory, and takes it from there as
    long as their content is the same.
    """
    options = read_options(max_input, skip_invalid=skip_invalid)
    if live:
        if cache:
            raise UsageError(
                "`cache` is for files, and this is a running cluster",
                help="`max_age` keeps what was read of one",
            )
        chosen = Live() if live is True else live
        return _load_live(chosen, source, example, options, progress, keep_objects=keep_objects)
    from planner.api.cluster import Cluster
    from planner.cluster import build_cluster

    read = _read(source, example, options, keep_objects=keep_objects, cache=cache)
    known = _source_of(read.inventory)
    return Cluster(
        build_cluster(read.inventory),
        read.inventory,
        read.paths,
        read.objects,
        example,
        known,
        warnings=read.remarks,
    )


def _load_live(
    live: Live,
    source: Source | Iterable[Source],
    example: str | None,
    options: ReadOptions,
    progress: Callable[[ReadProgress], object] | None,
    *,
    keep_objects: bool,
) -> Cluster:
    given = list(sources_of(source))
    if example is not None:
        raise UsageError(f"`example={example}` is a cluster of its own, beside no running one")
    seconds = most_seconds(live)
    if seconds and not given and not keep_objects:
        from planner.api.dump import kept

        name, own = cluster_name(live)
        fresh = replace(live, max_age=None)
        found = kept(
            name,
            seconds,
            lambda: _load_live(fresh, (), None, options, progress, keep_objects=True),
        )
        return replace(found, paths=(), live=fresh, namespace=own)

    def documents() -> tuple[Document, ...]:
        return tuple(documents_of(given, options))

    read, namespace = read_live(live, documents, options, progress, keep_objects=keep_objects)
    from planner.api.cluster import Cluster
    from planner.cluster import build_cluster

    return Cluster(
        build_cluster(read.inventory),
        read.inventory,
        tuple(each for each in given if isinstance(each, str)),
        read.objects,
        source=read.source,
        live=live,
        namespace=namespace,
        warnings=read.warnings,
    )


def _source_of(inventory: Inventory) -> ClusterSource | None:
    """What files tell of their cluster; of a single dump, what is noted there."""
    from planner.sources.cluster_id import cluster_id
    from planner.sources.origin import SnapshotOrigin
    from planner_models.source import ClusterSource

    origins = inventory.origins
    origin = origins[0] if len(origins) == 1 else SnapshotOrigin()
    read_at = origin.read_at
    found = ClusterSource(
        cluster=cluster_id(inventory) or origin.cluster or None,
        context=origin.context or None,
        server=origin.server or None,
        resource_version=origin.resource_version or None,
        read_at=None if read_at is None else datetime.fromtimestamp(read_at, UTC),
        not_read=tuple(filter(None, origin.not_read.split(","))),
    )
    return None if found == ClusterSource() else found


def load_fleet(
    source: Source | Iterable[Source] = (),
    *,
    example: str | None = None,
    skip_invalid: bool = False,
    max_input: int | str | None = None,
    cache: bool = False,
) -> Fleet:
    """Member clusters, placements and bindings, from the same kinds of sources."""
    from planner.api.fleet import Fleet

    options = read_options(max_input, skip_invalid=skip_invalid)
    read = _read(source, example, options, cache=cache)
    return Fleet(read.inventory, read.paths, example, read.remarks)


def read_options(max_input: int | str | None, *, skip_invalid: bool) -> ReadOptions:
    """How to read what a user gives."""
    from planner.sources.options import MAX_INPUT, ReadOptions

    return ReadOptions(MAX_INPUT if max_input is None else _size(max_input), skip_invalid)


def _size(given: int | str) -> int:
    """Whole bytes of a quantity."""
    from planner_models.quantity import parse_quantity, whole_value

    try:
        size = whole_value(parse_quantity(str(given)))
    except ValueError:
        size = 0
    if size < 1:
        raise UsageError(
            f"`max_input` is {given!r}; it must be a number of bytes above 0",
            help="such as 16Gi, which is the default, 500M or 2e9",
        )
    return size


@dataclass(frozen=True)
class _Read:
    inventory: Inventory
    paths: tuple[str, ...]
    """The files that the user named, in which errors and findings have their lines."""
    objects: tuple[RawDocument, ...] | None
    remarks: tuple[str, ...] = ()
    """What there is to say about what was kept before."""


def _read(
    source: Source | Iterable[Source],
    example: str | None,
    options: ReadOptions,
    *,
    keep_objects: bool = False,
    cache: bool = False,
) -> _Read:
    from planner.sources.example import example_file
    from planner.sources.load import load_documents, load_paths
    from planner.sources.read import RawDocument

    given = list(sources_of(source))
    named = tuple(each for each in given if isinstance(each, str))
    if example is not None:
        given.append(example_file(example))
    if not given:
        raise UsageError(
            "there is nothing to load", help="give a path, an open file, or `example=NAME`"
        )
    paths = [each for each in given if isinstance(each, str)]
    if len(paths) == len(given) and not keep_objects:
        if not cache:
            return _Read(load_paths(paths, options=options), named, None)
        from planner.sources.kept.kept_inventory import load_kept

        inventory, remarks = load_kept(paths, options)
        return _Read(inventory, named, None, remarks)
    remarks = (NOT_KEPT,) if cache else ()
    objects = tuple(_documents(given, options))
    inventory = load_documents(objects, options)
    kept = tuple(each for each in objects if isinstance(each, RawDocument))
    return _Read(inventory, named, kept if keep_objects else None, remarks)


def paths_of(source: Source | Iterable[Source], example: str | None) -> list[str]:
    """A packaged example, then files; only these have a place that can be read again."""
    from planner.sources.example import example_file

    given = list(sources_of(source))
    if not all(isinstance(each, str) for each in given):
        raise UsageError("a cluster is read from files here", help="give paths")
    named = [each for each in given if isinstance(each, str)]
    return [*((example_file(example),) if example is not None else ()), *named]


def documents_of(source: Source | Iterable[Source], options: ReadOptions) -> Iterator[Document]:
    """Everything in paths and open files, as documents."""
    return _documents(sources_of(source), options)


def sources_of(source: Source | Iterable[Source]) -> Iterator[str | IO[Any]]:
    """Paths as text; whatever has a `read` is an open file."""
    if isinstance(source, str | os.PathLike):
        yield os.fspath(source)
    elif hasattr(source, "read"):
        yield cast("IO[Any]", source)
    elif isinstance(source, Iterable):
        for each in source:
            yield from sources_of(each)
    else:
        raise UsageError(
            f"can't load {type(source).__name__} objects", help="give a path or an open file"
        )


def _documents(sources: Iterable[str | IO[Any]], options: ReadOptions) -> Iterator[Document]:
    from planner.sources.input_text import STDIN, read_text
    from planner.sources.read import documents_in
    from planner.sources.read import documents_of as documents_in_path

    def piped() -> bytes:
        return read_text(STDIN, sys.stdin.buffer, options.max_input)

    for each in sources:
        if isinstance(each, str):
            yield from documents_in_path([each], piped, options)
        else:
            name, data = _content(each)
            text = read_text(name, io.BytesIO(data), options.max_input)
            yield from documents_in(name, text, options)


def _content(file: IO[Any]) -> tuple[str, bytes]:
    """The name of an open file, as messages tell it, and what is left to read in it."""
    name = getattr(file, "name", None)
    shown = name if isinstance(name, str) else "<open file>"
    try:
        data = file.read()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{shown} is not {error.encoding} text", help="open it in binary mode"
        ) from error
    return shown, data.encode() if isinstance(data, str) else data
