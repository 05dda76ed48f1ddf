"""Texts as trees whose values know where they stand; JSON and YAML alike."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from yaml import CSafeLoader, MappingNode, Node, ScalarNode, SequenceNode, YAMLError, compose_all

from planner.sources.yaml_text import QuoteLoader, needs_quote_loader

Part = str | int
"""A key of a mapping, or an index of a list."""

_LIKE_JSON = re.compile(r"\s*[{\[]")
_BETWEEN = re.compile(r"[\s,:]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Position:
    """Line and column, counted from 1."""

    line: int
    column: int


class Head(NamedTuple):
    """How an object is known."""

    kind: str
    namespace: str
    name: str
    generate_name: str


class Tree(ABC):
    """A value: a mapping or a list has items, everything else has a text."""

    @property
    @abstractmethod
    def position(self) -> Position:
        """Where the value begins."""

    @abstractmethod
    def items(self) -> Iterator[tuple[Part, Position, Tree]]:
        """What is inside; a mapping's items stand where their keys do."""

    @property
    @abstractmethod
    def text(self) -> str:
        """A scalar as it is written; empty for mappings and lists."""

    def child(self, part: Part) -> tuple[Position, Tree] | None:
        """An item; of two equal keys the last one counts, as it does for decoders."""
        found = None
        for key, position, tree in self.items():
            if key == part:
                found = (position, tree)
        return found

    def head(self) -> Head:
        """What an object says of itself; empty where it doesn't say."""
        fields = (self._at("metadata", part) for part in ("namespace", "name", "generateName"))
        return Head(self._at("kind"), *fields)

    def _at(self, *parts: Part) -> str:
        tree: Tree = self
        for part in parts:
            found = tree.child(part)
            if found is None:
                return ""
            tree = found[1]
        return tree.text


def trees(data: bytes) -> Iterator[Tree]:
    """The documents of a text; each is looked at before the next one is asked for.

    Raises ValueError where a text begins like JSON and is none: then it may be YAML.
    """
    text = data.decode("utf-8", errors="replace")
    return _json_trees(text) if _LIKE_JSON.match(text) else iter(yaml_trees(text))


# JSON


@dataclass(frozen=True)
class _JsonText:
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def after(self, offset: int) -> int:
        """The next character that is neither blank nor between two values."""
        found = _BETWEEN.match(self.text, offset)
        return offset if found is None else found.end()


class _JsonTree(Tree):
    """Begins at an offset; where it ends is found out once, by whatever comes first."""

    def __init__(self, source: _JsonText, offset: int) -> None:
        self._source = source
        self._offset = offset
        self._end: int | None = None

    @property
    def position(self) -> Position:
        return self._source.position(self._offset)

    @property
    def text(self) -> str:
        value = self._decoded()
        return "" if isinstance(value, dict | list) else str(value)

    @property
    def end(self) -> int:
        if self._end is None:
            self._decoded()
        return self._end or len(self._source.text)

    def _decoded(self) -> Any:
        value, self._end = _DECODER.raw_decode(self._source.text, self._offset)
        return value

    def head(self) -> Head:
        """All at once: a dump has many objects."""
        value = self._decoded()
        found = value if isinstance(value, dict) else {}
        inside = found.get("metadata")
        meta = inside if isinstance(inside, dict) else {}
        parts = (meta.get(part) for part in ("namespace", "name", "generateName"))
        return Head(*(str(part or "") for part in (found.get("kind"), *parts)))

    def items(self) -> Iterator[tuple[Part, Position, Tree]]:
        source, opened = self._source, self._source.text[self._offset]
        if opened not in "{[":
            return
        offset, index = source.after(self._offset + 1), 0
        while source.text[offset] not in "}]":
            start = offset
            part: Part = index
            if opened == "{":
                part, offset = _DECODER.raw_decode(source.text, offset)
                offset = source.after(offset)
            value = _JsonTree(source, offset)
            yield part, source.position(start), value
            offset, index = source.after(value.end), index + 1
        self._end = offset + 1


def _json_trees(text: str) -> Iterator[Tree]:
    source = _JsonText(text)
    offset = source.after(0)
    while offset < len(text):
        tree = _JsonTree(source, offset)
        yield tree
        offset = source.after(tree.end)


# YAML


@dataclass(frozen=True)
class _YamlTree(Tree):
    node: Node

    @property
    def position(self) -> Position:
        return _position(self.node)

    @property
    def text(self) -> str:
        return str(self.node.value) if isinstance(self.node, ScalarNode) else ""

    def items(self) -> Iterator[tuple[Part, Position, Tree]]:
        if isinstance(self.node, MappingNode):
            for key, value in self.node.value:
                yield str(key.value), _position(key), _YamlTree(value)
        elif isinstance(self.node, SequenceNode):
            for index, value in enumerate(self.node.value):
                yield index, _position(value), _YamlTree(value)


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def yaml_trees(text: str) -> list[Tree]:
    """The documents of YAML; none of a text that is none."""
    for loader in (CSafeLoader, QuoteLoader):
        try:
            return [_YamlTree(node) for node in compose_all(text, loader) if node is not None]
        except YAMLError as error:
            if not needs_quote_loader(error):
                break
    return []
