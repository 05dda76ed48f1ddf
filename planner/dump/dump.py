"""From the objects that were read to the bytes of a dump."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from planner.cluster import Cluster, build_cluster
from planner.dump.check import Checked, check_alike, check_no_name
from planner.dump.made_names import with_made_names
from planner.dump.object_shapes import SHAPES
from planner.dump.prune import Item, list_text, pruned
from planner.dump.rename import anonymous
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.sources.load import load_documents
from planner.sources.origin import SnapshotOrigin
from planner.sources.read import RawDocument

NAMES = "planner/names"
"""What a file of names is known by."""


@dataclass(frozen=True)
class Dump:
    """A dump, and where it is anonymous, the names that bring an answer back."""

    data: bytes
    names: bytes = b""
    hidden: int = 0
    """How many names are gone."""
    checked: Checked | None = None


def dump_of(documents: Sequence[RawDocument], origin: SnapshotOrigin, packed: bool) -> Dump:
    """What planner reads of the objects, with their names."""
    text = list_text(pruned(documents), origin.annotations)
    return Dump(_packed(text) if packed else text)


def anonymous_dump_of(
    documents: Sequence[RawDocument], cluster: Cluster, origin: SnapshotOrigin, packed: bool
) -> Dump:
    """The same without names; checked to behave like the cluster, and to tell no name."""
    items = pruned(documents)
    _require_cluster(items)
    renamed = anonymous(with_made_names(items, cluster))
    check_no_name(renamed.items, renamed.originals)
    noted = SnapshotOrigin(
        not_read=origin.not_read, complete=origin.complete, anonymous="true"
    ).annotations
    text = list_text(renamed.items, noted)
    copy = build_cluster(load_documents([RawDocument("the anonymous copy", text, 1)]))
    checked = check_alike(cluster, copy)
    names = msgspec.json.encode({NAMES: renamed.table})
    return Dump(_packed(text) if packed else text, names, len(renamed.originals), checked)


def names_in(data: bytes, file: str) -> dict[str, str]:
    """The table that `names` of an anonymous dump holds."""
    try:
        return msgspec.json.decode(data, type=dict[str, dict[str, str]])[NAMES]
    except (ValueError, KeyError) as error:
        raise SourceError(
            f"{file} is no file of names",
            help="planner dump --anonymous -o FILE.json --names NAMES writes one",
        ) from error


def _require_cluster(items: Sequence[Item]) -> None:
    """Only kinds whose every field is known can be renamed."""
    for item in items:
        if item.kind not in SHAPES:
            raise UsageError(
                f"`anonymous` can't rename a {item.kind}",
                help="leave it out of the input, and tell of it beside the dump",
            )


def _packed(text: bytes) -> bytes:
    """The same bytes for the same text: gzip would note the time."""
    return gzip.compress(text, mtime=0)
