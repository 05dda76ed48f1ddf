"""A `Sweep` as text: a line for each cluster, or growth by failure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from planner.exit_codes import DONE, FAILURE, NEGATIVE
from planner.report.text.blocks import GAP, Block, Paragraph, Style, Table, visible
from planner.words import conjoined, count_of
from planner_models.sweep import Sweep, SweepRow

COLUMNS = ("nodes", "pods", "waiting")
RAN = (DONE, NEGATIVE, 4)
RISKY = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would carry out."""


def blocks(document: Sweep, *, wide: bool) -> Sequence[Block]:
    """The table, and what follows from it."""
    return (
        Paragraph(headline(document), "bold"),
        GAP,
        _grid(document) if document.growth else _lines(document, wide=wide),
        *(Paragraph(text) for text in _remarks(document)),
    )


def names(document: Sweep) -> Iterable[str]:
    """The clusters, worst first."""
    return (row.cluster for row in document.rows)


def headline(document: Sweep) -> str:
    """`200 clusters: 3 with a negative answer, 1 failed.`"""
    if document.growth:
        return _about_grid(document)
    codes = [row.exit_code for row in document.rows]
    negative, failed = codes.count(NEGATIVE), sum(code not in RAN for code in codes)
    parts = [f"{negative} with a negative answer"] if negative else []
    parts += [f"{failed} failed"] if failed else []
    told = ", ".join(parts) or "nothing is wrong"
    return f"{count_of(len(codes), 'cluster')}, planner {' '.join(document.command)}: {told}."


def _about_grid(document: Sweep) -> str:
    cells = count_of(len(document.cells), "cell")
    bad = [each for each in document.cells if each.waiting]
    if not bad:
        return f"{cells} tried; every pod runs in each of them."
    worst = max(bad, key=lambda each: each.waiting)
    then = count_of(worst.waiting, "pod")
    verb = "leaves" if len(bad) == 1 else "leave"
    where = f"{worst.growth}, {worst.failure}"
    return f"{cells} tried; {len(bad)} {verb} pods waiting. Worst: {where}, {then}."


def table_rows(document: Sweep) -> Iterator[tuple[str, ...]]:
    """Cluster, exit code, numbers, and the answer in a few words."""
    for row in document.rows:
        numbers = (str(row.numbers.get(name, "-")) for name in COLUMNS)
        yield row.cluster, str(row.exit_code), *numbers, row.headline


def _lines(document: Sweep, *, wide: bool) -> Table:
    header: tuple[str, ...] = ("CLUSTER", "EXIT", *map(str.upper, COLUMNS), "ANSWER")
    rows = list(table_rows(document))
    if any(row.document for row in document.rows):
        header = (*header, "DOCUMENT")
        documents = [row.document or "-" for row in document.rows]
        rows = [(*cells, path) for cells, path in zip(rows, documents, strict=True)]
    if wide:
        header = (*header, "NUMBERS")
        rows = [(*c, _more(row)) for c, row in zip(rows, document.rows, strict=True)]
    styles: tuple[Style, ...] = tuple(
        "red" if row.exit_code in (FAILURE, NEGATIVE) else "" for row in document.rows
    )
    return Table(header, tuple(rows), styles)


def _more(row: SweepRow) -> str:
    return ", ".join(f"{k} {v}" for k, v in row.numbers.items() if k not in COLUMNS) or "-"


def grid_rows(document: Sweep) -> Iterator[tuple[str, ...]]:
    """Pods that do not run, by growth; `3-5` where ties decide, `?` where there is no answer."""
    found = {(each.growth, each.failure): each for each in document.cells}
    for growth in document.growth:
        cells = (found.get((growth, failure)) for failure in document.failures)
        yield (
            growth,
            *(
                "?"
                if each is None
                else str(each.waiting)
                if each.waiting == each.at_least
                else f"{each.at_least}-{each.waiting}"
                for each in cells
            ),
        )


def _grid(document: Sweep) -> Table:
    rows = tuple(grid_rows(document))
    styles: tuple[Style, ...] = tuple("red" if set(cells[1:]) - {"0"} else "" for cells in rows)
    return Table(("GROWTH", *map(str.upper, document.failures)), rows, styles)


def _remarks(document: Sweep) -> Iterator[str]:
    if document.growth:
        yield (
            f"Pods that do not run then, in the worse manner and the worst of "
            f"{count_of(document.seeds, 'tie seed')}."
        )
    if document.failed:
        yield f"No answer, because it ends its process: {conjoined(document.failed)}."
    if document.stopped is not None:
        yield f"Interrupted: {document.not_run} not tried."


def csv_text(document: Sweep) -> str:
    """For spreadsheets; a text that one would take for a formula is quoted."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if document.growth:
        writer.writerow(("growth", *map(_harmless, document.failures)))
        writer.writerows(tuple(map(_harmless, cells)) for cells in grid_rows(document))
        return stream.getvalue()
    others = sorted({name for row in document.rows for name in row.numbers} - set(COLUMNS))
    columns = (*COLUMNS, *others)
    writer.writerow(("cluster", "exitCode", *columns, "headline", "document", "report"))
    for row in document.rows:
        numbers = (str(row.numbers.get(name, "")) for name in columns)
        texts = (row.headline, row.document or "", row.report or "")
        writer.writerow((_harmless(row.cluster), row.exit_code, *numbers, *map(_harmless, texts)))
    return stream.getvalue()


def _harmless(text: str) -> str:
    shown = visible(text)
    return f"'{shown}" if shown.startswith(RISKY) and not shown.isdecimal() else shown
