"""From a state and a bound that differ to ones that meet: what is tried, and in which order."""

from __future__ import annotations

from functools import partial

import numpy as np

from planner.solver.scale.certify import certify_moves
from planner.solver.scale.improve import improve
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.kernel import Kernel, repair_part
from planner.solver.scale.neighbourhoods import repair_around, repair_roomy, repair_widely
from planner.solver.scale.repair import repair_all
from planner.solver.scale.shortage import Solve, fill_by_priority
from planner.solver.scale.work import Work

ONE, HALF, ALL = 1 / 12, 1 / 5, 1 / 2
"""Parts of the time left where one program holds all nodes: for a first kernel, for each step of a
search by size, and for all columns at once."""

WHOLE_CELLS, WINDOWS = 100_000, 0.1
"""Up to this many cells one program can hold all nodes, after windows in a part of the time."""

FEW = 16
"""Pods without a node for which all nodes are searched; for more of them it would hardly end."""


def close(fresh: Work, best: Incumbent, solve: Solve, *, small: bool) -> None:
    """Better states and higher bounds; `small` where one program can hold all nodes."""
    improve(fresh, best)
    kernel = _whole(fresh, best) if small and best.open else None
    if kernel is not None:
        kernel.search(best.clock.left * ONE)
    repair_roomy(fresh, best)
    fill_by_priority(fresh, best, solve)
    if small and _few_are_left(best):
        repair_all(fresh, best)
    if kernel is None:
        middle = not small and _cells(fresh) <= WHOLE_CELLS
        _repair(fresh, best, small, WINDOWS if middle else 1.0)
        kernel = _whole(fresh, best) if middle and _worth_repairing(best, small=True) else None
    if kernel is not None:
        _repair_whole(kernel, best)


def _whole(fresh: Work, best: Incumbent) -> Kernel | None:
    return Kernel.of(fresh, best, np.ones(len(fresh.free), np.bool_))


def _cells(fresh: Work) -> int:
    return sum(len(fresh.places.nodes(group)) for group in fresh.tasks)


def _few_are_left(best: Incumbent) -> bool:
    """Whether so few pods wait, all of one priority, that a search for room for them may end."""
    return 0 < sum(best.best.unplaced) <= FEW and len(best.work.problem.priorities) == 1


def _repair(fresh: Work, best: Incumbent, small: bool, share: float) -> None:
    """Windows, and all nodes at once where there are not too many, as long as that helps."""
    repair = partial(repair_part, fresh, best)
    while _worth_repairing(best, small):
        repair_around(best, best.clock.left * share, repair)
        settled = best.best
        repair_widely(best, best.clock.left * share, repair)
        if small:
            repair_all(fresh, best)
        if best.best == settled:
            return


def _repair_whole(kernel: Kernel, best: Incumbent) -> None:
    """Large pods before small ones, then everything that may be better, then a proof."""
    if _worth_repairing(best, small=True):
        kernel.search_by_size(best.clock.left * HALF)
    if _worth_repairing(best, small=True):
        kernel.search_all(best.clock.left * ALL)
    if _to_certify(best):
        certify_moves(kernel, best, best.clock.left)


def _worth_repairing(best: Incumbent, small: bool) -> bool:
    """Who may have a node in a shortage is for the whole model to say, where it can be built."""
    short = small and any(best.best.unplaced)
    return best.open and not best.clock.over and not short


def _to_certify(best: Incumbent) -> bool:
    """Whether this state is complete but for the proof that it needs no fewer moves."""
    unproven = best.best.moves > best.certain.moves
    everybody = all(g in best.work.tasks for g in best.work.problem.groups)
    return unproven and everybody and not best.best.open and not best.clock.over
