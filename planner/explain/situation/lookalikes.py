"""Label keys that look like another one: `zone-typo`, `topolgy.kubernetes.io/zone`, `Zone`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from planner.words import short_key
from planner_models.node import HOSTNAME, REGION, ZONE, Node

ALIKE = 0.8
"""How much of two keys has to agree."""
WELL_KNOWN = frozenset((HOSTNAME, ZONE, REGION))
"""Topology keys that nobody misspelt: nodes that lack them are what is wrong."""


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


def lookalikes(keys: Iterable[str], wanted: str) -> list[str]:
    """All that are as much like the wanted one as the best of them."""
    alike = {key: _agreement(key, wanted) for key in keys if looks_like(key, wanted)}
    best = max(alike.values(), default=0.0)
    return sorted(key for key, agreement in alike.items() if agreement == best)


def meant_key(nodes: Iterable[Node], key: str) -> str | None:
    """The label key that a mistyped topologyKey was meant to be: no node has it, but one alike."""
    if key in WELL_KNOWN:
        return None
    used = {each for node in nodes for each in node.labels}
    if key in used:
        return None
    found = [each for each in used if _same_word(short_key(each), short_key(key))]
    return max(
        found,
        key=lambda each: (
            _agreement(short_key(each), short_key(key)),
            each in WELL_KNOWN,
            _agreement(each, key),
            each,
        ),
        default=None,
    )


def _same_word(one: str, other: str) -> bool:
    """`zones` and `zone`, `host-name` and `hostname`."""
    return _extends(other, one) or _agreement(one, other) >= ALIKE


def _agreement(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
