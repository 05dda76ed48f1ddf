"""What happens when nodes fail, in clusters where nothing has drifted.

`each node` tries every node alone; a sample of the nodes is simulated as well, and has to come out
as counted. `zone` lets a third of all nodes fail, in both manners; the pods that run, wait or end
have to be all there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.drift import STEADY, drifted
from planner.cluster import Cluster
from planner.scheduler.profile import default_profile
from planner.whatif import Answer, Loss, Options, Prepared, prepare, what_if
from planner.whatif.course import failing, missing
from planner.whatif.singles import Singles, every_single
from planner_models.node import ZONE

SAMPLE = 5


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster, asked one of both questions."""
    cluster = drifted(case.integer("nodes"), STEADY, case.seed)
    if case.method == "zone":
        return _zone(cluster)
    prepared = prepare(cluster, (), default_profile())
    losses = [Loss(node.name, "node", (index,)) for index, node in enumerate(cluster.nodes)]
    with Stopwatch() as watch:
        found = every_single(prepared, losses, Options())
    values: dict[str, Scalar] = {
        "pods": len(cluster.pods),
        "certified": sum(not each.seeds for each in found.found),
        "with_waiting": sum(each.worst > 0 for each in found.found),
    }
    wrong = tuple(_contradictions(prepared, found))
    return Measured(watch.seconds, watch.cpu, values, wrong)


def _contradictions(prepared: Prepared, found: Singles) -> Iterator[str]:
    """Certificates of a sample against the simulation."""
    chosen = np.random.default_rng(0).permutation(len(found.found))[:SAMPLE]
    for single in (found.found[index] for index in chosen.tolist()):
        for manner, counted in single.missing.items():
            course = failing(prepared, single.loss, manner, Options(seeds=1))
            if missing(course.outcome) != counted:
                yield f"{single.loss.name} {manner}: {counted} counted, {missing(course.outcome)}"


def _zone(cluster: Cluster) -> Measured:
    topology = cluster.topology(ZONE)
    loss = Loss(topology.domains[0], "zone", tuple(topology.nodes_of(0).tolist()))
    with Stopwatch() as watch:
        found = what_if(prepare(cluster, (), default_profile()), loss, Options())
    first = found.courses[0]
    values: dict[str, Scalar] = {
        "pods": len(cluster.pods),
        "down": first.outcome.lost,
        **{f"waiting_{each.manner}": each.missing[1] for each in found.courses},
    }
    return Measured(watch.seconds, watch.cpu, values, tuple(_unaccounted(found)))


def _unaccounted(found: Answer) -> Iterator[str]:
    for course in found.courses:
        for each in course.outcome.workloads:
            left = sum(each.before) - sum(each.after) - each.waiting - each.unreplaced
            if each.workload.kind != "DaemonSet" and left:
                yield f"{each.workload.short} {course.manner}: {left} pods are nowhere"
