"""Label keys that look like another one: `zone-typo`, `topolgy.kubernetes.io/zone`, `Zone`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from planner.words import short_key

ALIKE = 0.8
"""How much of two keys has to agree."""


def looks_like(key: str, wanted: str) -> bool:
    """Whether somebody who wrote `key` may have meant `wanted`."""
    if key == wanted:
        return False
    mine, other = key.lower(), wanted.lower()
    if mine == other or short_key(mine) == short_key(other):
        return True
    if _extends(short_key(mine), short_key(other)):
        return True
    return SequenceMatcher(None, mine, other).ratio() >= ALIKE


def _extends(one: str, other: str) -> bool:
    """`zone-typo` for `zone`, `az_zone` for `zone`: the same word with something attached."""
    return len(other) > 2 and any(other in one.split(sign) for sign in "-_.")


def lookalike(keys: Iterable[str], wanted: str, usual: Iterable[str] = ()) -> str | None:
    """The key most like the wanted one; keys that other nodes have beside it are no typos."""
    known = frozenset(usual)
    found = [key for key in keys if key not in known and looks_like(key, wanted)]
    return max(
        found, key=lambda key: (SequenceMatcher(None, key, wanted).ratio(), key), default=None
    )
