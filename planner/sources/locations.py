"""Where in a manifest a field stands: file, line and column, for tools that show it there.

Loading keeps no positions: it would be slower by them. Whoever needs some has the files read once
more, when the first position is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from planner.sources.names import GeneratedNames
from planner.sources.positions import Head, Part, Position, Tree, trees, yaml_trees
from planner.sources.read import file_texts

_PARTS = re.compile(r"([^.\[\]]+)|\[(\d+|\*)\]")
_Key = tuple[str, str, str]


@dataclass(frozen=True)
class ObjectName:
    """An object of the input; one that is in no namespace has an empty one."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


@dataclass(frozen=True)
class Location:
    """A place in a file, as the user would open it; line and column count from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class _Found:
    location: Location
    exact: bool


class Locations:
    """The places of all objects in some files. Stdin and packed files have none."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)

    def find(self, candidates: Iterable[tuple[ObjectName, str]]) -> Location | None:
        """The first candidate whose field is written down; else the first that is there at all.

        A field that is missing is shown where it would stand: at what is nearest around it.
        """
        found = [place for each in candidates if (place := self._place(*each)) is not None]
        best = next((place for place in found if place.exact), found[0] if found else None)
        return None if best is None else best.location

    def _place(self, name: ObjectName, field: str) -> _Found | None:
        entry = self._objects.get((name.kind, name.namespace, name.name))
        if entry is None:
            return None
        file, tree = entry
        position, exact = _descend(tree, _parts(field))
        return _Found(Location(file, position.line, position.column), exact)

    @cached_property
    def _objects(self) -> dict[_Key, tuple[str, Tree]]:
        """Of two objects with the same name the last one counts, as in loading."""
        found: dict[_Key, tuple[str, Tree]] = {}
        names = GeneratedNames()
        for file, data in file_texts(self._paths):
            shown = _shown(file)
            for (kind, namespace, given, prefix), tree in _placed(data):
                made = names.name(kind, namespace, prefix) if prefix and not given else given
                for where in (namespace,) if namespace else ("", "default"):
                    found[kind, where, made] = (shown, tree)
        return found


def _shown(file: str) -> str:
    """Seen from the working directory, where it is below that: tools want it so."""
    path = Path(file)
    here = Path.cwd()
    inside = path.is_absolute() and path.is_relative_to(here)
    return (path.relative_to(here) if inside else path).as_posix()


def _placed(data: bytes) -> list[tuple[Head, Tree]]:
    try:
        return list(_objects(trees(data)))
    except ValueError:
        return list(_objects(yaml_trees(data.decode("utf-8", errors="replace"))))


def _objects(values: Iterable[Tree], outer: str = "") -> Iterator[tuple[Head, Tree]]:
    """Lists opened; what an item doesn't say of its kind the list says for it."""
    for tree in values:
        opened = _opened(tree)
        if opened is not None:
            kind, items = opened
            yield from _objects((value for _, _, value in items.items()), kind)
            continue
        head = tree.head()
        yield head._replace(kind=head.kind or outer), tree


def _opened(tree: Tree) -> tuple[str, Tree] | None:
    """The items of a list, and the kind that it gives them; None for any other object.

    Looks no further than it must: a dump is one list of everything.
    """
    kind = ""
    for part, _, value in tree.items():
        if part == "kind":
            kind = value.text
        elif part == "items" and (not kind or kind.endswith("List")):
            return kind.removesuffix("List"), value
        elif part in ("spec", "status", "data"):
            return None
    return None


def _parts(field: str) -> list[Part]:
    """`spec.containers[0]` as keys and indexes; `[*]` stands for the first."""
    return [key or (0 if index == "*" else int(index)) for key, index in _PARTS.findall(field)]


def _descend(tree: Tree, parts: Sequence[Part]) -> tuple[Position, bool]:
    """As far inside as there is something; whether that was all the way."""
    position = tree.position
    for part in parts:
        found = tree.child(part)
        if found is None:
            return position, False
        position, tree = found
    return position, True
