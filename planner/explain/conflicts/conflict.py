"""Minimal conflicts of one pod: sets of rules that leave no node, none of which can be spared.

Each node is refused by some set of rules. A set of rules leaves no node exactly if it meets every
node's set, so the minimal conflicts are the minimal hitting sets of those sets. They are found node
set by node set (Berge's algorithm), on bit masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.rules.rule import Rule

MOST_SETS = 2000
"""Partial hitting sets that are kept; with more, only some minimal conflicts are found."""
SHOWN = 8


@dataclass(frozen=True)
class Conflicts:
    """Minimal conflicts, the best first; `complete` says whether these are all."""

    sets: tuple[tuple[Rule, ...], ...]
    complete: bool


def blocked_by(rules: Sequence[Rule], nodes: int) -> IntArray:
    """For each node the rules that refuse it, as bits in the order of the rules."""
    masks = np.zeros(nodes, np.int64)
    for bit, rule in enumerate(rules):
        masks |= rule.blocked.astype(np.int64) << bit
    return masks


def minimal_conflicts(rules: Sequence[Rule], nodes: int) -> Conflicts:
    """Fewest rules first, then those that the user can change, then the order of the rules."""
    masks, complete = minimal_hitting_sets(set(blocked_by(rules, nodes).tolist()))
    found = [tuple(rule for bit, rule in enumerate(rules) if mask >> bit & 1) for mask in masks]
    found.sort(key=lambda each: (len(each), sum(r.changeable for r in each), _order(each, rules)))
    return Conflicts(tuple(found[:SHOWN]), complete and len(found) <= SHOWN)


def lasting_conflict(rules: Sequence[Rule], best: Sequence[Rule], nodes: int) -> tuple[Rule, ...]:
    """Rules that refuse every node whatever runs where; the best conflict itself, if it does.

    Room may be short everywhere now, while on some nodes an eviction would free it and only
    another rule keeps the pod out: then that rule belongs to the reason, too.
    """
    if _hopeless(best, nodes).all() or not _hopeless(rules, nodes).all():
        return tuple(best)
    lasting = [replace(rule, blocked=rule.hopeless) for rule in rules]
    chosen = minimal_conflicts(lasting, nodes).sets[0]
    return tuple(rule for rule, always in zip(rules, lasting, strict=True) if always in chosen)


def _hopeless(rules: Sequence[Rule], nodes: int) -> BoolArray:
    refused = np.zeros(nodes, np.bool_)
    for rule in rules:
        refused |= rule.hopeless
    return refused


def _order(conflict: Sequence[Rule], rules: Sequence[Rule]) -> list[int]:
    return [rules.index(rule) for rule in conflict]


def minimal_hitting_sets(sets: Iterable[int]) -> tuple[list[int], bool]:
    """All minimal masks that share a bit with every set; none if a set is empty.

    The second value says whether they are all: partial sets beyond MOST_SETS are dropped.
    """
    wanted = _minimal(set(sets))
    if not wanted or 0 in wanted:
        return [], True
    hitting, complete = {0}, True
    for each in sorted(wanted, key=lambda mask: (mask.bit_count(), mask)):
        bits = [1 << i for i in range(each.bit_length()) if each >> i & 1]
        grown = {h | bit for h in hitting if not h & each for bit in bits}
        hitting = _minimal({h for h in hitting if h & each} | grown)
        if len(hitting) > MOST_SETS:
            kept = sorted(hitting, key=lambda mask: (mask.bit_count(), mask))[:MOST_SETS]
            hitting, complete = set(kept), False
    return sorted(hitting, key=lambda mask: (mask.bit_count(), mask)), complete


def _minimal(masks: set[int]) -> set[int]:
    """Those that contain no other one."""
    kept: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(other & mask == other for other in kept):
            kept.append(mask)
    return set(kept)
