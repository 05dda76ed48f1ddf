"""Independent questions side by side: what workers gain, and what a task costs beside its work.

`clusters` asks many dumps the same, each read by whoever has its turn. `failures` lets nodes of one
cluster fail one by one, all simulated; the snapshot is sent to each worker once. `workers` 0 is
this process alone. `on Dask` asks the workers of a scheduler that runs already. On a machine with
other work the ratio of wall times says little, so processor time is told, too: `speedup_cpu` is
what there would be if each worker had a core of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.dask_cluster import dask_cluster
from benchmarks.drift import STEADY, drifted
from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump
from planner.cli.one_of_many import Command, Place, run_one
from planner.scheduler.profile import default_profile
from planner.whatif import Loss
from planner.whatif.prepare import prepare as prepared_for
from planner.whatif.singles import Once, Simulations, lacking
from planner.whatif.workloads import Workloads
from planner.workers import HERE, Workers
from planner.workers.processes import Processes
from planner.workers.start import start_workers

PODS_PER_NODE = 20
ASKED = ("whatif", "--each", "zone", "--seeds", "1")
CLUSTERS, ON_DASK = "clusters", " on Dask"
SAMPLE = 3


@dataclass(frozen=True)
class Timed:
    """An answer, who gave it, and the processor time of that process before and after it."""

    answer: str
    process: int
    begin: float
    end: float


def prepare_dumps(case: Case, cache: Path) -> list[Path]:
    """Dumps that are made once."""
    nodes, found = case.integer("nodes"), []
    for seed in range(case.integer("tasks")):
        path = cache / f"sweep-{nodes}-{seed}.json.gz"
        if not path.exists():
            parameters = Parameters(nodes, nodes * PODS_PER_NODE, seed + 1)
            write_dump(random_cluster(parameters), path, Style())
        found.append(path)
    return found


def prepare(case: Case, cache: Path) -> None:
    """Before the measurement, in a process of its own."""
    if case.method.startswith(CLUSTERS):
        prepare_dumps(case, cache)


def about_cluster(command: Command, place: Place) -> Timed:
    """One command over one dump."""
    begin = time.process_time()
    answer = repr(run_one(command, place))
    return Timed(answer, os.getpid(), begin, time.process_time())


def about_failure(simulations: Simulations, once: Once) -> Timed:
    """One node that fails."""
    begin = time.process_time()
    answer = repr(lacking(simulations, once))
    return Timed(answer, os.getpid(), begin, time.process_time())


def measure(case: Case, cache: Path) -> Measured:
    """One number of workers."""
    function, shared, tasks = _work(case, cache)
    names = [f"task {number}" for number in range(len(tasks))]
    number = case.integer("workers")
    with _workers(case, number) as workers, Stopwatch() as watch:
        found = list(workers.in_order(function, shared, tasks, names))
    chosen = range(0, len(tasks), max(1, len(tasks) // SAMPLE))
    again = [function(shared, tasks[index]).answer for index in chosen]
    same = [found[index].answer for index in chosen] == again
    values = _figures(found, watch, own=not number)
    return Measured(watch.seconds, watch.cpu, values, () if same else ("answers differ",))


@contextmanager
def _workers(case: Case, number: int) -> Iterator[Workers]:
    """Processes start when they are asked, and a Dask cluster is there before."""
    if case.method.endswith(ON_DASK):
        with dask_cluster(number) as address, start_workers(dask=address) as workers:
            yield workers
    else:
        with Processes(number, at_once=True) if number else HERE as workers:
            yield workers


def _work(case: Case, cache: Path) -> tuple[Callable[[Any, Any], Timed], Any, Sequence[Any]]:
    if case.method.startswith(CLUSTERS):
        paths = prepare_dumps(case, cache)
        places = [Place(str(path), ("-f", str(path))) for path in paths]
        return about_cluster, Command(ASKED), places
    cluster = drifted(case.integer("nodes"), STEADY, case.seed)
    prepared = prepared_for(cluster, (), default_profile(), preempt=True)
    simulations = Simulations(prepared, Workloads(prepared.cluster()))
    losses = [Loss(node.name, "node", (index,)) for index, node in enumerate(cluster.nodes)]
    tasks = [Once(loss, "removed", 0) for loss in losses[: case.integer("tasks")]]
    return about_failure, simulations, tasks


def _figures(found: Sequence[Timed], watch: Stopwatch, *, own: bool) -> dict[str, Scalar]:
    """Work is processor time inside tasks; all else that a worker or this process does is extra."""
    work = sum(each.end - each.begin for each in found)
    by_process = [[each for each in found if each.process == p] for p in {e.process for e in found}]
    starts = sum(min(each.begin for each in same) for same in by_process)
    ends = [max(each.end for each in same) for same in by_process]
    beside = watch.cpu - work if own else watch.cpu + sum(ends) - starts - work
    longest = watch.cpu if own else watch.cpu + max(ends)
    return {
        "work": work,
        "overhead_ms": 1000 * beside / len(found),
        "start": 0.0 if own else starts / len(by_process),
        "speedup_cpu": work / longest,
        "load": os.getloadavg()[0],
    }
