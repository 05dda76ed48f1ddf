"""Selectors in text form, as `nodeSelector` of a DeschedulerPolicy has them: `pool=a,!spot`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner_models.selectors import NodeOperator, NodeSelectorRequirement

_COMMA = re.compile(r",(?![^()]*\))")
"""A comma outside of brackets."""
_SET = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_COMPARED = re.compile(r"(?P<key>[^\s=!<>]+)\s*(?P<operator>==|=|!=|<|>)\s*(?P<value>[^\s=!<>]*)")
_EXISTS = re.compile(r"(?P<absent>!?)\s*(?P<key>[^\s=!()<>]+)")
_OPERATORS: dict[str, NodeOperator] = {
    "in": "In",
    "notin": "NotIn",
    "=": "In",
    "==": "In",
    "!=": "NotIn",
    ">": "Gt",
    "<": "Lt",
}


def parse_selector(text: str) -> tuple[NodeSelectorRequirement, ...]:
    """The requirements of a selector, all of which must hold; an empty text asks for nothing."""
    parts = _COMMA.split(text) if text.strip() else []
    return tuple(_requirement(part.strip(), text) for part in parts)


def selects(requirements: tuple[NodeSelectorRequirement, ...], labels: Mapping[str, str]) -> bool:
    """Whether an object with these labels is meant."""
    return all(requirement.matches(labels) for requirement in requirements)


def _requirement(part: str, text: str) -> NodeSelectorRequirement:
    found = _SET.fullmatch(part)
    if found:
        values = tuple(value.strip() for value in found["values"].split(","))
        return _made(found["key"], _OPERATORS[found["operator"]], values)
    found = _COMPARED.fullmatch(part)
    if found:
        return _made(found["key"], _OPERATORS[found["operator"]], (found["value"],))
    found = _EXISTS.fullmatch(part)
    if found:
        return _made(found["key"], "DoesNotExist" if found["absent"] else "Exists", ())
    raise ValueError(f'"{text}" is not a label selector such as pool=a,tier in (x,y),!spot')


def _made(key: str, operator: NodeOperator, values: tuple[str, ...]) -> NodeSelectorRequirement:
    made = NodeSelectorRequirement(key=key, operator=operator, values=values)
    if made.unreadable:
        raise ValueError(f'"{values[0]}" in a label selector is not an integer')
    return made
