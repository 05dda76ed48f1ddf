"""Names become ranks, with all references: they tell nothing, and every decision stays the same.

All names are seen before the first is given: a rank needs the others. Names are renamed part by
part where a part means something (`kinds_of_names`), so that a claim still ends with the name of
its pod. Times are moved together, so that ages and their order stay; numbers that affinities
compare (Gt, Lt) stay as they are; prose is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from planner.dump.kinds_of_names import NameKind, is_kept, joined, parts_of
from planner.dump.object_shapes import SHAPES
from planner.dump.prune import Item
from planner.dump.ranks import ranks
from planner.scheduler.plugins.image_locality import normalised
from planner_models.meta import parse_time
from planner_models.node import HOSTNAME
from planner_models.workload import HASH_LABEL, REVISION_LABEL

NEWEST = parse_time("2020-01-01T00:00:00Z")
"""What the latest moment of a cluster becomes."""

VALUE_KINDS = {
    HOSTNAME: NameKind.NODE,
    "kubernetes.io/metadata.name": NameKind.NAMESPACE,
    HASH_LABEL: NameKind.NAME,
    REVISION_LABEL: NameKind.NAME,
    "statefulset.kubernetes.io/pod-name": NameKind.NAME,
    "job-name": NameKind.NAME,
    "batch.kubernetes.io/job-name": NameKind.NAME,
    "controller-uid": NameKind.UID,
    "batch.kubernetes.io/controller-uid": NameKind.UID,
    "apps.kubernetes.io/pod-index": NameKind.WORD,
    "batch.kubernetes.io/job-completion-index": NameKind.WORD,
}
"""Labels whose values are names of something; all others have values of their own."""

TAG = "1"
"""Of every image: one without would be taken for another."""
SEVERAL_ZONES = "__"
"""Parts the zones of a volume that is in several, in the value of one label."""
_INTEGER = re.compile(r"\d{1,18}", re.ASCII)
_ORDINAL = re.compile(r"\d{1,5}", re.ASCII)
"""Shorter than the hash of a revision, which may consist of digits, too."""
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Anonymous:
    """Objects without names, and what was there: new names, or parts of them, to the old ones."""

    items: tuple[Item, ...]
    table: Mapping[str, str]
    originals: frozenset[str]
    """The whole names that are gone."""


def anonymous(items: Iterable[Item]) -> Anonymous:
    """The objects with other names."""
    items = list(items)
    seen = _Seen()
    for item in items:
        raw = msgspec.json.decode(item.text)
        SHAPES[item.kind](seen, raw)
        if item.kind == "Node":
            seen.node(raw["metadata"])
    renaming = _Renaming(seen)
    renamed = tuple(Item(item.kind, renaming.text(item)) for item in items)
    return Anonymous(renamed, renaming.table, renaming.originals)


class _Seen:
    """All names of the input."""

    def __init__(self) -> None:
        self.names: dict[NameKind, set[str]] = defaultdict(set)
        self.values: set[tuple[str, str]] = set()
        self.numeric: set[str] = set()
        self.stateful_sets: set[str] = set()
        self.latest = 0
        self._own_name: dict[str, bool] = {}

    @property
    def node_keys(self) -> frozenset[str]:
        """Labels that have the node's own name as their value, wherever a node has them."""
        return frozenset(key for key, own in self._own_name.items() if own)

    def node(self, metadata: dict[str, Any]) -> None:
        """The labels of a node."""
        for key, value in (metadata.get("labels") or {}).items():
            self._own_name[key] = self._own_name.get(key, True) and value == metadata["name"]

    def name(self, kind: NameKind, name: str) -> str:
        kind, known = _known_as(kind, name)
        self.names[kind].add(known)
        return name

    def stateful_set(self, name: str) -> str:
        self.stateful_sets.add(name)
        return self.name(NameKind.NAME, name)

    def value(self, key: str, value: str) -> str:
        self.values.add((key, value))
        return value

    def compared(self, key: str) -> None:
        self.numeric.add(key)

    def time(self, time: str) -> str:
        self.latest = max(self.latest, _seconds(time) or 0)
        return time

    def message(self, text: str) -> None:
        return None


class _Renaming:
    """Who is called what from now on."""

    def __init__(self, seen: _Seen) -> None:
        self._numeric, self._stateful_sets = seen.numeric, seen.stateful_sets
        self._value_kinds = dict.fromkeys(seen.node_keys, NameKind.NODE) | VALUE_KINDS
        self._later = NEWEST - seen.latest
        for key, value in seen.values:
            for kind, name in self._values(key, value):
                seen.names[kind].add(name)
        parts = {
            kind: {part for name in names for part in self._renamed_parts(kind, name)}
            for kind, names in seen.names.items()
        }
        known = (*seen.names.values(), *parts.values())
        taken = {name.removesuffix("/") for names in known for name in names}
        self._ranks = {kind: _ranks_of(kind, each, taken) for kind, each in parts.items()}
        self._new = {
            kind: {name: self._renamed(kind, name) for name in names}
            for kind, names in seen.names.items()
        }
        self.table = {
            new: old.removesuffix("/")
            for ranked in self._ranks.values()
            for old, new in sorted(ranked.items())
        }
        self.originals = frozenset(
            old for names in self._new.values() for old, new in names.items() if old != new
        )

    def text(self, item: Item) -> bytes:
        raw: dict[str, Any] = msgspec.json.decode(item.text)
        head = {key: raw[key] for key in ("apiVersion", "kind")}
        return _encode({**head, **SHAPES[item.kind](self, raw)})

    def name(self, kind: NameKind, name: str) -> str:
        kind, known = _known_as(kind, name)
        return self._new[kind][known]

    def stateful_set(self, name: str) -> str:
        return self.name(NameKind.NAME, name)

    def value(self, key: str, value: str) -> str:
        found = [self._new[kind][name] for kind, name in self._values(key, value)]
        return SEVERAL_ZONES.join(found) if found else value

    def compared(self, key: str) -> None:
        return None

    def time(self, time: str) -> str | None:
        seconds = _seconds(time)
        if seconds is None:
            return None
        return datetime.fromtimestamp(seconds + self._later, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def message(self, text: str) -> None:
        return None

    def _values(self, key: str, value: str) -> list[tuple[NameKind, str]]:
        """What a label's value names; nothing, if it is a number that affinities compare."""
        if key in self._numeric and _INTEGER.fullmatch(value):
            return []
        kind = self._value_kinds.get(key, NameKind.VALUE)
        names = value.split(SEVERAL_ZONES) if kind is NameKind.VALUE else [value]
        return [(kind, name) for name in names]

    def _renamed_parts(self, kind: NameKind, name: str) -> set[str]:
        """What of a name gets a rank."""
        parts = parts_of(kind, name)
        return {part for i, part in enumerate(parts) if not self._is_ordinal(kind, parts, i)}

    def _is_ordinal(self, kind: NameKind, parts: list[str], i: int) -> bool:
        """Whether a number stands behind the name of a StatefulSet: in a pod's, or in a claim's."""
        if kind is not NameKind.NAME or not _ORDINAL.fullmatch(parts[i]):
            return False
        return any("-".join(parts[start:i]) in self._stateful_sets for start in range(i))

    def _renamed(self, kind: NameKind, name: str) -> str:
        ranked, parts = self._ranks[kind], parts_of(kind, name)
        if kind is NameKind.IMAGE and name:
            return f"{ranked[name]}:{TAG}"
        new = [
            part if self._is_ordinal(kind, parts, i) else ranked.get(part, part)
            for i, part in enumerate(parts)
        ]
        return joined(kind, new, domain=parts[0].endswith("/"))


def _ranks_of(kind: NameKind, parts: set[str], taken: set[str]) -> dict[str, str]:
    kept = {part for part in parts if is_kept(kind, part)}
    marks = () if kind is NameKind.WORD else kept - {""}
    unlike = kind is NameKind.KEY
    return ranks(kind.value, parts - kept, marks, taken - kept, unlike=unlike)


def _known_as(kind: NameKind, name: str) -> tuple[NameKind, str]:
    """What ImageLocality looks for on nodes; all other names are what they are."""
    if kind is not NameKind.WANTED_IMAGE:
        return kind, name
    return NameKind.IMAGE, normalised(name) if name else name


def _seconds(time: str) -> int | None:
    """None for what is no time: nobody has looked at all of them."""
    try:
        return parse_time(time)
    except ValueError:
        return None


def translated(text: str, table: Mapping[str, str]) -> str:
    """The text with the old names in the place of the new ones; headings have them in capitals."""

    def old(found: re.Match[str]) -> str:
        word = found[0]
        if word in table:
            return table[word]
        small = table.get(word.lower())
        return word if small is None or not word.isupper() else small.upper()

    return re.sub(r"[A-Za-z0-9]+", old, text)
