"""Rebalancing drifted clusters: moves, bound, gap, time and memory, beside textbook models.

Every result is judged pod by pod by `final_state`, which is no part of any solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.case import ANSWERED, Case, Measured, Scalar, Stopwatch
from benchmarks.drift import DRIFTS, drifted
from benchmarks.final_state import Verdict, judge, placement_of
from planner.cluster import Cluster
from planner.scheduler.simulate import simulate
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.problem import Problem, build_problem
from planner.solver.route import solve_large


def measure(case: Case, _cache: Path) -> Measured:
    """One cluster by one method within the limit."""
    drift = next(drift for drift in DRIFTS if drift == case.text("drift"))
    cluster = drifted(case.integer("nodes"), drift, case.seed)
    limit = case.number("limit")
    if case.method == "planner":
        return _by_planner(cluster, limit)
    if case.method == "greedy":
        return _by_greedy(cluster)
    return _by_textbook(cluster, case.method, limit)


def _by_planner(cluster: Cluster, limit: float) -> Measured:
    with Stopwatch() as watch:
        options = SolveOptions(rebalance=True, time_limit=limit).waited_for()
        problem = build_problem(cluster, options)
        found = solve_large(problem)
    verdict = _judged(cluster, problem, found.counts)
    moves, excess = found.level("moves"), found.level("excess")
    placed = sum(level.value for level in found.levels if level.kind == "placed")
    said = (placed, excess.value if excess else 0, moves.value if moves else 0)
    seen = (verdict.placed, verdict.excess, verdict.moves)
    wrong = [*verdict.problems]
    if said != seen:
        wrong.append(f"says placed, excess, moves are {said}, but they are {seen}")
    bound = moves.bound if moves else 0
    values = _values(cluster, verdict, bound, proven=found.status == "optimal")
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong[:3]))


def _by_greedy(cluster: Cluster) -> Measured:
    """What kube-scheduler does with the pending pods; it moves nothing."""
    with Stopwatch() as watch:
        run = simulate(cluster)
    node_of = cluster.node_of.copy()
    for result in run.results:
        if result.node is not None:
            node_of[result.pod] = result.node
    verdict = judge(cluster, node_of)
    return Measured(watch.seconds, watch.cpu, _values(cluster, verdict, None, proven=False))


def _by_textbook(cluster: Cluster, method: str, limit: float) -> Measured:
    """No answer within the limit, or a model that can't be built, is what it is.

    The models import pandas with CP-SAT, as is usual. The others do without, and are not charged.
    """
    from benchmarks.textbook_models import (
        Answer,
        TextbookModel,
        TooLargeError,
        group_units,
        pod_units,
    )

    units = {"x[pod,node]": pod_units, "y[group,node]": group_units}[method]
    with Stopwatch() as watch:
        problem = build_problem(cluster, SolveOptions(rebalance=True))
        try:
            found: Answer | None = TextbookModel(problem, list(units(problem))).solve(limit)
            answer = ANSWERED if found else "nothing in time"
        except TooLargeError as error:
            found, answer = None, f"too large: {error}"
    values: dict[str, Scalar] = {"pending": len(cluster.pending), "answer": answer, "proven": False}
    if found is None:
        return Measured(watch.seconds, watch.cpu, values)
    verdict = _judged(cluster, problem, found.counts)
    values |= _values(cluster, verdict, found.bound, proven=found.proven)
    return Measured(watch.seconds, watch.cpu, values, verdict.problems[:3])


def _judged(cluster: Cluster, problem: Problem, counts: Mapping[tuple[int, int], int]) -> Verdict:
    return judge(cluster, placement_of(cluster, counts, problem.movable, problem.waiting))


def _values(
    cluster: Cluster, verdict: Verdict, bound: float | None, *, proven: bool
) -> dict[str, Scalar]:
    values: dict[str, Scalar] = {
        "pending": len(cluster.pending),
        "placed": verdict.placed,
        "excess": verdict.excess,
        "moves": verdict.moves,
        "proven": proven,
        "answer": ANSWERED,
    }
    if bound is not None:
        values |= {"bound": bound, "gap": 100 * (verdict.moves - bound) / max(1, verdict.moves)}
    return values
