"""`null` means absent, as for the API server: fields of models that are null are left out.

Only fields: a null inside a map of labels, say, stays and is refused. A validator in every model
would do the same, and cost an eighth of the time of loading a cluster that contains no null at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel


class _Nested(NamedTuple):
    """A model inside a field; `mapped` if the field maps names to it."""

    model: type[BaseModel]
    mapped: bool


def without_nulls(kind: Any, value: Any) -> Any:
    """The value without null fields, as far as `kind` (a model, or a tuple of one) is about it."""
    nested = _nested(kind)
    return value if nested is None else _pruned(nested, value)


def _pruned(nested: _Nested, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_pruned(nested, each) for each in value]
    if not isinstance(value, dict):
        return value
    if nested.mapped:
        inner = nested._replace(mapped=False)
        return {key: _pruned(inner, each) for key, each in value.items()}
    fields = _fields(nested.model)
    return {
        key: _pruned(fields[key], each) if key in fields else each
        for key, each in value.items()
        if each is not None
    }


@lru_cache(maxsize=1024)
def _fields(model: type[BaseModel]) -> dict[str, _Nested]:
    """The fields that hold models, by name and by alias."""
    found: dict[str, _Nested] = {}
    for name, field in model.model_fields.items():
        nested = _nested(field.annotation)
        if nested is not None:
            found[name] = found[field.alias or name] = nested
    return found


def _nested(annotation: Any) -> _Nested | None:
    for kind, mapped in _parts(annotation, mapped=False):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return _Nested(kind, mapped)
    return None


def _parts(annotation: Any, *, mapped: bool) -> Iterator[tuple[Any, bool]]:
    """Every type in an annotation, and whether it stands inside a map."""
    yield annotation, mapped
    inside = mapped or get_origin(annotation) is dict
    for each in get_args(annotation):
        yield from _parts(each, mapped=inside)
