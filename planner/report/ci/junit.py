"""Checks as a JUnit report, which every continuous integration reads.

A finding that leaves the exit code at 0 is told in the output of a case that passes. There are no
times in it: the same input gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from planner.report.ci.findings import Check
from planner.sources.locations import Locations

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold, not even escaped."""


def junit_text(name: str, checks: Sequence[Check], locations: Locations) -> str:
    """One suite per group of checks (a namespace or a placement)."""
    root = ET.Element("testsuites", _counts(name, checks))
    for group, members in groupby(sorted(checks, key=lambda c: c.group), key=lambda c: c.group):
        cases = list(members)
        suite = ET.SubElement(root, "testsuite", _counts(group or name, cases))
        for check in cases:
            _case(suite, name, check, locations)
    ET.indent(root)
    # ASCII with references: whatever encoding the stream has, the header tells the truth.
    body = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _counts(name: str, checks: Sequence[Check]) -> dict[str, str]:
    return {
        "name": _clean(name),
        "tests": str(len(checks)),
        "failures": str(sum(any(each.fails for each in check.findings) for check in checks)),
        "errors": "0",
        "skipped": str(sum(bool(check.skipped) for check in checks)),
    }


def _case(suite: ET.Element, name: str, check: Check, locations: Locations) -> None:
    classname = f"{name}.{check.group}" if check.group else name
    case = ET.SubElement(
        suite, "testcase", {"classname": _clean(classname), "name": _clean(check.name)}
    )
    if check.skipped:
        ET.SubElement(case, "skipped", {"message": _clean(check.skipped)})
    for finding in check.findings:
        places = [spot.location(locations) for spot in finding.spots]
        where = [
            str(spot) if place is None else f"{spot} ({place.file}:{place.line})"
            for spot, place in zip(finding.spots, places, strict=True)
        ]
        if places and places[0] is not None:
            case.attrib.setdefault("file", _clean(places[0].file))
            case.attrib.setdefault("line", str(places[0].line))
        attributes = {"message": _clean(finding.title), "type": finding.rule}
        tag, told = ("failure", attributes) if finding.fails else ("system-out", {})
        ET.SubElement(case, tag, told).text = _clean("\n".join((*where, finding.text.rstrip())))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("", text)
