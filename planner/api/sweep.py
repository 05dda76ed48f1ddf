"""What `planner sweep` answers: a line for each cluster, or a grid of one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner.exit_codes import DONE, FAILURE, INTERRUPTED, NEGATIVE, UNDECIDED
from planner.report.emit import Origin
from planner.sources.errors import SourceError
from planner.version import __version__
from planner_models import sweep
from planner_models.base import Document
from planner_models.sweep import SweepRow

if TYPE_CHECKING:
    from planner.report.emit import Texts
    from planner.report.html.view import Page

BAD_FIRST = (FAILURE, INTERRUPTED, NEGATIVE, UNDECIDED, DONE)
PIECE = 1 << 20


class Sweep(sweep.Sweep, Answer):
    """A line for each cluster; `to_dataframe` has a row each."""

    _columns: ClassVar[tuple[str, ...]] = ("cluster", "exit_code", "headline", "document")

    @property
    def exit_code(self) -> int:
        """That of the worst cluster; of a grid, whether a pod does not run in some cell."""
        if self.stopped is not None:
            return INTERRUPTED
        if self.failed:
            return FAILURE
        if any(each.at_least for each in self.cells):
            return NEGATIVE
        if any(each.waiting for each in self.cells):
            return UNDECIDED
        return min((each.exit_code for each in self.rows), key=_badness, default=DONE)

    def _own_text(self, output: str) -> str | None:
        if output == "html":
            return self.to_html()
        if output == "csv":
            from planner.report.tables.sweep_table import csv_text

            return csv_text(self)
        return None

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import sweep_table

        return sweep_table

    def _page(self) -> Page:
        from planner.report.html.sweep_page import sweep_page

        return sweep_page(self)

    def _rows(self) -> Sequence[Document]:
        return self.cells or self.rows

    def _short(self) -> str:
        from planner.report.tables.sweep_table import headline

        return headline(self)


def sweep_of(
    command: Iterable[str], rows: Iterable[SweepRow], not_run: int = 0, *, interrupted: bool = False
) -> Sweep:
    """The lines, worst first: no answer, a negative one, then by pods that wait."""
    found = sorted(rows, key=lambda row: (*_severity(row), row.cluster))
    document = sweep.Sweep(
        command=tuple(command),
        rows=tuple(found),
        not_run=not_run,
        stopped="interrupted" if interrupted else None,
    )
    return Sweep.of(document, Origin("planner sweep"))


def sweep_rows(path: str) -> tuple[SweepRow, ...]:
    """The lines of a sweep that was written before."""
    try:
        return sweep.Sweep.model_validate_json(Path(path).read_bytes()).rows
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise SourceError(
            "this is not what an earlier sweep has written",
            file=path,
            help="without `resume` everything is done anew",
        ) from error


def content_hash(paths: Iterable[str], command: Iterable[str]) -> str:
    """Of the bytes that are read, the command, and planner's version."""
    found = hashlib.sha256("\0".join((__version__, *command)).encode())
    try:
        for path in paths:
            for file in _files(Path(path)):
                found.update(f"\0{os.path.relpath(file, path)}\0".encode())
                with file.open("rb") as stream:
                    while piece := stream.read(PIECE):
                        found.update(piece)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"can't read {error.filename}: {reason}") from error
    return found.hexdigest()


def _files(path: Path) -> list[Path]:
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _severity(row: SweepRow) -> tuple[int, int]:
    return _badness(row.exit_code), -row.numbers.get("waiting", 0)


def _badness(code: int) -> int:
    return BAD_FIRST.index(code) if code in BAD_FIRST else 0
