"""Objects rendered once and filled many times.

A pod differs from its siblings in a dozen strings only. Its workload's JSON is laid out once with
marks in those places; a pod is then a join of pieces instead of a whole serialisation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MARK = re.compile("\ue000([a-z_]+)\ue001")
"""Private-use characters: JSON leaves them alone, even inside a string inside a key."""

ITEM_INDENT = " " * 8


def mark(field: str) -> str:
    """A place in a string to be filled for each object."""
    return f"\ue000{field}\ue001"


def layout(value: Any, *, compact: bool = False) -> str:
    """Text of one item of a List, keys sorted: as kubectl indents it, or as the API sends it."""
    if compact:
        return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    text = json.dumps(value, indent=4, sort_keys=True, ensure_ascii=False)
    return ITEM_INDENT + text.replace("\n", "\n" + ITEM_INDENT)


class Template:
    """The fixed pieces of an object's text and the names of the fields between them."""

    def __init__(self, value: Any, *, compact: bool = False) -> None:
        self._pieces = MARK.split(layout(value, compact=compact))
        self._fields = self._pieces[1::2]

    def fill(self, values: Mapping[str, str]) -> str:
        """The object's text; values are plain strings that need no escape in JSON."""
        pieces = self._pieces.copy()
        pieces[1::2] = [values[field] for field in self._fields]
        return "".join(pieces)
