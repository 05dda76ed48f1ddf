"""`Cluster.grid`: one cluster under growth and failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planner.api.jobs import workers_for
from planner.api.losses import every_loss, nodes_of, replicas_of, together
from planner.api.profiles import default_scheduler
from planner.api.sweep import Sweep
from planner.api.whatif import added, manners_of
from planner.errors import UsageError
from planner.scenario import Change, Scale
from planner.solver.progress import Progress, silent
from planner.sources.errors import SourceError
from planner.whatif import Loss, Options, prepare
from planner.whatif.grid import Cell, Grid, every_cell
from planner.workers import Workers
from planner_models import sweep
from planner_models.sweep import SweepCell
from planner_models.sweep_grid import GridFailure, Growth, SweepGrid

if TYPE_CHECKING:
    from planner.api.cluster import Cluster
    from planner.cluster import Cluster as Snapshot

MOST_CELLS = 20_000
GROWING = ("Deployment", "StatefulSet", "ReplicaSet")
FORM = "growth: [{name: today}, {name: +20%, percent: 20}], failures: [{}, {each: zone}]"
NOTHING_FAILS = "none"


def grid_in(file: str | os.PathLike[str]) -> SweepGrid:
    """The grid of a YAML file."""
    import yaml
    from pydantic import ValidationError

    name = os.fspath(file)
    try:
        given = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
        return SweepGrid.model_validate(given)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(f"can't read {name}: {reason}", help=FORM) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        raise SourceError(f"this is not YAML: {text}", file=name, help=FORM) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "SweepGrid"
        text = first["msg"]
        raise SourceError(
            "this is not a grid", file=name, field=field, detail=text, help=FORM
        ) from error


def try_grid(
    cluster: Cluster,
    grid: SweepGrid,
    jobs: int | Workers | None,
    progress: Callable[[Progress], None] | None,
) -> Sweep:
    """Every growth under every failure."""
    snapshot = cluster.snapshot
    profile = default_scheduler(cluster.inventory, None, ())
    grown = tuple(
        prepare(snapshot, tuple(_changes(cluster, each)), profile, preempt=grid.preempt)
        for each in grid.growth
    )
    columns = [_columns(each.cluster(), grid.failures) for each in grown]
    failures = tuple(name for name, _ in columns[0])
    for each, losses in zip(grid.growth, columns, strict=True):
        if lost := set(failures) - {name for name, _ in losses}:
            raise UsageError(
                f"the growth {each.name} has no {min(lost)} to lose, which the first one has",
                help="nodes that only some rows have belong into the later ones",
            )
    cells = [
        Cell(row, number, losses[name])
        for row, losses in enumerate(map(dict, columns))
        for number, name in enumerate(failures)
    ]
    growth = tuple(each.name for each in grid.growth)
    for what, names in (("growth", growth), ("failures", failures)):
        if len(set(names)) < len(names):
            raise UsageError(f"two of the grid's {what} have the same name: {', '.join(names)}")
    if len(cells) > MOST_CELLS:
        raise UsageError(f"a grid of {len(cells):,} cells is too large: {MOST_CELLS:,} at most")
    named = [f"{growth[cell.growth]}, {failures[cell.failure]}" for cell in cells]
    with workers_for(jobs) as workers:
        options = Options(
            manners_of(grid.manner), grid.seeds, workers=workers, report=progress or silent
        )
        found = every_cell(Grid(grown), cells, named, options)
    document = sweep.Sweep(
        growth=growth,
        failures=failures,
        seeds=grid.seeds,
        cells=tuple(
            SweepCell(
                growth=growth[each.cell.growth],
                failure=failures[each.cell.failure],
                waiting=each.most,
                at_least=each.fewest,
            )
            for each in found.tried
        ),
        failed=tuple(f"{growth[c.growth]}, {failures[c.failure]}" for c in found.failed),
        not_run=len(cells) - len(found.tried) - len(found.failed),
        stopped="interrupted" if found.interrupted else None,
    )
    return Sweep.of(document, cluster._origin("sweep", ()))


def _changes(cluster: Cluster, growth: Growth) -> Iterator[Change]:
    """Workloads that are scaled by name have that number, whatever the percentage."""
    snapshot = cluster.snapshot
    asked = dict(replicas_of(snapshot, growth.scale, growth.namespace or cluster.namespace))
    if growth.percent:
        refs = list(dict.fromkeys(snapshot.workloads))
        number = {ref: index for index, ref in enumerate(refs)}
        of_group = np.array([number[ref] for ref in snapshot.workloads], np.int64)
        there = of_group[snapshot.group_of[~snapshot.terminating]]
        pods = np.bincount(there, minlength=len(refs))
        for ref, now in zip(refs, pods.tolist(), strict=True):
            known = ref in snapshot.owners.controllers
            if known and ref.kind in GROWING and ref not in asked and now:
                yield Scale(ref, -(-now * (100 + growth.percent) // 100))
    yield from (Scale(ref, replicas) for ref, replicas in asked.items())
    yield from added(growth.add_nodes)


def _columns(
    snapshot: Snapshot, failures: tuple[GridFailure, ...]
) -> list[tuple[str, Loss | None]]:
    """The failures by name, as indexes of the grown cluster: new nodes may fail, too."""
    found: list[tuple[str, Loss | None]] = []
    for each in failures:
        if each.lose and each.each is not None:
            raise UsageError("a failure of the grid has lose or each, not both")
        if each.each is not None:
            losses = every_loss(snapshot, each.each)
            found += [
                (f"{each.name} {loss.name}" if each.name else loss.name, loss) for loss in losses
            ]
        elif each.lose:
            loss = together([nodes_of(snapshot, word) for word in each.lose])
            found.append((each.name or loss.name, loss))
        else:
            found.append((each.name or NOTHING_FAILS, None))
    return found
