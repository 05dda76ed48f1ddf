"""What `Cluster.dump` writes, and how answers about an anonymous dump are read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from planner.errors import UsageError

if TYPE_CHECKING:
    from planner.api.cluster import Cluster
    from planner.sources.origin import SnapshotOrigin
    from planner.sources.read import RawDocument

SUFFIXES = (".json", ".json.gz")


@dataclass(frozen=True)
class DumpReport:
    """What was written, and what was checked before."""

    path: str
    nodes: int
    pods: int
    size: int
    names: str | None = None
    hidden: int = 0
    broken: int | None = None
    waiting: int | None = None

    def to_text(self) -> str:
        """What was done, in a few lines."""
        from planner.report.text.dump_report import dump_report

        return dump_report(self)


def write_dump(
    cluster: Cluster, path: str | os.PathLike[str], anonymous: bool, names: str | None
) -> DumpReport:
    """The file, and the names beside it; both whole or not at all."""
    from planner.dump.dump import anonymous_dump_of, dump_of
    from planner.report.text.files import write_file

    target = check_targets(path, anonymous, names)
    objects, packed = _objects(cluster), target.lower().endswith(".gz")
    origin = _origin(cluster)
    if anonymous:
        found = anonymous_dump_of(objects, cluster.snapshot, origin, packed)
    else:
        found = dump_of(objects, origin, packed)
    if names is not None:
        write_file(names, found.names, private=True)
    write_file(target, found.data, private=True)
    return DumpReport(
        path=target,
        nodes=len(cluster.nodes),
        pods=len(cluster.pods),
        size=len(found.data),
        names=names,
        hidden=found.hidden,
        broken=None if found.checked is None else found.checked.broken,
        waiting=None if found.checked is None else found.checked.waiting,
    )


def check_targets(path: str | os.PathLike[str], anonymous: bool, names: str | None) -> str:
    """The file to write, if all that was asked for makes sense and can be written."""
    from planner.report.text.files import check_writable

    target = os.fspath(path)
    if not target.lower().endswith(SUFFIXES):
        raise UsageError(
            f"{target} is not the name of a dump", help=f"{Path(target).stem}.json, or .json.gz"
        )
    if names is not None and not anonymous:
        raise UsageError(
            "`names` is for dumps without names", help="add `anonymous`, or leave `names` out"
        )
    for each in (target, *(() if names is None else (names,))):
        check_writable(each)
    if names is not None and Path(names).resolve() == Path(target).resolve():
        raise UsageError("`names` and the dump are the same file", help="give them two names")
    return target


def translate(text: str, names: str | os.PathLike[str]) -> str:
    """An answer about an anonymous dump with the names that the file has kept."""
    from planner.dump.dump import names_in
    from planner.dump.rename import translated
    from planner.sources.input_text import file_text
    from planner.sources.options import MAX_INPUT

    file = os.fspath(names)
    return translated(text, names_in(file_text(file, MAX_INPUT), file))


def _origin(cluster: Cluster) -> SnapshotOrigin:
    """Of a running cluster, or of the one dump that was read.

    Where other files were read beside it, their workloads may still want pods.
    """
    from planner.sources.origin import SnapshotOrigin, written_time

    source, origins = cluster.source, cluster.inventory.origins
    if cluster.live is None or source is None or source.read_at is None:
        known = origins[0] if len(origins) == 1 else SnapshotOrigin()
        alone = len(cluster.paths) == 1 and cluster.example is None
        return known if alone else replace(known, complete="")
    return SnapshotOrigin(
        cluster=source.cluster or "",
        context=source.context or "",
        server=source.server or "",
        resource_version=source.resource_version or "",
        time=written_time(source.read_at.timestamp()),
        not_read=",".join(source.not_read),
        complete="" if cluster.paths else "true",
    )


def _objects(cluster: Cluster) -> Sequence[RawDocument]:
    if cluster.objects is None:
        raise UsageError(
            "the objects of this cluster were not kept", help="load it with `keep_objects=True`"
        )
    return cluster.objects


def kept(name: str, max_age: float, read: Callable[[], Cluster]) -> Cluster:
    """A running cluster as it was at most `max_age` seconds ago.

    Its dump in the user's cache directory, while that is young enough; else what `read` reads with
    `keep_objects`, which is kept for the next time. `name` tells the cluster from all others.
    """
    from planner.api.load import load
    from planner.dump.kept_files import dump_file, prepare_directory, young_dump

    file = young_dump(name, max_age, time.time())
    if file is not None:
        return load(file)
    cluster = read()
    prepare_directory()
    write_dump(cluster, dump_file(name), anonymous=False, names=None)
    return cluster
