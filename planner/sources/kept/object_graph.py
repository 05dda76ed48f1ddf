"""Objects of the models as plain values, and back: what is one object stays one object.

Every object is a row: its fields, and which shape it has. Rows refer to earlier rows by number. A
shape names a class of `planner_models` or one of few others, and which of its fields are such
numbers. Reading validates nothing again, which is what makes it fast: whoever reads has to know
that the rows are those that were written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import msgspec
from pydantic import BaseModel

from planner.sources.errors import SourceError
from planner.sources.origin import SnapshotOrigin
from planner_models.pod import ContainerState

Row: TypeAlias = list[Any]
Make: TypeAlias = Callable[[Row, list[Any]], Any]

_STRUCTS: dict[str, type[msgspec.Struct]] = {
    each.__name__: each for each in (ContainerState, SnapshotOrigin)
}
_PLACE = re.compile(r"(planner_models\.[a-z_.]+):([A-Za-z]+)", re.ASCII)
_LEAST, _MOST = -(2**63), 2**64
"""Whole numbers that the format can hold; memory in nano-units goes beyond."""
_set = object.__setattr__


class NotKeptError(Exception):
    """A value that can't be written, or rows that can't be read by this planner."""


class Shape(msgspec.Struct, frozen=True, array_like=True):
    """What the rows of a shape are; `fields` and `given` are for objects alone."""

    kind: str
    place: str = ""
    fields: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    """The fields that the input set: some defaults depend on that."""
    references: tuple[int, ...] = ()
    """Which values of a row are numbers of other rows."""


class Graph(msgspec.Struct, array_like=True):
    """Rows in an order in which each refers to earlier ones."""

    shapes: list[Shape]
    rows: list[Row]


class GraphWriter:
    """Collects objects, each once."""

    def __init__(self) -> None:
        self.graph = Graph([], [])
        self._shapes: dict[Shape, int] = {}
        self._by_identity: dict[int, int] = {}
        self._plain: dict[tuple[type, Any], int] = {}
        self._alive: list[Any] = []
        """An identity means something for as long as its object is there."""

    def number(self, value: Any) -> int:
        """The number of the row of a value."""
        if _is_plain(value) or isinstance(value, int):
            key = (type(value), value)
            if key not in self._plain:
                row = ["value", value] if _is_plain(value) else ["large", str(value)]
                self._plain[key] = self._add(Shape(str(row[0])), [row[1]])
            return self._plain[key]
        found = self._by_identity.get(id(value))
        if found is None:
            found = self._by_identity[id(value)] = self._object(value)
            self._alive.append(value)
        return found

    def _object(self, value: Any) -> int:
        kind = type(value)
        if kind is tuple:
            return self._add(Shape("tuple"), [self.number(each) for each in value])
        if kind is dict:
            return self._dict(value)
        if isinstance(value, BaseModel):
            names = tuple(kind.__pydantic_fields__)
            given = tuple(name for name in names if name in value.__pydantic_fields_set__)
            place = f"{kind.__module__}:{kind.__qualname__}"
            if not _PLACE.fullmatch(place):
                raise NotKeptError(place)
            own = value.__dict__
            return self._fields("model", place, names, given, [own[name] for name in names])
        if _STRUCTS.get(kind.__name__) is kind:
            names = kind.__struct_fields__
            told = [getattr(value, name) for name in names]
            return self._fields("struct", kind.__name__, names, (), told)
        if kind is SourceError:
            told = [getattr(value, name) for name in _ERROR]
            return self._fields("error", "", _ERROR, (), told)
        raise NotKeptError(kind.__name__)

    def _dict(self, value: dict[Any, Any]) -> int:
        if not all(isinstance(key, str) for key in value):
            raise NotKeptError("keys that are no words")
        if all(map(_is_plain, value.values())):
            return self._add(Shape("words"), [value])
        return self._add(Shape("dict"), [list(value), [self.number(v) for v in value.values()]])

    def _fields(
        self,
        kind: str,
        place: str,
        names: tuple[str, ...],
        given: tuple[str, ...],
        values: list[Any],
    ) -> int:
        references = tuple(i for i, value in enumerate(values) if not _is_plain(value))
        for i in references:
            values[i] = self.number(values[i])
        return self._add(Shape(kind, place, names, given, references), values)

    def _add(self, shape: Shape, row: Row) -> int:
        if shape not in self._shapes:
            self._shapes[shape] = len(self._shapes)
            self.graph.shapes.append(shape)
        row.append(self._shapes[shape])
        self.graph.rows.append(row)
        return len(self.graph.rows) - 1


_ERROR = ("message", "file", "object", "field", "line", "column", "detail", "help")


def _is_plain(value: Any) -> bool:
    """What the format holds by itself."""
    if type(value) is int:
        return bool(_LEAST <= value < _MOST)
    return type(value) in (str, bool, float) or value is None


def objects_of(graph: Graph) -> list[Any]:
    """The object of every row."""
    makers = [_maker(shape) for shape in graph.shapes]
    objects: list[Any] = []
    for row in graph.rows:
        objects.append(makers[row.pop()](row, objects))
    return objects


def _maker(shape: Shape) -> Make:
    """How a row of this shape becomes an object."""
    if shape.kind == "model":
        return _model_maker(shape)
    if shape.kind == "struct":
        return _struct_maker(_STRUCTS[shape.place], shape)
    if shape.kind == "error":
        return lambda row, objects: SourceError(*_resolved(row, shape.references, objects))
    return _BUILTIN[shape.kind]


def _resolved(row: Row, references: Iterable[int], objects: Sequence[Any]) -> Row:
    for i in references:
        row[i] = objects[row[i]]
    return row


_BUILTIN: dict[str, Make] = {
    "value": lambda row, _: row[0],
    "large": lambda row, _: int(row[0]),
    "words": lambda row, _: row[0],
    "tuple": lambda row, objects: tuple([objects[i] for i in row]),
    "dict": lambda row, objects: dict(zip(row[0], [objects[i] for i in row[1]], strict=True)),
}


def _model_maker(shape: Shape) -> Make:
    """As `KubeModel.replace` makes copies: the values are known to be valid."""
    kind = _class_at(shape.place)
    names, references = shape.fields, shape.references
    if names != tuple(kind.__pydantic_fields__):
        raise NotKeptError(f"{shape.place} has other fields now")
    given = set(shape.given)
    new = kind.__new__

    def make(row: Row, objects: list[Any]) -> Any:
        for i in references:
            row[i] = objects[row[i]]
        made = new(kind)
        _set(made, "__dict__", dict(zip(names, row, strict=True)))
        _set(made, "__pydantic_fields_set__", given)
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made

    return make


def _struct_maker(kind: type[msgspec.Struct], shape: Shape) -> Make:
    if shape.fields != kind.__struct_fields__:
        raise NotKeptError(f"{shape.place} has other fields now")
    return lambda row, objects: kind(*_resolved(row, shape.references, objects))


def _class_at(place: str) -> type[BaseModel]:
    """A class of the models, which are values: nothing else is ever imported or called."""
    found = _PLACE.fullmatch(place)
    kind = getattr(import_module(found[1]), found[2], None) if found else None
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        raise NotKeptError(f"there is no {place}")
    return kind
