"""Label selectors as kubectl takes them: `app=web,tier in (a, b),!canary`."""

from __future__ import annotations

import re

from planner.errors import UsageError
from planner_models.selectors import LabelOperator, LabelSelector, LabelSelectorRequirement

_SET = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s=!]+)\s*(?P<operator>==|=|!=)\s*(?P<value>[^\s=!]*)")
_EXISTS = re.compile(r"(?P<not>!?)\s*(?P<key>[^\s=!()]+)")
_COMMA = re.compile(r",(?![^()]*\))")
"""A comma outside of brackets."""


def label_selector(argument: str, given: str | LabelSelector | None) -> LabelSelector | None:
    """The selector that an argument was given; what kubectl would refuse is a usage error."""
    if not isinstance(given, str):
        return given
    try:
        requirements = tuple(_requirement(part.strip()) for part in _COMMA.split(given))
    except ValueError as error:
        raise UsageError(
            f"`{argument}` {given!r} is not a label selector: {_first_line(error)}",
            help=f"as kubectl writes them, such as `{argument}=app=web` or "
            f"`{argument}='tier in (a,b)'`",
        ) from error
    return LabelSelector(match_expressions=requirements)


def _requirement(text: str) -> LabelSelectorRequirement:
    if not text:
        raise ValueError("a requirement is empty")
    found = _SET.fullmatch(text)
    if found:
        operator: LabelOperator = "In" if found["operator"] == "in" else "NotIn"
        values = tuple(value.strip() for value in found["values"].split(","))
        return LabelSelectorRequirement(key=found["key"], operator=operator, values=values)
    found = _EQUAL.fullmatch(text)
    if found:
        operator = "NotIn" if found["operator"] == "!=" else "In"
        return LabelSelectorRequirement(
            key=found["key"], operator=operator, values=(found["value"],)
        )
    found = _EXISTS.fullmatch(text)
    if found:
        operator = "DoesNotExist" if found["not"] else "Exists"
        return LabelSelectorRequirement(key=found["key"], operator=operator)
    raise ValueError(f'"{text}" has the form of no requirement')


def _first_line(error: ValueError) -> str:
    """Pydantic says where and of what type; the message alone is what a user needs."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return str(error)
