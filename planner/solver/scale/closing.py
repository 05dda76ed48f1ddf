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

ONE, ALL = 1 / 12, 0.5
"""Parts of the time left where one program holds all nodes: for a kernel, and for all of it."""

WHOLE_CELLS, WINDOWS = 100_000, 0.1
"""Up to this many cells one program can hold all nodes, after windows in a part of the time."""


def close(fresh: Work, best: Incumbent, solve: Solve, *, small: bool) -> None:
    """Better states and higher bounds; `small` where one program can hold all nodes."""
    improve(fresh, best)
    kernel = None
    if small and best.open:
        kernel = Kernel.of(fresh, best, np.ones(len(fresh.free), np.bool_))
    if kernel is not None:
        kernel.search(best.clock.left * ONE)
    repair_roomy(fresh, best)
    fill_by_priority(fresh, best, solve)
    if kernel is None:
        middle = sum(len(fresh.places.nodes(group)) for group in fresh.tasks) <= WHOLE_CELLS
        _repair(fresh, best, small, WINDOWS if middle else 1.0)
        if middle and _worth_repairing(best, small=True):
            kernel = Kernel.of(fresh, best, np.ones(len(fresh.free), np.bool_))
    if kernel is not None:
        _repair_whole(kernel, best)


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
        kernel.search_by_size(best.clock.left * ONE)
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
