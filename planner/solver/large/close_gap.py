"""Where value and bound differ: what is tried to make them meet, and in which order."""

from __future__ import annotations

import numpy as np

from planner.solver import tuning
from planner.solver.large.certify import certify_moves
from planner.solver.large.column_generation import improve
from planner.solver.large.incumbent import Incumbent
from planner.solver.large.kernel_search import ANY, Kernel
from planner.solver.large.neighbourhoods import repair_around, repair_roomy
from planner.solver.large.prices import Priced
from planner.solver.large.room_shortage import rearrange
from planner.solver.large.ruled_out import ruled_out
from planner.solver.large.shortage import Solve, fill_by_priority, only_room
from planner.solver.large.state import State
from planner.solver.problem.problem import Cell


def close(fresh: State, best: Incumbent, solve: Solve, *, small: bool) -> None:
    """Better states and higher bounds; `small` where one program can hold all nodes.

    Of what is left when a user has waited long enough, only a state for a shortage is made.
    """
    if any(best.best.unplaced) and only_room(fresh):
        rearrange(fresh, best)
        if any(best.best.unplaced):
            return
    prices = None if best.clock.late else improve(fresh, best)
    if small:
        _decide_by_prices(fresh, best, prices)
    kernel = _whole(fresh, best) if small and best.open and not best.clock.late else None
    if kernel is not None:
        kernel.search(best.clock.left * tuning.FIRST_KERNEL_SHARE)
    if not best.clock.late:
        repair_roomy(fresh, best)
    fill_by_priority(fresh, best, solve)
    if kernel is None:
        middle = not small and _cells(fresh) <= tuning.WINDOWS_FIRST_CELLS
        if _worth_repairing(best, small):
            share = tuning.WINDOWS_SHARE if middle else 1.0
            repair_around(fresh, best, best.clock.left * share)
        if middle:
            _decide_by_prices(fresh, best, prices)
        kernel = (
            _whole(fresh, best, None) if middle and _worth_repairing(best, small=True) else None
        )
    if kernel is not None:
        _repair_whole(kernel, best)


def _decide_by_prices(fresh: State, best: Incumbent, prices: Priced | None) -> None:
    """Whether the bound of prices can be met, over what they leave of all nodes.

    Once the bound is above theirs, they rule out too little to be of use.
    """
    open_yet = best.open and not best.clock.late
    if prices is None or not open_yet or best.certain.moves > prices.moves:
        return
    shut = ruled_out(fresh, prices, prices.moves)
    kernel = _whole(fresh, best, prices, prices.moves, shut)
    if kernel is not None:
        kernel.search_at_most(best.clock.left * tuning.PRICED_SEARCH_SHARE)
        if _to_certify(best):
            certify_moves(kernel, best, best.clock.left * tuning.PRICED_PROOF_SHARE)


def _whole(
    fresh: State,
    best: Incumbent,
    prices: Priced | None = None,
    most: int = ANY,
    shut: frozenset[Cell] = frozenset(),
) -> Kernel | None:
    everywhere = np.ones(len(fresh.free), np.bool_)
    return Kernel.of(fresh, best, everywhere, prices, most, shut)


def _cells(fresh: State) -> int:
    return sum(len(fresh.places.nodes(group)) for group in fresh.tasks)


def _repair_whole(kernel: Kernel, best: Incumbent) -> None:
    """Large pods before small ones, then everything that may be better, then a proof."""
    if _worth_repairing(best, small=True):
        kernel.search_by_size(best.clock.left * tuning.BY_SIZE_SHARE)
    if _worth_repairing(best, small=True):
        kernel.search_all(best.clock.left * tuning.ALL_COLUMNS_SHARE)
    if _to_certify(best):
        certify_moves(kernel, best, best.clock.left)


def _worth_repairing(best: Incumbent, small: bool) -> bool:
    """Who may have a node in a shortage is for the whole model to say, where it can be built."""
    short = small and any(best.best.unplaced)
    return best.open and not best.clock.over and not short


def _to_certify(best: Incumbent) -> bool:
    """Whether this state is complete but for the proof that it needs no fewer moves."""
    unproven = best.best.moves > best.certain.moves
    everybody = all(g in best.state.tasks for g in best.state.problem.groups)
    return unproven and everybody and not best.best.open and not best.clock.over
