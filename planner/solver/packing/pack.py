"""Placing by priority where only room decides: walks, then bounds, then the exact model if small.

The work of walks is counted in steps, so that the same problem gives the same packing.
"""

from __future__ import annotations

from dataclasses import replace

from planner.cluster.topology import IntArray
from planner.solver.interrupts import interruptible
from planner.solver.packing.exact import Packed, bounded, decide_packing
from planner.solver.packing.fullness import one_stays_out
from planner.solver.packing.homing import homeward, relabelled
from planner.solver.packing.stock import Stock
from planner.solver.packing.walks import Walks
from planner.solver.problem import Problem

EXACT_CELLS = 1_500
"""Up to this many groups times nodes the exact model has a chance."""
QUICK, EXACT, LONG, ALONE = 0.08, 0.4, 0.1, 0.45
"""Parts of the time limit: for first walks, for the exact model, and for walks after it or instead.

The exact model and walks that nothing follows leave `AFTERWARDS` seconds for the plan.
"""
AFTERWARDS = 0.2
PATIENCE = 6
"""Rounds without success after which the first walks end; those after the model go on."""
ATTEMPTS = 4
"""Ways of the same quality that are compared by their moves."""
_STEP, _STEP_PER_POD = 4e-5, 1.2e-7
"""About the seconds that a step of a walk takes."""
_FULLNESS = 0.1
"""About the seconds that it takes to see whether nodes can be filled."""


def pack(problem: Problem, stock: Stock, limit: float, seed: int) -> Packed:
    """The best packing that was found, with bounds by priority."""
    packed = _tightened(stock, _walked(stock, stock.now, limit * QUICK, seed, PATIENCE))
    if not packed.unsettled:
        return packed
    if stock.now.size <= EXACT_CELLS:
        found = decide_packing(problem, stock, packed, _share(limit, EXACT))
        counts = homeward(stock, relabelled(stock, found.counts))
        spent = packed.spent + found.spent
        packed = _tightened(stock, replace(found, counts=counts, spent=spent))
    if packed.unsettled:
        share = limit * LONG if stock.now.size <= EXACT_CELLS else _share(limit, ALONE)
        longer = _walked(stock, packed.counts, share, seed + 1, None)
        spent = packed.spent + longer.spent
        better = longer.placed > packed.placed
        chosen = _tightened(stock, replace(longer, spent=spent)) if better else packed
        packed = replace(chosen, spent=max(chosen.spent, spent), interrupted=longer.interrupted)
    return packed


def _share(limit: float, part: float) -> float:
    return max(limit * part - AFTERWARDS, limit / 10)


def _tightened(stock: Stock, packed: Packed) -> Packed:
    """Where a single pod is missing of all there are, see whether it has to be."""
    if not packed.unsettled:
        return packed
    rank = next(i for i, bound in enumerate(packed.bounds) if packed.placed[i] < bound)
    everything = stock.placed(stock.total[:, None])
    missing = sum(everything[: rank + 1]) - sum(packed.placed[: rank + 1])
    if missing != 1 or packed.bounds[rank] < everything[rank]:
        return packed
    spent = packed.spent + _FULLNESS
    if not one_stays_out(stock, rank):
        return replace(packed, spent=spent)
    known = bounded(stock, packed.counts, {rank: packed.placed[rank]})
    return replace(known, spent=spent)


def _walked(
    stock: Stock, counts: IntArray, limit: float, seed: int, patience: int | None
) -> Packed:
    """Walks from a packing on, until everything has a node or the time is over."""
    each = _STEP + _STEP_PER_POD * int(stock.total.sum())
    steps = max(200, int(limit / each))
    best, done, interrupted = bounded(stock, counts), 0, False
    try:
        with interruptible():
            for attempt in range(ATTEMPTS):
                found, taken = _one_attempt(stock, counts, seed + attempt, steps - done, patience)
                done += taken
                best = _better(stock, best, bounded(stock, homeward(stock, found)))
                if done >= steps:
                    break
    except KeyboardInterrupt:
        interrupted = True
    return replace(best, spent=done * each, interrupted=interrupted)


def _one_attempt(
    stock: Stock, counts: IntArray, seed: int, steps: int, patience: int | None
) -> tuple[IntArray, int]:
    """The best packing of some rounds of walks, and how many steps they took."""
    walks = Walks(stock, counts, seed)
    best, placed, number, last = counts, stock.placed(counts), 0, 0
    while walks.steps < steps and not walks.complete:
        if patience is not None and number - last > patience:
            break
        left = steps - walks.steps
        walks.round(small_first=number % 2 == 1, patient=number > 0, steps=left)
        found = walks.counts
        if stock.placed(found) > placed:
            best, placed, last = found, stock.placed(found), number
            if bounded(stock, best).proven:
                break
        number += 1
        if number > 3:
            walks.shake()
    return best, walks.steps


def _better(stock: Stock, one: Packed, other: Packed) -> Packed:
    """More pods by priority, then fewer moves."""
    return max(one, other, key=lambda each: (each.placed, -stock.moves(each.counts)))
