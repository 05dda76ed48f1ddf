"""Findings as workflow commands of GitHub Actions: annotations beside the changed lines.

GitHub shows at most ten annotations of a level per step, so no more are written; the whole result
belongs into the step summary. Every line that is written begins with words of our own: a line that
begins with `::` would be a command, and nothing from the input may give one.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.report.ci.findings import Finding
from planner.report.markdown.render import Fold, Part
from planner.report.text.blocks import UNSEEN, Paragraph, Table
from planner.sources.locations import Locations
from planner.words import count_of

MOST = 10
LISTED = 1000
"""A step summary holds a megabyte."""


def commands(findings: Sequence[Finding], locations: Locations) -> list[str]:
    """One command per finding, the first ten."""
    return [_command(finding, locations) for finding in findings[:MOST]]


def github_text(findings: Sequence[Finding], locations: Locations, *, summary: bool) -> str:
    """The commands, and a line that says how many findings there are and where the others went."""
    lines = commands(findings, locations)
    hidden = len(findings) - len(lines)
    said = f"planner: {count_of(len(findings), 'finding')}"
    if hidden:
        where = "the step summary has all" if summary else "-o json has all"
        said += f", {hidden} more than GitHub shows; {where}"
    return "".join(f"{line}\n" for line in (*lines, f"{said}."))


def summary_parts(findings: Sequence[Finding], locations: Locations) -> list[Part]:
    """Every finding with its place, for the step summary."""
    rows = []
    for finding in findings[:LISTED]:
        spot = finding.spots[0] if finding.spots else None
        place = None if spot is None else spot.location(locations)
        file = "" if place is None else f"{place.file}:{place.line}"
        rows.append((finding.level, finding.title, "" if spot is None else str(spot), file))
    if not rows:
        return []
    table = Table(("level", "finding", "object", "file"), tuple(rows))
    hidden = len(findings) - len(rows)
    more = [Paragraph(f"and {count_of(hidden, 'more finding')}")] if hidden else []
    return [Fold(count_of(len(findings), "finding"), (table, *more))]


def _command(finding: Finding, locations: Locations) -> str:
    place = finding.spots[0].location(locations) if finding.spots else None
    properties = {"title": finding.title}
    if place is not None:
        properties = {
            "file": place.file,
            "line": str(place.line),
            "col": str(place.column),
            **properties,
        }
    named = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    told = finding.text.removeprefix(finding.title).lstrip(".\n ").rstrip("\n") or finding.title
    behind = "\n" if "\n" in told else ": "
    where = "" if place or not finding.spots else f"{finding.spots[0]}{behind}"
    level = "notice" if finding.level == "note" else finding.level
    return f"::{level} {named}::{_data(where + told)}"


def _data(text: str) -> str:
    """As the runner unescapes it; the percent sign first, or it would be escaped twice.

    What its log would obey is shown as unknown characters.
    """
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return UNSEEN.sub("\ufffd", escaped.replace("\t", " "))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
