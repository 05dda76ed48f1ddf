"""The objects of documents as JSON values, for those who write them again.

Loading builds models and forgets the rest of the text; here an object keeps all that it said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from planner.sources.json_text import json_values
from planner.sources.names import GeneratedNames
from planner.sources.read import RawDocument

Json = dict[str, Any]
ObjectKey = tuple[str, str, str]
"""Kind, namespace and name."""


class _Head(msgspec.Struct, rename="camel", gc=False):
    kind: str | None = None
    api_version: str | None = None
    items: list[msgspec.Raw] | None = None


_HEAD = msgspec.json.Decoder(_Head)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])


def raw_objects(documents: Iterable[RawDocument]) -> Iterator[Json]:
    """Every object, lists opened, with its kind and with the name that it gets; one at a time."""
    names = GeneratedNames()
    for document in documents:
        for _, text in json_values(document.data, document.file):
            yield from map(names.named, _opened(text, _Head()))


def key_of(raw: Json) -> ObjectKey:
    """What tells an object from all others; of two with the same key the later one counts."""
    metadata = raw.get("metadata") or {}
    return str(raw.get("kind")), metadata.get("namespace") or "default", str(metadata.get("name"))


def _opened(text: bytes | msgspec.Raw, around: _Head) -> Iterator[Json]:
    """What an item doesn't say of its kind the list says for it."""
    if bytes(memoryview(text)[:64]).lstrip().startswith(b"["):
        for item in _ARRAY.decode(text):
            yield from _opened(item, _Head())
        return
    head = _HEAD.decode(text)
    if head.items is not None:
        head.kind = (head.kind or "").removesuffix("List")
        for item in head.items:
            yield from _opened(item, head)
        return
    said = {"apiVersion": around.api_version, "kind": around.kind}
    yield {**{key: value for key, value in said.items() if value}, **msgspec.json.decode(text)}
