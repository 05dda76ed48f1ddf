"""The answer first: a map that can't show every pod is no answer by itself."""

from __future__ import annotations

from collections.abc import Iterable

from planner.report.html.map_view import ClusterMap
from planner.report.html.view import Section, SpreadSection, TextSection


def in_order(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Small clusters as they are drawn; of large ones what to do, the counts, and then the map."""
    drawn = tuple(sections)
    large = any(isinstance(each, ClusterMap) and each.dense for each in drawn)
    return tuple(sorted(drawn, key=_rank)) if large else drawn


def _rank(section: Section) -> int:
    match section:
        case SpreadSection():
            return 1
        case ClusterMap():
            return 2
        case TextSection():
            return 3
        case _:
            return 0
