"""The workloads of a benchmark as data: `workloads/NAME.yaml` says which points are measured.

A grid is a mapping from coordinates to a value or a list of values; every combination is a point.
`full` is what `make bench` runs, `quick` what fits into five minutes with all the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchmarks.case import Case, Point, Scalar

FOLDER = Path(__file__).parent / "workloads"


class Grid(BaseModel):
    """Points times seeds times methods."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: dict[str, Scalar | list[Scalar]]
    methods: list[str] = Field(min_length=1)
    seeds: list[int] = Field(min_length=1)
    beside: bool = False
    """Whether as many cases run at once as there are cores: where answers are what counts, and
    limits are in work or in minutes, so that neighbours change little."""

    def combinations(self) -> Iterator[Point]:
        """In the order in which the file names them, the last coordinate changing fastest."""
        lists = [v if isinstance(v, list) else [v] for v in self.points.values()]
        for values in product(*lists):
            yield dict(zip(self.points, values, strict=True))


class Curve(BaseModel):
    """A scaling curve: a figure against one coordinate, the others fixed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    along: str
    figure: str = "cpu"
    where: dict[str, Scalar] = Field(default_factory=dict)
    methods: list[str] = Field(min_length=1)


class Workload(BaseModel):
    """One file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    about: str
    baseline: str
    """The method that the others' time is divided by."""
    methods: dict[str, str]
    """What each method is, in a few words."""
    figures: dict[str, str] = Field(default_factory=dict)
    """Figures of the answer that the table shows, with their headings."""
    timeout: float = 900.0
    """Seconds after which a case counts as not finished."""
    prepare: bool = False
    """Whether the benchmark makes inputs in the cache first, with its function `prepare`."""
    full: list[Grid]
    quick: list[Grid]
    curves: list[Curve] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """Where a peer is better, and why: said as plainly as the rest."""

    @model_validator(mode="after")
    def _known_methods(self) -> Workload:
        used = {m for grid in (*self.full, *self.quick) for m in grid.methods}
        used |= {m for curve in self.curves for m in curve.methods}
        unknown = sorted((used | {self.baseline}) - set(self.methods))
        if unknown:
            raise ValueError(f"methods without a description: {', '.join(unknown)}")
        return self


def names() -> list[str]:
    """All benchmarks, in the order in which they run."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read(name: str) -> Workload:
    """The workload of this benchmark."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    return Workload.model_validate(yaml.safe_load(text))


def cases(name: str, grid: Grid, *, seeds: int | None = None) -> Iterator[Case]:
    """Methods change fastest, so that what is compared runs in the same minute."""
    for point in grid.combinations():
        for seed in grid.seeds[:seeds]:
            for method in grid.methods:
                yield Case(name, method, point, seed)
