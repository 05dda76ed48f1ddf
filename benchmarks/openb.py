"""Real demand: three scarce resources, many sizes, pinned pods, and more of them than room.

The clusters are those of the openb trace (`openb_trace`) and two shapes of our own
(`full_clusters`). Nothing but room decides there. A plan is judged by the pods that it places by
priority, the highest first, and then by its moves; no plan may be worse than what kube-scheduler or
one eviction for each pod reach, the latter as long as its evictions drive nobody off either. Every
plan is carried out here from its document alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import planner
from benchmarks.case import Case, Measured, Scalar, Stopwatch
from benchmarks.full_clusters import SHAPES, full_cluster
from benchmarks.one_eviction import drives_off, one_eviction_each
from benchmarks.pressure import carried_out
from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.documents.plan import make_plan
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.solver.problem.options import SolveOptions
from planner_models.plan import Plan

TRACE = Path(__file__).parent / "openb_trace"
OPTIONS = {
    "plain": SolveOptions(),
    "rebalance": SolveOptions(rebalance=True),
    "preempt": SolveOptions(rebalance=True, preempt=True),
}


def cluster_of(name: str, seed: int) -> Cluster:
    """A cluster of the trace, or one of a shape: `sizes-300` has 300 nodes."""
    shape, _, nodes = name.partition("-")
    for known in SHAPES:
        if shape == known:
            return full_cluster(int(nodes), known, seed)
    return planner.load(str(TRACE / f"openb-{name}.json.gz")).snapshot


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster by one method within the limit."""
    cluster = cluster_of(case.text("cluster"), case.seed)
    if case.method != "planner":
        with Stopwatch() as watch:
            node_of = _by_peer(cluster, case.method)
        return Measured(watch.seconds, watch.cpu, _values(cluster, node_of))
    limit = case.number("limit")
    options = OPTIONS[case.text("options")]
    with Stopwatch() as watch:
        plan = make_plan(cluster, _limited(options, limit), default_profile())
    after, wrong = carried_out(cluster, plan)
    node_of = np.array(after)
    values = _values(cluster, node_of)
    values |= {"bound": _told(_bounds(plan, cluster)), "share": _share(plan)}
    if case.text("options") != "plain":
        floor = _by_peer(cluster, "one eviction")
        fewer = _placed(cluster, node_of) < _placed(cluster, floor)
        if fewer and (plan.options.preempt or not drives_off(cluster, floor)):
            wrong.append("places fewer pods by priority than one eviction for each")
    if _placed(cluster, node_of) < _placed(cluster, _by_peer(cluster, "kube-scheduler")):
        wrong.append("places fewer pods by priority than kube-scheduler alone")
    told = any(notice.code == "preempts" for notice in plan.notices)
    if told and not plan.options.preempt:
        wrong.append("lets kube-scheduler drive others off")
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong[:3]))


def _limited(options: SolveOptions, limit: float) -> SolveOptions:
    return SolveOptions(
        rebalance=options.rebalance, preempt=options.preempt, time_limit=limit, seed=options.seed
    )


def _by_peer(cluster: Cluster, method: str) -> IntArray:
    if method == "one eviction":
        return one_eviction_each(cluster)
    return simulate(cluster).final.node_of


def _waiting_priorities(cluster: Cluster) -> list[int]:
    return sorted({cluster.pods[pod].priority for pod in cluster.pending.tolist()}, reverse=True)


def _placed(cluster: Cluster, node_of: IntArray) -> tuple[int, ...]:
    """Waiting pods with a node, by priority from the top, less those that lost theirs."""
    priority = np.array([pod.priority for pod in cluster.pods])
    change = (node_of >= 0).astype(np.int64) - (cluster.node_of >= 0)
    return tuple(int(change[priority == each].sum()) for each in _waiting_priorities(cluster))


def _values(cluster: Cluster, node_of: IntArray) -> dict[str, Scalar]:
    placed = _placed(cluster, node_of)
    moves = int(((cluster.node_of >= 0) & (node_of != cluster.node_of)).sum())
    return {
        "pending": len(cluster.pending),
        "placed": sum(placed),
        "by_priority": _told(placed),
        "moves": moves,
        "moves_each": round(moves / max(1, sum(placed)), 2),
    }


def _told(numbers: tuple[int, ...]) -> str:
    return " / ".join(map(str, numbers))


def _bounds(plan: Plan, cluster: Cluster) -> tuple[int, ...]:
    """The most that can be placed; with --preempt the plan counts running pods, too."""
    said = {each.name: each.bound for each in plan.objectives}
    priority = np.array([pod.priority for pod in cluster.pods])
    running = cluster.node_of >= 0
    counted = plan.options.preempt
    return tuple(
        said.get(f"placed {each}", 0) - int((running & (priority == each)).sum() if counted else 0)
        for each in _waiting_priorities(cluster)
    )


def _share(plan: Plan) -> float:
    """Per cent of the bound that is reached, on the worst priority down to the first open one."""
    worst = 100.0
    for each in plan.objectives:
        if each.name.startswith("placed ") and each.bound:
            worst = min(worst, 100 * each.value / max(1, each.bound))
            if each.value < each.bound:
                break
    return round(worst, 1)
