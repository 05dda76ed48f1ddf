"""From a refused value to one clear line: file, object, field and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from planner.sources.errors import SourceError
from planner_models.base import FieldError

_QUANTITY_HELP = "a number with an optional suffix, such as 500m, 0.5, 2 or 1Gi"
_AT = re.compile(r"^(?P<what>.*) - at `\$(?P<path>.*)`$", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<want>.*)`, got `(?P<got>.*)`")
_TYPES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_WORDS = {
    "int_type": "a whole number is expected",
    "int_parsing": "a whole number is expected",
    "int_from_float": "a whole number is expected",
    "bool_type": "true or false is expected",
    "bool_parsing": "true or false is expected",
    "string_type": "a string is expected",
    "dict_type": "an object is expected",
    "model_type": "an object is expected",
    "model_attributes_type": "an object is expected",
    "tuple_type": "a list is expected",
    "missing": "the field is required",
}


_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_KEY = "[key]"
"""How pydantic marks that a mapping's key, not its value, was refused."""


def field_path(parts: Iterable[str | int]) -> str:
    """`("spec", "containers", 0, "name")` as `spec.containers[0].name`."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", part) or not path:
            path += f".{part}" if path else part
        else:
            path += f"[{short(part)}]"
    return path


def from_pydantic(error: ValidationError, file: str, object_name: str) -> SourceError:
    """The first thing a model refused; the others are most often its consequences."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    field = field_path(part for part in first["loc"] if part != _KEY)
    message = str(cause) if isinstance(cause, Exception) else _words(first)
    if isinstance(cause, FieldError):
        field = f"{field}.{cause.field}" if field else cause.field
    return SourceError(
        short(message, 200),
        file=file,
        object=object_name,
        field=field or None,
        help=_QUANTITY_HELP if message.endswith("is not a quantity") else None,
    )


def from_decoder(error: Exception, file: str, object_name: str) -> SourceError:
    """What was refused in a part that is read without a model."""
    if isinstance(error, UnicodeDecodeError):
        return SourceError("a text in it is not UTF-8", file=file, object=object_name)
    found = _AT.match(str(error))
    what, path = (found["what"], found["path"]) if found else (str(error), "")
    return SourceError(
        short(_plain(what), 200),
        file=file,
        object=object_name,
        field=path.removeprefix(".").replace("[...]", "[]") or None,
    )


def _words(refused: ErrorDetails) -> str:
    kind, context = refused["type"], refused.get("ctx", {})
    if kind == "missing":
        return _WORDS[kind]
    if kind == "json_invalid":
        reason = re.sub(r" at line \d+ column \d+$", "", str(context.get("error", "")))
        return f"it can't be read as JSON: {reason}"
    if kind == "literal_error":
        what = f"{context['expected']} is expected".replace("'", "")
    elif kind in _BOUNDS:
        bound, relation = _BOUNDS[kind]
        what = f"it must be {relation} {context[bound]}"
    else:
        what = _WORDS.get(kind, refused["msg"].replace("Input should be", "it must be"))
    return f"{_shown(refused['input'])}: {what}"


def _plain(text: str) -> str:
    """The words of msgspec in ours: `a string is expected, not a whole number`."""
    found = _EXPECTED.fullmatch(text)
    if found is None:
        return text.replace("`", '"')
    wanted, got = (_TYPES.get(found[part].split(" | ")[0], found[part]) for part in ("want", "got"))
    return f"{wanted} is expected, not {got}"


def _shown(value: object) -> str:
    """A refused value as JSON writes it, where it is short enough to be recognised."""
    try:
        text = msgspec.json.encode(value).decode()
    except (ValueError, TypeError, RecursionError, OverflowError):
        text = str(type(value).__name__)
    return short(text)


def short(text: str, length: int = 60) -> str:
    """The text, or its beginning where it is too long to be read; always printable as UTF-8."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= length else text[: length - 3] + "..."
