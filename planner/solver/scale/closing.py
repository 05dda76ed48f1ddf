"""From a state and a bound that differ to ones that meet: what is tried, and in which order."""

from __future__ import annotations

from functools import partial

from planner.solver.scale.certify import certify_moves
from planner.solver.scale.improve import improve
from planner.solver.scale.incumbent import Incumbent
from planner.solver.scale.kernel import Kernel
from planner.solver.scale.neighbourhoods import repair_around, repair_roomy, repair_widely
from planner.solver.scale.repair import repair_all, repair_part
from planner.solver.scale.shortage import Solve, fill_by_priority
from planner.solver.scale.work import Work

SHARE, WIDELY = 0.2, 0.6
"""Parts of the time left that windows get where all nodes can be repaired at once after them."""


def close(fresh: Work, best: Incumbent, solve: Solve, *, small: bool) -> None:
    """Better states and higher bounds; `small` where one program can hold all nodes."""
    improve(fresh, best)
    kernel = Kernel.of(fresh, best) if small and best.open else None
    if kernel is not None:
        kernel.search()
    repair_roomy(fresh, best)
    fill_by_priority(fresh, best, solve)
    _repair(fresh, best, kernel, small)
    if kernel is not None and _to_certify(best):
        certify_moves(kernel, best)


def _repair(fresh: Work, best: Incumbent, kernel: Kernel | None, small: bool) -> None:
    """Windows, and all nodes at once where there are not too many, as long as that helps."""
    repair = partial(repair_part, fresh, best) if kernel is None else kernel.repair
    before = None
    while _worth_repairing(best, small) and best.best != before:
        before = best.best
        repair_around(best, best.clock.left * (SHARE if small else 1), repair)
        repair_widely(best, best.clock.left * (WIDELY if small else 1), repair)
        if kernel is not None and best.open and not best.best.open:
            kernel.search_all()
        elif small:
            repair_all(fresh, best)


def _worth_repairing(best: Incumbent, small: bool) -> bool:
    """Who may have a node in a shortage is for the whole model to say, where it can be built."""
    short = small and any(best.best.unplaced)
    return best.open and not best.clock.over and not short


def _to_certify(best: Incumbent) -> bool:
    """Whether this state is complete but for the proof that it needs no fewer moves."""
    unproven = best.best.moves > best.certain.moves
    everybody = all(g in best.work.tasks for g in best.work.problem.groups)
    return unproven and everybody and not best.best.open and not best.clock.over
