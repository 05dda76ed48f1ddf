"""One cluster under many changes and failures: how many pods do not run in each cell."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from planner.interrupts import interruptible
from planner.scenario import Manner, outcome
from planner.solver.progress import Progress
from planner.whatif.course import Loss, Options, fails, missing
from planner.whatif.prepare import Prepared
from planner.whatif.workloads import Workloads
from planner.workers import WorkerDiedError


@dataclass(frozen=True, eq=False)
class Grid:
    """The cluster as it is after each growth; what was found of it is kept, by growth and seed."""

    grown: tuple[Prepared, ...]
    _waiting: dict[tuple[int, int], tuple[int, Workloads]] = field(default_factory=dict)

    def after_growth(self, growth: int, seed: int) -> tuple[int, Workloads]:
        """Pods that have no place before anything fails, and the workloads by then."""
        if (growth, seed) not in self._waiting:
            settled = self.grown[growth].settled(seed)
            lacking = missing(outcome(settled, self.grown[growth].profile))
            self._waiting[growth, seed] = lacking, Workloads(settled.cluster)
        return self._waiting[growth, seed]


@dataclass(frozen=True)
class Cell:
    """A growth, and what fails then, if anything."""

    growth: int
    failure: int
    loss: Loss | None


@dataclass(frozen=True)
class Tried:
    """The fewest and the most pods that do not run, over seeds and the worse manner."""

    cell: Cell
    fewest: int
    most: int


@dataclass(frozen=True)
class Question:
    """A cell, with the manners and seeds to try."""

    cell: Cell
    manners: tuple[Manner, ...]
    seeds: int


@dataclass(frozen=True)
class Found:
    """All cells that were tried, in their order, and those that end their process."""

    tried: tuple[Tried, ...]
    failed: tuple[Cell, ...]
    interrupted: bool


def every_cell(grid: Grid, cells: Sequence[Cell], names: Sequence[str], options: Options) -> Found:
    """Each by itself; after Ctrl-C, those that are done."""
    tasks = [Question(cell, options.manners, options.seeds or 1) for cell in cells]
    tried: dict[int, Tried] = {}
    failed: dict[int, Cell] = {}
    begin = time.monotonic()
    every = options.workers.completed(in_cell, grid, tasks, names)
    with suppress(KeyboardInterrupt), interruptible(), closing(every):
        for index, result in every:
            if isinstance(result, WorkerDiedError):
                failed[index] = cells[index]
            else:
                tried[index] = result
            done, seconds = len(tried) + len(failed), time.monotonic() - begin
            options.report(Progress(f"cells {len(failed)}", done, len(cells), seconds))
    return Found(
        tuple(tried[index] for index in sorted(tried)),
        tuple(failed[index] for index in sorted(failed)),
        len(tried) + len(failed) < len(cells),
    )


def in_cell(grid: Grid, question: Question) -> Tried:
    """One cell: pods that growth leaves without a place, and those that the failure adds."""
    cell, prepared = question.cell, grid.grown[question.cell.growth]
    numbers = []
    for seed in range(question.seeds):
        waiting, before = grid.after_growth(cell.growth, seed)
        worse = 0
        for manner in question.manners if cell.loss is not None else ():
            assert cell.loss is not None
            settled = fails(prepared, prepared.cluster(seed), cell.loss, manner, seed)
            worse = max(worse, int(before.missing(settled).sum()))
        numbers.append(waiting + worse)
    return Tried(cell, min(numbers), max(numbers))
