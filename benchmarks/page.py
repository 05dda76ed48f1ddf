"""The Markdown page and its charts, from the results of a run alone: same results, same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.case import Point
from benchmarks.charts import chart
from benchmarks.runner import Result, Results
from benchmarks.summary import Row, Series, rows, series
from benchmarks.workload import Curve, Workload

FIGURES = {"cpu": "CPU seconds", "seconds": "seconds", "peak_mb": "peak MB"}


def write(results: Results, workloads: dict[str, Workload], page: Path) -> None:
    """`page` and, beside it, a folder of the same name with the charts and the results."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures(results, workloads).items():
        (folder / name).write_text(picture, encoding="utf-8")
    text = results.model_dump_json(indent=1) + "\n"
    (folder / "results.json").write_text(text, encoding="utf-8")
    page.write_text(markdown(results, workloads, folder.name), encoding="utf-8")


def pictures(results: Results, workloads: dict[str, Workload]) -> dict[str, str]:
    """File names and SVG texts."""
    found: dict[str, str] = {}
    for name, workload in workloads.items():
        table = list(rows(_of(results, name), workload))
        for number, curve in enumerate(workload.curves):
            if lines := series(curve, table):
                figure = FIGURES.get(curve.figure, workload.figures.get(curve.figure, curve.figure))
                picture = chart(curve.title, curve.along, figure, lines)
                found[f"{name}-{number + 1}.svg"] = picture
    return found


def markdown(results: Results, workloads: dict[str, Workload], folder: str) -> str:
    """The whole page."""
    machine = results.machine
    codes = Counter(result.code for result in results.results)
    said = " and ".join(f"`{code}` ({number} runs)" for code, number in codes.items())
    lines = [
        "# Benchmarks",
        "",
        f"Numbers of `python -m benchmarks{' --quick' if results.quick else ''}`, which is what "
        "`make bench` runs; the column *runs* says over how many seeds. Measured on "
        f"{machine.cores} cores and {machine.memory_gb:g} GiB of memory ({machine.system}, Python "
        f"{machine.python}). Machines are noisy: compare the ratios, which are between runs "
        "of the same minute, rather than the seconds. Every answer is checked; a wrong one fails "
        "the run. This page is generated: `python -m benchmarks --page docs/benchmarks.md`. "
        f"Fingerprint of the code: {said}.",
        "",
    ]
    for name, workload in workloads.items():
        if found := _of(results, name):
            lines += _section(name, workload, list(rows(found, workload)), folder)
    return "\n".join(lines).rstrip() + "\n"


def _of(results: Results, name: str) -> list[Result]:
    return [result for result in results.results if result.benchmark == name]


def _section(name: str, workload: Workload, table: list[Row], folder: str) -> Iterator[str]:
    yield f"## {workload.title}"
    yield ""
    yield workload.about.strip()
    yield ""
    used = {row.method for row in table}
    yield from (f"- *{m}*: {about}" for m, about in workload.methods.items() if m in used)
    yield ""
    yield from _table(workload, table)
    yield ""
    for number, curve in enumerate(workload.curves):
        if lines := series(curve, table):
            yield f"![{curve.title}]({folder}/{name}-{number + 1}.svg)"
            yield ""
            yield from _exponents(curve, lines)
            yield ""
    if workload.notes:
        yield from (f"- {note}" for note in workload.notes)
        yield ""


def _table(workload: Workload, table: Sequence[Row]) -> Iterator[str]:
    keys = list(dict.fromkeys(key for row in table for key in row.point))
    heads = [*keys, "method", *workload.figures.values()]
    heads += ["runs", "seconds", "spread", "CPU s", "peak MB", f"x {workload.baseline}", "answers"]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in table:
        cells = [*(_cell(row.point, key) for key in keys), row.method]
        cells += [_told(row, figure) for figure in workload.figures]
        cells += [
            str(len(row.runs)),
            _figure(row.middle("seconds")),
            _spread(row),
            _figure(row.middle("cpu")),
        ]
        cells += [_figure(row.middle("peak_mb")), _figure(row.ratio), row.state]
        yield "| " + " | ".join(cells) + " |"


def _told(row: Row, figure: str) -> str:
    """A number over the seeds; words only where all seeds have the same."""
    words = {value for run in row.finished if isinstance(value := run.values.get(figure), str)}
    return words.pop() if len(words) == 1 else _figure(_of_row(row, figure))


def _of_row(row: Row, figure: str) -> float | None:
    """The middle of a figure over the seeds, or with `max` before its name the worst."""
    worst = figure.removeprefix("max ")
    return row.worst(worst) if worst != figure else row.middle(figure)


def _cell(point: Point, key: str) -> str:
    value = point.get(key, "")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _spread(row: Row) -> str:
    seconds = [run.seconds for run in row.finished]
    return f"{_figure(min(seconds))}-{_figure(max(seconds))}" if seconds else ""


def _figure(value: float | None) -> str:
    """Three digits that count."""
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _exponents(curve: Curve, lines: Sequence[Series]) -> Iterator[str]:
    """Says in words what the picture shows, and where the line bends."""
    for line in lines:
        if line.exponent is None or line.last_exponent is None:
            continue
        yield (
            f"- *{line.method}* grows with {curve.along} to the power of {line.exponent:.2f}; "
            f"between the two largest points {line.last_exponent:.2f}."
        )
