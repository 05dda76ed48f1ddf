"""YAML documents as JSON, read the way kubectl reads them.

libyaml's events are turned into values here, instead of letting PyYAML construct them: its scalar
rules are not kubectl's (see yaml_scalars), it takes the last of two equal keys without a word, and
it spends twice the time. Without recursion no depth of nesting can exhaust the stack.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from yaml import CSafeLoader, MarkedYAMLError, SafeLoader, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.reader import ReaderError

from planner.sources.errors import SourceError, line_and_column, require_utf8
from planner.sources.yaml_scalars import key_text, plain_value, tagged_value

MAX_DEPTH = 500
"""Far above any Kubernetes object, and below what JSON decoders take."""

MAX_ALIASED_NODES = 400_000
"""How many values aliases may add to a document; go-yaml stops at about the same number."""

_UNKNOWN_ESCAPE = "found unknown escape character"
_TAB = "found a tab where spaces are expected for indentation"
_NO_KEY: Any = object()
_MERGE: Any = object()
_OPEN: Any = object()
_MERGE_TAG = "tag:yaml.org,2002:merge"


class QuoteLoader(SafeLoader):
    """Takes `\\'` in a double-quoted text for a quote, as go-yaml does and libyaml does not.

    Far slower than libyaml, so only for files where that one stumbles on it.
    """

    ESCAPE_REPLACEMENTS = SafeLoader.ESCAPE_REPLACEMENTS | {"'": "'"}  # type: ignore[misc]


def needs_quote_loader(error: YAMLError) -> bool:
    """Whether libyaml stumbled on an escape."""
    return isinstance(error, MarkedYAMLError) and error.problem == _UNKNOWN_ESCAPE


def yaml_documents(data: bytes, file: str) -> Iterator[bytes]:
    """Each document of a YAML stream as JSON; empty documents are left out."""
    return (document for _, document in numbered_documents(data, file))


def numbered_documents(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """Like yaml_documents, each with the line it starts on, counted from 1."""
    require_utf8(data, file)
    try:
        yield from _by_either_loader(data, file)
    except ReaderError as error:
        offset = error.position if isinstance(error.position, int) else 0
        raise _not_yaml(file, *line_and_column(data, offset), str(error.reason)) from error
    except MarkedYAMLError as error:
        raise _syntax_error(data, file, error) from error
    except YAMLError as error:
        raise SourceError(f"{file} is not valid YAML", file=file, detail=str(error)) from error


def _by_either_loader(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    done = 0
    try:
        for document in _documents(CSafeLoader(data), file):
            yield document
            done += 1
    except MarkedYAMLError as error:
        if not needs_quote_loader(error) or b"\\'" not in data:
            raise
        yield from islice(_documents(QuoteLoader(data), file), done, None)


def _documents(parser: Any, file: str) -> Iterator[tuple[int, bytes]]:
    builder = _Builder(file)
    handlers = builder.handlers()
    line = 1
    while (event := parser.get_event()) is not None:
        kind = type(event)
        handler = handlers.get(kind)
        if handler is not None:
            handler(event)
        elif kind is DocumentStartEvent:
            line = event.start_mark.line + 1
            builder.reset()
        elif kind is DocumentEndEvent and builder.root is not None:
            yield line, _encoded(builder.root, file, line)


def _encoded(value: object, file: str, line: int) -> bytes:
    try:
        return msgspec.json.encode(value)
    except RecursionError as error:
        raise _too_deep(file, line, None) from error


class _Builder:
    """The state of one document while its events arrive: the only thing here that changes.

    `container` is the innermost open list or mapping, `key` the mapping key that waits for its
    value; the enclosing ones are on the stack. `nodes` counts values with aliases expanded.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.reset()

    def reset(self) -> None:
        """Begin a document; anchors end with the document that sets them."""
        self.root: Any = None
        self.container: Any = None
        self.key: Any = _NO_KEY
        self.merged: set[str] = set()
        self.stack: list[tuple[Any, Any, set[str], str | None, int]] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0
        self.aliased = 0

    def handlers(self) -> dict[type, Any]:
        return {
            ScalarEvent: self.scalar,
            MappingStartEvent: self.start_mapping,
            SequenceStartEvent: self.start_sequence,
            MappingEndEvent: self.end,
            SequenceEndEvent: self.end,
            AliasEvent: self.alias,
        }

    def scalar(self, event: Any) -> None:
        self.nodes += 1
        value = event.value
        if event.tag is not None:
            value = self._tagged(event)
        elif event.implicit[0]:
            value = plain_value(value)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        if self.key is _NO_KEY and type(self.container) is dict:
            self._set_key(event, value)
            return
        if type(value) is float and not math.isfinite(value):
            raise self._error(event, f"{event.value} is no number that JSON can carry")
        self._add(event, value)

    def start_mapping(self, event: Any) -> None:
        self._start(event, {})

    def start_sequence(self, event: Any) -> None:
        self._start(event, [])

    def _start(self, event: Any, container: Any) -> None:
        if self.key is _NO_KEY and type(self.container) is dict:
            raise self._error(event, "a key must be a text, not a list or a mapping")
        if len(self.stack) >= MAX_DEPTH:
            raise _too_deep(self.file, event.start_mark.line + 1, event.start_mark.column + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = (_OPEN, 0)
        self.stack.append((self.container, self.key, self.merged, event.anchor, self.nodes))
        self.nodes += 1
        self.container, self.key, self.merged = container, _NO_KEY, set()

    def end(self, event: Any) -> None:
        value = self.container
        self.container, self.key, self.merged, anchor, before = self.stack.pop()
        if anchor is not None:
            self.anchors[anchor] = (value, self.nodes - before)
        self._add(event, value)

    def alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise self._error(event, f"*{event.anchor} refers to an anchor that is not set before")
        value, nodes = self.anchors[event.anchor]
        if value is _OPEN:
            raise self._error(event, f"the value of the anchor &{event.anchor} contains itself")
        self.nodes += nodes
        self.aliased += nodes
        if self.aliased > MAX_ALIASED_NODES:
            raise self._error(event, f"aliases expand to more than {MAX_ALIASED_NODES:,} values")
        if self.key is _NO_KEY and type(self.container) is dict:
            if isinstance(value, dict | list):
                raise self._error(event, "a key must be a text, not a list or a mapping")
            self._set_key(event, value)
        else:
            self._add(event, value)

    def _set_key(self, event: Any, value: Any) -> None:
        if value == "<<" and _is_merge(event):
            self.key = _MERGE
            return
        try:
            key = key_text(value)
        except ValueError as error:
            raise self._error(event, str(error)) from error
        if key in self.container:
            if key not in self.merged:
                raise self._error(event, f'the key "{key}" is set twice in this mapping')
            self.merged.remove(key)
        self.key = key

    def _add(self, event: Any, value: Any) -> None:
        container = self.container
        if container is None:
            self.root = value
        elif type(container) is list:
            container.append(value)
        else:
            if self.key is _MERGE:
                self._merge(event, value)
            else:
                container[self.key] = value
            self.key = _NO_KEY

    def _merge(self, event: Any, value: Any) -> None:
        """Set what `<<` brings. Of a list the first mapping wins.

        go-yaml v2 goes from top to bottom: keys below `<<` replace merged ones, and merged ones
        replace the keys above.
        """
        sources = value if isinstance(value, list) else [value]
        for source in reversed(sources):
            if not isinstance(source, dict):
                raise self._error(event, "<< takes a mapping or a list of mappings")
            self.container.update(source)
            self.merged.update(source)

    def _tagged(self, event: Any) -> Any:
        try:
            return tagged_value(event.tag, event.value)
        except ValueError as error:
            raise self._error(event, str(error)) from error

    def _error(self, event: Any, detail: str) -> SourceError:
        return _not_yaml(self.file, event.start_mark.line + 1, event.start_mark.column + 1, detail)


def _is_merge(event: Any) -> bool:
    """Whether a key is `<<` itself: quoted or through an alias it is a text like any other."""
    if type(event) is not ScalarEvent:
        return False
    return bool(event.implicit[0]) if event.tag is None else event.tag == _MERGE_TAG


def _not_yaml(file: str, line: int, column: int, detail: str) -> SourceError:
    return SourceError(
        f"{file} is not valid YAML", file=file, line=line, column=column, detail=detail
    )


def _too_deep(file: str, line: int, column: int | None) -> SourceError:
    return SourceError(
        f"{file} is nested too deeply",
        file=file,
        line=line,
        column=column,
        detail=f"more than {MAX_DEPTH} levels of lists and mappings",
    )


def _syntax_error(data: bytes, file: str, error: MarkedYAMLError) -> SourceError:
    """The error of libyaml at its place; a tab in the indentation gets its own words."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return SourceError(f"{file} is not valid YAML", file=file, detail=str(error.problem))
    lines = data.splitlines()
    text = lines[mark.line] if mark.line < len(lines) else b""
    indentation = text[: len(text) - len(text.lstrip(b" \t"))]
    if b"\t" in indentation and mark.column <= len(indentation):
        return _not_yaml(file, mark.line + 1, indentation.index(b"\t") + 1, _TAB)
    detail = ", ".join(part for part in (error.context, error.problem) if part)
    return _not_yaml(file, mark.line + 1, mark.column + 1, detail)
