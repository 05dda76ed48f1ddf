"""`python -m tests.conformance`: exit 0 if every recorded decision is ours too, else 1."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.conformance.case import DATA, recordings
from tests.conformance.report import Comparison, details, merge
from tests.conformance.run import run, select, unsupported


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    made.add_argument("paths", nargs="*", type=Path, default=[DATA], metavar="FILE|FOLDER")
    made.add_argument("--family", action="append", default=[], help="only this family (repeatable)")
    made.add_argument("--first", type=int, help="only the first N cases of each file")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    made.add_argument("--details", type=int, default=5, help="differences to show per family")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay, print one line per family and the first differences, and judge."""
    options = parser().parse_args(arguments)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    missing = [path for path in options.paths if not path.exists()]
    if missing:
        console.print(f"no such file or folder: {', '.join(map(str, missing))}")
        return 1
    cases = select(recordings(options.paths), options.family, options.first)
    found = merge(run(cases, max(options.jobs, 1)))
    for each in found:
        reason = unsupported(each.family)
        console.print(f"{each.family}: {each.cases} cases; {reason}" if reason else each.line())
    absent = sorted(set(options.family) - {each.family for each in found})
    for family in absent:
        console.print(f"{family}: {unsupported(family) or 'no recordings'}")
    for each in found:
        if each.differences and not unsupported(each.family):
            console.print(f"\n{each.family}: {len(each.differences)} differences")
            console.print(details(each.differences, options.details))
    console.print(_verdict(found))
    agreed = found and not any(each.differences for each in found)
    return 0 if agreed and not absent else 1


def _verdict(found: Sequence[Comparison]) -> str:
    judged = [each for each in found if unsupported(each.family) is None]
    cases = sum(each.cases for each in judged)
    compared = sum(sum(each.compared.values()) for each in judged)
    differences = sum(len(each.differences) for each in judged)
    left_out = len(found) - len(judged)
    rest = f"; {left_out} families not replayed, which is a failure" if left_out else ""
    return f"\n{cases} cases, {compared} comparisons, {differences} differences{rest}"


if __name__ == "__main__":
    sys.exit(main())
