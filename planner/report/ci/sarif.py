"""Findings as SARIF 2.1.0, for code scanning and editors.

A result stands at the field's place in the manifest. Where that is not known (stdin, packaged
examples, a dump that was piped in) it has the object's logical location alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from planner.report.ci.findings import Finding, Spot
from planner.report.ci.rules import rule_help
from planner.sources.locations import Locations
from planner.version import __version__

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

Json = dict[str, Any]


def sarif_text(name: str, findings: Sequence[Finding], locations: Locations) -> str:
    """One run; `name` is the command, which keeps results of several commands apart."""
    rules = sorted({finding.rule for finding in findings})
    run = {
        "tool": {
            "driver": {
                "name": "planner",
                "version": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "automationDetails": {"id": f"{name}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule), locations) for finding in findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rule(rule: str) -> Json:
    found = rule_help(rule)
    return {
        "id": rule,
        "shortDescription": {"text": found.short},
        "fullDescription": {"text": found.short},
        "help": {"text": found.help, "markdown": found.help},
    }


def _result(finding: Finding, index: int, locations: Locations) -> Json:
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level,
        "message": {"text": _message(finding)},
    }
    places = [_location(spot, locations) for spot in finding.spots]
    if places:
        result["locations"] = places[:1]
    if len(places) > 1:
        result["relatedLocations"] = [
            {"id": number, **place} for number, place in enumerate(places[1:], start=1)
        ]
    return result


def _message(finding: Finding) -> str:
    """Title first: viewers show the first sentence only."""
    text = finding.text.strip()
    whole = text if text.startswith(finding.title) else f"{finding.title}\n{text}"
    return _plain(whole.strip())


def _plain(text: str) -> str:
    """SARIF's plain text knows embedded links, `[text](target)`, and placeholders, `{0}`."""
    return text.replace("](", "] (").replace("{", "{{").replace("}", "}}")


def _location(spot: Spot, locations: Locations) -> Json:
    found: Json = {}
    place = spot.location(locations)
    if place is not None:
        region = {"startLine": place.line, "startColumn": place.column}
        artifact = {"uri": _uri(place.file)}
        found["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    logical = {"name": spot.object.name, "fullyQualifiedName": str(spot), "kind": "resource"}
    return {**found, "logicalLocations": [logical]}


def _uri(file: str) -> str:
    """Relative to the repository, or a file URI."""
    return Path(file).as_uri() if Path(file).is_absolute() else quote(file)
