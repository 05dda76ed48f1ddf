"""Draining nodes of a large cluster, beside the rule of `kubectl drain`.

The cluster is loaded before the clock starts. `planner drain` finds waves, tries them under ties
and explains who can't leave; the rule of kubectl drain is a simulation of its retries. Wrong is a
drain whose waves leave pods waiting or behind when they are carried out once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump
from planner.cluster import PENDING, Cluster, build_cluster
from planner.documents.drain_plan import drain_plan
from planner.drain.find import Drain, find_drain
from planner.drain.kubectl import kubectl_runs
from planner.drain.options import DrainOptions
from planner.replay.trial import Manner, Trial
from planner.scheduler.profile import default_profile
from planner.sources.load import load_paths
from planner_models.drain import DrainPlan

OTHER_SEED = 1_000
"""A seed that no plan was tried with."""


def dump_path(case: Case, cache: Path) -> Path:
    """Where the cluster of a case is kept."""
    return cache / f"drain-{case.integer('cluster_nodes')}-{case.integer('pods')}-{case.seed}.json"


def prepare(case: Case, cache: Path) -> None:
    """The dump, written once for all methods."""
    path = dump_path(case, cache)
    if not path.exists():
        size = Parameters(case.integer("cluster_nodes"), case.integer("pods"), seed=case.seed + 1)
        write_dump(random_cluster(size), path, Style(managed_fields=False, compact=True))


def measure(case: Case, cache: Path) -> Measured:
    """One drain of so many nodes, chosen by the seed."""
    cluster = build_cluster(load_paths([str(dump_path(case, cache))]))
    nodes = Random(case.seed).sample(range(len(cluster.nodes)), case.integer("nodes"))
    options = DrainOptions(tuple(sorted(nodes)), force=True, delete_emptydir_data=True)
    if case.method == "planner":
        with Stopwatch() as watch:
            found = find_drain(cluster, options, default_profile())
            plan = drain_plan(found, helps=False)
        return Measured(watch.seconds, watch.cpu, _values(plan), tuple(_wrong(found)))
    found = find_drain(cluster, options, default_profile())
    with Stopwatch() as watch:
        run = kubectl_runs(found.emptying)[0]
    values: dict[str, Scalar] = {
        "evictions": len(run.evicted),
        "pending": len(run.pending),
        "hanging": len(run.hanging),
    }
    return Measured(watch.seconds, watch.cpu, values)


def _values(plan: DrainPlan) -> dict[str, Scalar]:
    return {
        "evictions": len(plan.evictions),
        "waves": sum(len(each.waves) for each in plan.rounds),
        "pending": 0,
        "hanging": len(plan.blocked),
        "status": plan.status,
        "tie_seeds": plan.checked_seeds,
    }


def _wrong(found: Drain) -> Iterator[str]:
    """The waves once more, under a seed that they were not tried with."""
    real: Cluster = found.aim.real
    trial = Trial(real, found.profile, found.budgets, found.evicted)
    run = trial.run(found.tried.waves, Manner(OTHER_SEED))
    if run.refused is not None:
        yield f"a budget refuses {real.pods[run.refused].key}"
    waiting = int(np.count_nonzero((run.node_of == PENDING) & (real.node_of != PENDING)))
    if waiting:
        yield f"{waiting} pods wait"
    if np.isin(run.node_of[list(found.evicted)], found.aim.drained).any():
        yield "pods came back to the nodes"
