"""Objects reduced to what planner reads of them, and the List that they are written as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from planner.dump.kinds_of_names import NameKind
from planner.dump.object_shapes import SHAPES
from planner.sources.kinds import KINDS
from planner.sources.raw_objects import Json, ObjectKey, key_of, raw_objects
from planner.sources.read import RawDocument

_encode = msgspec.json.Encoder().encode


class Item(NamedTuple):
    """An object of a dump, as JSON."""

    kind: str
    text: bytes


class _AsTheyAre:
    """Nothing is renamed."""

    def name(self, kind: NameKind, name: str) -> str:
        return name

    def stateful_set(self, name: str) -> str:
        return name

    def value(self, key: str, value: str) -> str:
        return value

    def compared(self, key: str) -> None:
        return None

    def time(self, time: str) -> str:
        return time

    def message(self, text: str) -> str:
        return text


def pruned(documents: Iterable[RawDocument]) -> list[Item]:
    """What planner reads; of two objects of a name the later one, in the place of the first.

    Configuration files and a fleet's objects stay as they are.
    """
    found: dict[ObjectKey | int, Item] = {}
    for number, raw in enumerate(raw_objects(documents)):
        kind = str(raw.get("kind"))
        group = str(raw.get("apiVersion") or "").rpartition("/")[0]
        if (group, kind) in (("", "Pod"), *KINDS):
            key = key_of(raw) if isinstance(raw.get("metadata"), dict) else number
            found[key] = Item(kind, _encode(_pruned(kind, raw)))
    return list(found.values())


def _pruned(kind: str, raw: Json) -> Json:
    """Kinds first: that is where whoever reads a big dump looks for the end of an item."""
    head = {"apiVersion": raw.get("apiVersion") or "v1", "kind": kind}
    if kind not in SHAPES:
        return {**head, **raw}
    return {**head, **{"metadata": {}}, **SHAPES[kind](_AsTheyAre(), raw)}


def list_text(items: Iterable[Item], annotations: Mapping[str, str]) -> bytes:
    """A List in the layout in which big ones are read piece by piece."""
    parts = (
        b'{"apiVersion":"v1","items":[',
        b",".join(item.text for item in items),
        b'],"kind":"List","metadata":',
        _encode({"annotations": annotations} if annotations else {}),
        b"}\n",
    )
    return b"".join(parts)
