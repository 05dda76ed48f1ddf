"""The whole model: small problems are solved at once, larger ones first in part.

In larger ones only active groups get variables first: those that a plan is likely to be about. If
the result reaches bounds that hold for the whole problem, it is optimal there too, otherwise all
groups follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster.spread import counted_pods, domain_counts, excess
from planner.cluster.topology import NO_DOMAIN
from planner.solver import tuning
from planner.solver.exact.cuts import within
from planner.solver.exact.lexicographic import Search
from planner.solver.model.objectives import WISHES
from planner.solver.problem.inter_pod_affinity import apart
from planner.solver.problem.moves import fewest_moves, move_bounds, placeable
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level, Solution
from planner.solver.progress import Report, silent


def solve_whole(
    problem: Problem,
    *,
    cut_off: Sequence[Mapping[Cell, int]] = (),
    report: Report = silent,
    start: Mapping[Cell, int] | None = None,
) -> Solution:
    """The best final state that is not among those cut off, with what is proven about it.

    `start` is a good state to begin with, if one is known; it is checked before it is used.
    """
    options = problem.options
    limit = options.time_limit
    large = problem.cell_count > tuning.SMALL_CELLS and not options.relax and not options.preempt
    if large and start is None:
        active = active_groups(problem)
        cuts = within(cut_off, problem, active)
        narrow = problem.restricted(active)
        part = Search(narrow, cuts, report, limit / 2)
        part.judge_rules()
        certified = _certified(problem, part.levels)
        if part.interrupted or certified:
            return _completed(part.finish(), problem, active, certified)
        limit = max(limit - part.time, limit * tuning.LEAST_SHARE)
        start = _everywhere(part.state, problem, active) if part.levels else None
    whole = Search(problem, cut_off, report, limit)
    whole.judge_rules(start)
    return whole.finish()


def _everywhere(
    state: Mapping[Cell, int], problem: Problem, active: frozenset[int]
) -> dict[Cell, int]:
    others = {cell: n for cell, n in problem.current.items() if cell[0] not in active}
    return dict(sorted({**state, **others}.items()))


def _completed(
    found: Solution, problem: Problem, active: frozenset[int], certified: bool
) -> Solution:
    """For the whole problem: of the part's bounds only those remain that hold there, too.

    The wishes of groups that stayed were not looked at.
    """
    levels = tuple(
        replace(level, bound=level.value)
        if certified and level.kind not in WISHES
        else _unbound(level, problem)
        for level in found.levels
    )
    counts = _everywhere(found.counts, problem, active)
    if found.status == "optimal" and not all(level.proven for level in levels):
        return replace(found, counts=counts, levels=levels, status="feasible")
    return replace(found, counts=counts, levels=levels)


def _unbound(level: Level, problem: Problem) -> Level:
    """The level with a bound that needs no search."""
    if level.kind != "placed":
        return replace(level, bound=0)
    groups = problem.cluster.groups
    room = placeable(problem).items()
    return replace(
        level, bound=sum(n for g, n in room if level.name == f"placed {groups[g].priority}")
    )


def _certified(problem: Problem, levels: Sequence[Level]) -> bool:
    """Whether the levels before the wishes reach bounds that hold for the whole problem."""
    values = {level.kind: level.value for level in levels}
    placed = sum(level.value for level in levels if level.kind == "placed")
    if not levels or placed < sum(placeable(problem).values()) or values.get("excess", 0) > 0:
        return False
    bound = fewest_moves(problem, move_bounds(problem, all_placed=True), all_placed=True)
    return values.get("moves", 0) == bound or "moves" not in values


def active_groups(problem: Problem) -> frozenset[int]:
    """Groups that wait, count for a constraint with excess, or break another rule."""
    found = {*problem.waiting, *_in_excess(problem), *_crowded(problem)}
    return frozenset(found | problem.static.misplaced(problem.movable))


def _in_excess(problem: Problem) -> set[int]:
    pods = counted_pods(problem.cluster)
    found: set[int] = set()
    for spread in problem.spreads:
        if excess(domain_counts(pods, spread), spread).any():
            found.update(spread.matching.tolist())
    return found


def _crowded(problem: Problem) -> set[int]:
    """Groups in a domain that required anti-affinity would keep apart."""
    cluster = problem.cluster
    pods = counted_pods(cluster)
    present = np.flatnonzero(np.diff(pods.first) > 0)
    found: set[int] = set()
    for term in apart(cluster, present.tolist()):
        topology = cluster.topology(term.key)
        own, rivals = (
            np.bincount(domains[domains != NO_DOMAIN], minlength=len(topology.domains))
            for domains in (
                topology.domain_of[pods.of(np.array([term.group]))],
                topology.domain_of[pods.of(term.about)],
            )
        )
        enough = 2 if term.group in term.about else 1
        if ((own > 0) & (rivals >= enough)).any():
            found.update((term.group, *term.about.tolist()))
    return found
