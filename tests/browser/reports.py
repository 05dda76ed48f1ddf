"""The reports that the browser opens, written by the command line as a user would."""

from __future__ import annotations

from pathlib import Path

from planner.cli import app

ROOT = Path(__file__).resolve().parent.parent.parent
SHOP = str(ROOT / "tests" / "data" / "shop.yaml")

REPORTS = {
    "solve": ["solve", "--example", "zone-outage", "--rebalance"],
    "relax": ["solve", "-f", SHOP, "--relax"],
    "explain": ["explain", "--example", "docs-conflicting-constraints", "pod/mypod"],
    "stuck": ["explain", "--example", "rack-row-grid", "deploy/store"],
    "pending": ["explain", "-f", SHOP, "--all-pending"],
    "evict": ["evict", "--example", "zone-outage"],
    "simulate": ["simulate", "-f", SHOP],
    "fleet": ["fleet", "--example", "fleet-walkthrough"],
    "deadlock": ["fleet", "--example", "fleet-deadlock"],
}


def write_reports(folder: Path) -> dict[str, Path]:
    """Every report by its name."""
    found = {}
    for name, arguments in REPORTS.items():
        found[name] = folder / f"{name}.html"
        code = app.main([*arguments, "--report", str(found[name]), "-o", "name"])
        assert code in (0, 3), f"{' '.join(arguments)} ends with {code}"
    return found
