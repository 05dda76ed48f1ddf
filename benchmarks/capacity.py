"""How many more pods of one workload fit into a large cluster.

*count* is kube-scheduler's own number, the best choice of nodes and the bound; *survive zone* adds
what still stands the loss of any zone, *10 moves* how many more fit if at most ten other pods move,
and the curve up to there. *simulate* places one pod more than were counted with the plain
simulator: all but one have to find a node, which is what the others are held to.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import planner
from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.check import dump_path, prepare
from planner.capacity import CapacityOptions, Demand, Found, capacity, demand_of, ready
from planner.capacity.demand import with_more
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate

__all__ = ["measure", "prepare"]
MOVES = 10
UP_TO = 100_000
"""More than fit, so that something stops every count."""
OPTIONS = {
    "count": CapacityOptions(up_to=UP_TO, moves=0, survive=None),
    "survive zone": CapacityOptions(up_to=UP_TO, moves=0, survive="zone"),
    "10 moves": CapacityOptions(up_to=UP_TO, moves=MOVES, survive=None),
}


def measure(case: Case, cache: Path) -> Measured:
    """One question about the largest Deployment that has a hard spread constraint."""
    cluster, _ = ready(planner.load(dump_path(case, cache)).snapshot, default_profile())
    demand = demand_of(cluster, _largest(cluster))
    if case.method == "simulate":
        found = capacity(cluster, [demand], default_profile(), OPTIONS["count"])
        more = with_more(cluster, [demand], found.now.sets + found.now.stopped)
        with Stopwatch() as watch:
            ended = simulate(more.cluster, [default_profile()])
        left = len(ended.unschedulable)
        wrong = () if left == found.now.stopped else (f"{left} of the pods find no node",)
        return Measured(watch.seconds, watch.cpu, {"count": found.now.sets}, wrong)
    with Stopwatch() as watch:
        found = capacity(cluster, [demand], default_profile(), OPTIONS[case.method])
    return Measured(watch.seconds, watch.cpu, _values(found), tuple(_wrong(cluster, demand, found)))


def _largest(cluster: Cluster) -> WorkloadRef:
    """Of those with a hard constraint, so that there is something to prove."""
    sizes = np.bincount(cluster.group_of[cluster.running], minlength=len(cluster.groups))
    return max(
        (int(sizes[group.index]), cluster.workloads[group.index])
        for group in cluster.groups
        if cluster.workloads[group.index].kind == "Deployment"
        and any(each.hard for each in group.spec.topology_spread_constraints)
    )[1]


def _values(found: Found) -> dict[str, Scalar]:
    best, survive = found.best, found.survive
    return {
        "count": found.now.sets,
        "proven": best is not None and best.count == best.bound,
        "bound": -1 if found.bound is None else found.bound.count,
        "survive": -1 if survive is None else survive.sets,
        "moved": max((point.count for point in found.curve), default=-1),
        "moves": max((point.moves for point in found.curve), default=-1),
    }


def _wrong(cluster: Cluster, demand: Demand, found: Found) -> list[str]:
    """Counted anew, one kind of pod in the plain simulator; and numbers that contradict."""
    more = with_more(cluster, [demand], found.now.sets + found.now.stopped)
    left = len(simulate(more.cluster, [default_profile()]).unschedulable)
    wrong = [] if left == found.now.stopped else [f"{left} of the counted pods find no node"]
    if found.bound is not None and found.bound.count < found.now.sets:
        wrong.append(f"more than the bound {found.bound.count}")
    if found.survive is not None and found.survive.sets > found.now.sets:
        wrong.append("more survive than fit")
    for point in found.curve:
        if found.bound is not None and point.count > found.bound.count:
            wrong.append(f"{point.count} by moves are more than the bound")
        if not point.at_least <= point.moves <= MOVES:
            wrong.append(f"{point.moves} moves for {point.count}")
        if len(point.nodes) not in (0, point.count):
            wrong.append(f"{len(point.nodes)} of {point.count} pods have a place")
    return wrong
