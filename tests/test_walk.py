"""The walk of a run through the packages, as docs/contributing/architecture.md tells it.

Every call of a run is traced. A package that is left for another one is not entered again before
that one has returned: whoever reads a call downwards never has to look up again. The only calls
upwards are reports of progress.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import planner
from planner.cli.app import main

ROOT = Path(planner.__file__).parent
PAGE = Path(__file__).resolve().parents[1] / "docs" / "contributing" / "architecture.md"
FACADE = {"__init__", "api", "cli"}
PROGRESS = {"ProgressLine.__call__"}
"""Calls upwards that are meant: the search tells whoever waits how far it is."""


@dataclass
class Walk:
    """What a trace has seen: packages that the façade called, and packages entered again."""

    stages: list[str] = field(default_factory=list)
    again: set[tuple[str, ...]] = field(default_factory=set)
    """Packages from the outside in, and the function that was called at last."""

    def trace(self, frame: FrameType, event: str, _: Any) -> None:
        """For sys.setprofile."""
        if event != "call" or package(frame) is None:
            return
        way = list(packages(frame))
        inner, outer = way[0], way[1:]
        if inner in outer:
            self.again.add((*reversed(way), frame.f_code.co_qualname))
        if outer and outer[0] in FACADE and inner not in FACADE and self.stages[-1:] != [inner]:
            self.stages.append(inner)


def package(frame: FrameType) -> str | None:
    """The package below planner/ that the function belongs to."""
    return package_of(frame.f_code.co_filename)


@cache
def package_of(file: str) -> str | None:
    path = Path(file)
    return (
        path.relative_to(ROOT).parts[0].removesuffix(".py") if path.is_relative_to(ROOT) else None
    )


def packages(frame: FrameType) -> Iterator[str]:
    """The packages on the stack from the inside out, each as often as it was entered.

    Workers carry out what they are given: whoever asks them calls itself.
    """
    last = None
    caller: FrameType | None = frame
    while caller is not None:
        here = package(caller)
        if here not in (None, "workers", last):
            yield str(here)
            last = here
        caller = caller.f_back


def walked(*arguments: str) -> Walk:
    """The second run of a command: the first one imports what it needs."""
    main(arguments)
    walk = Walk()
    sys.setprofile(walk.trace)
    try:
        main(arguments)
    finally:
        sys.setprofile(None)
    return walk


@pytest.fixture(scope="module")
def solving() -> Walk:
    return walked("solve", "--example", "zone-outage", "--rebalance")


def test_solve_enters_no_package_again_that_it_has_left(solving: Walk) -> None:
    assert solving.again == set()


def test_solve_calls_one_stage_after_the_other_as_the_page_says(solving: Walk) -> None:
    told = re.findall(r"^\d+\. `(\w+)/`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(set(told)) == len(told)
    assert solving.stages == told


def test_progress_is_the_only_call_upwards() -> None:
    walk = walked("evict", "--example", "zone-outage", "--seeds", "2")
    assert {way[-1] for way in walk.again} == PROGRESS
