"""`Sweep`: one command over many clusters, or one cluster under many changes and failures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner_models.base import Document


class SweepRow(Document):
    """One cluster, and how the command ended."""

    cluster: str
    """The file, folder or context."""
    exit_code: int
    headline: str = ""
    """The document in a few words; the error if there is none."""
    numbers: dict[str, int] = Field(default_factory=dict)
    """Nodes, pods, pods that wait, and the whole numbers of the document itself."""
    content: str = ""
    """A hash of what was read, of the command and of planner's version; of files only."""
    document: str | None = None
    """Where the document is, in the folder of all of them."""
    report: str | None = None


class SweepCell(Document):
    """One growth and one failure: the most pods that do not run, and the fewest, over all seeds."""

    growth: str
    failure: str
    waiting: int
    at_least: int


class Sweep(Document):
    """The result of `planner sweep`."""

    api_version: Literal["planner/v1"] = "planner/v1"
    kind: Literal["Sweep"] = "Sweep"
    command: tuple[str, ...] = ()
    """What was asked of every cluster."""
    rows: tuple[SweepRow, ...] = ()
    """Worst first."""
    not_run: int = 0
    """Clusters or cells that Ctrl-C left over."""
    growth: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    cells: tuple[SweepCell, ...] = ()
    """Of a grid, growth by growth."""
    failed: tuple[str, ...] = ()
    """Cells of a grid without an answer, because they end the process that works on them."""
    seeds: int = 0
    stopped: Literal["interrupted"] | None = None
