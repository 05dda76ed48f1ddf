"""From single results to what a reader compares: medians, spreads, ratios, exponents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from benchmarks.case import ANSWERED, Point, Scalar
from benchmarks.runner import Result
from benchmarks.workload import Curve, Workload


@dataclass(frozen=True)
class Row:
    """One method at one point, over all seeds."""

    method: str
    point: Point
    runs: tuple[Result, ...]
    ratio: float | None
    """Median over the seeds of this method's time by the baseline's; None without a pair."""

    @property
    def finished(self) -> tuple[Result, ...]:
        """Runs that ended, right or wrong."""
        return tuple(run for run in self.runs if run.status in ("right", "wrong"))

    @property
    def state(self) -> str:
        """`right`, or what is the matter and how often."""
        bad = [_matter(run) for run in self.runs if run.status != "right" or not answered(run)]
        return f"{max(bad, key=bad.count)} {len(bad)}/{len(self.runs)}" if bad else "right"

    def middle(self, figure: str) -> float | None:
        """The median of a figure over the seeds where it is a number; of truths, the share."""
        found = [value for run in self.finished if (value := figure_of(run, figure)) is not None]
        if not found:
            return None
        truths = all(isinstance(run.values.get(figure), bool) for run in self.finished)
        return mean(found) if truths else median(found)

    def worst(self, figure: str) -> float | None:
        """The largest of a figure."""
        found = [value for run in self.finished if (value := figure_of(run, figure)) is not None]
        return max(found, default=None)


def answered(run: Result) -> bool:
    """Whether there is an answer; a run without one has no ratio and is on no curve."""
    return run.values.get("answer", ANSWERED) == ANSWERED


def _matter(run: Result) -> str:
    why = run.values.get("answer")
    return run.status if answered(run) or run.status != "right" else str(why).partition(":")[0]


def figure_of(run: Result, figure: str) -> float | None:
    """A time, the memory, or a number of the answer; truth counts as 1."""
    value: Scalar | None = getattr(run, figure, None)
    if value is None:
        value = run.values.get(figure)
    return None if value is None or isinstance(value, str) else float(value)


def rows(results: Sequence[Result], workload: Workload) -> Iterator[Row]:
    """In the order in which they were measured."""
    grouped: dict[tuple[object, ...], list[Result]] = {}
    for result in results:
        key = (*sorted(result.point.items()), result.method)
        grouped.setdefault(key, []).append(result)
    base = {_place(r): r for r in results if r.method == workload.baseline and r.status == "right"}
    for runs in grouped.values():
        rated = (run for run in runs if run.status == "right" and answered(run))
        pairs = [
            run.seconds / other.seconds
            for run in rated
            if (other := base.get(_place(run))) and other.seconds
        ]
        ratio = median(pairs) if pairs else None
        yield Row(runs[0].method, runs[0].point, tuple(runs), ratio)


def _place(result: Result) -> tuple[object, ...]:
    return (*sorted(result.point.items()), result.seed)


@dataclass(frozen=True)
class Series:
    """One line of a curve."""

    method: str
    points: tuple[tuple[float, float], ...]

    @property
    def exponent(self) -> float | None:
        """The slope by least squares in logarithms: 1 is linear, 2 quadratic."""
        return slope(self.points)

    @property
    def last_exponent(self) -> float | None:
        """The slope between the two largest points, where it differs most from the small ones."""
        return slope(self.points[-2:])


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """None below two different points."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    across = sum((x - mean_x) ** 2 for x, _ in logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / across


def series(curve: Curve, found: Iterable[Row]) -> list[Series]:
    """The rows of a curve, one line for each method that has any."""
    lines: dict[str, list[tuple[float, float]]] = {method: [] for method in curve.methods}
    for row in found:
        at, value = row.point.get(curve.along), row.middle(curve.figure)
        if not all(map(answered, row.runs)):
            continue
        here = all(row.point.get(key) == value for key, value in curve.where.items())
        if here and row.method in lines and not isinstance(at, str) and at and value:
            lines[row.method].append((float(at), value))
    return [Series(method, tuple(sorted(points))) for method, points in lines.items() if points]
