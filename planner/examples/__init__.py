"""Clusters that ship with the package, so that everything works right after installation.

All but the grid are dumps of a real API server, as `kubectl get -o json` prints them; the grid is
the layout of kubernetes issue 128832, written by hand. Nothing is imported that takes time: the
names are also what the shell completes.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parent / "data"

_DESCRIPTIONS = {
    "docs-one-constraint": "documentation: spread over zones",
    "docs-two-constraints": "documentation: spread over zones and nodes",
    "docs-conflicting-constraints": "documentation: two constraints, no node left",
    "docs-missing-zone-label": "documentation: nodes without the zone label",
    "docs-node-affinity": "documentation: node affinity excludes a zone",
    "zone-outage": "a lost zone came back empty: 5 workloads uneven",
    "zone-outage-before": "the same before: steady over three zones",
    "zone-outage-lost": "the same in between: two zones carry all pods",
    "zone-outage-scaled": "the same afterwards, scaled up: more pods",
    "rack-row-grid": "3 racks x 3 rows: kube-scheduler is stuck",
}


_FLEETS = {
    "fleet-groups": "Fleet's documentation: clusters in two groups",
    "fleet-walkthrough": "Fleet's documentation: two clusters by rounds",
    "fleet-two-constraints": "Fleet's documentation: two constraints",
    "fleet-deadlock": "two regions joined later: Fleet is stuck",
}


class Example(NamedTuple):
    """A packaged cluster or fleet."""

    name: str
    description: str


class UnknownExampleError(LookupError):
    """No packaged cluster or fleet has this name; `close` are names that look like it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no example {name}")
        self.name = name
        self.close = tuple(get_close_matches(name, _DESCRIPTIONS | _FLEETS, n=1))


def examples() -> list[Example]:
    """Every packaged cluster, the documentation's first."""
    return [Example(name, description) for name, description in _DESCRIPTIONS.items()]


def fleets() -> list[Example]:
    """Every packaged fleet: member clusters and a placement, for `planner fleet`."""
    return [Example(name, description) for name, description in _FLEETS.items()]


def example_path(name: str) -> Path:
    """The file of a packaged cluster or fleet."""
    if name not in _DESCRIPTIONS | _FLEETS:
        raise UnknownExampleError(name)
    return _DATA / f"{name}.json"
