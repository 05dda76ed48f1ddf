"""Placing by priority where only room decides: walks, refilling, then the exact model if small.

Bounds end the search as soon as one is met. The work of walks is counted in steps and that of
refilling in sets of pods, so that the same problem gives the same packing.
"""

from __future__ import annotations

from dataclasses import replace

from planner.cluster.topology import IntArray
from planner.interrupts import interruptible
from planner.solver.packing.exact import Packed, bounded, decide_packing, still_known
from planner.solver.packing.fullness import one_stays_out
from planner.solver.packing.homing import homeward, relabelled
from planner.solver.packing.refilling import Work, refilled
from planner.solver.packing.settling import alike, settled
from planner.solver.packing.stock import Stock
from planner.solver.packing.walks import Walks
from planner.solver.problem import Problem

EXACT_CELLS = 1_500
"""Up to this many groups times nodes the exact model has a chance."""
REFILL_CELLS = 500_000
"""Up to this many it pays to fill nodes anew."""
QUICK, SETTLE, REFILL, EXACT, LONG = 0.08, 0.2, 0.25, 0.3, 0.15
"""Parts of the time limit: first walks, settling, refilling, the exact model, and last walks.

The last walks are for nodes that differ, or are too many to fill anew.
The exact model leaves `AFTERWARDS` seconds for the plan.
"""
AFTERWARDS = 0.2
PATIENCE = 6
"""Rounds without success after which the first walks end; those after the model go on."""
ATTEMPTS = 4
"""Ways of the same quality that are compared by their moves."""
_WALK_ON = 500
"""Steps for what is left after settling."""
_STEP, _STEP_PER_POD = 4e-5, 1.2e-7
"""About the seconds that a step of a walk takes."""
_SET, _STATE = 3.5e-7, 8e-8
"""About the seconds that refilling and settling take for a set of pods."""
FULLNESS = 0.06
_SUM, _SUMS = 1e-6, 3_000_000
"""The part of the limit, the seconds for a sum and the most sums to see if nodes can be filled."""


def pack(problem: Problem, stock: Stock, limit: float, seed: int) -> Packed:
    """The best packing that was found, with bounds by priority."""
    packed = _tightened(stock, limit, _walked(stock, stock.now, limit * QUICK, seed, PATIENCE))
    same, refill = alike(stock), stock.now.size <= REFILL_CELLS
    if packed.unsettled and same:
        packed = _settled(stock, packed, limit * SETTLE)
    if packed.unsettled and refill:
        packed = _taken(stock, limit, packed, _refilled(stock, packed.counts, limit * REFILL, seed))
    if packed.unsettled and stock.now.size <= EXACT_CELLS:
        share = max(limit * EXACT - AFTERWARDS, limit / 10)
        found = decide_packing(problem, stock, packed, share)
        counts = homeward(stock, relabelled(stock, found.counts))
        spent = packed.spent + found.spent
        packed = _tightened(stock, limit, replace(found, counts=counts, spent=spent))
    if packed.unsettled and not (same and refill):
        longer = _walked(stock, packed.counts, limit * LONG, seed + 1, None)
        packed = _taken(stock, limit, packed, longer)
    return packed


def _taken(stock: Stock, limit: float, packed: Packed, found: Packed) -> Packed:
    """What was found if it places more, with the time of both."""
    spent = packed.spent + found.spent
    if found.placed > packed.placed:
        known = still_known(packed, found.placed)
        packed = bounded(stock, found.counts, known)
        packed = _tightened(stock, limit, replace(packed, spent=spent))
    return replace(packed, spent=max(spent, packed.spent), interrupted=found.interrupted)


def _settled(stock: Stock, packed: Packed, limit: float) -> Packed:
    """Number by number of the first priority that is open; what is found goes on by walks."""
    left, spent = int(limit / _STATE), packed.spent
    while packed.unsettled and left > 0:
        rank = next(i for i, bound in enumerate(packed.bounds) if packed.placed[i] < bound)
        goal = packed.bounds[rank]
        try:
            with interruptible():
                found = settled(stock, packed.placed[:rank], goal, left)
        except KeyboardInterrupt:
            return replace(packed, spent=spent, interrupted=True)
        left -= found.work
        spent += found.work * _STATE
        if found.counts is not None:
            counts = _walked_on(stock, found.counts)
            packed = bounded(stock, counts, still_known(packed, stock.placed(counts)))
        elif found.refuted:
            known = still_known(packed, packed.placed)
            packed = bounded(stock, packed.counts, {**known, rank: goal - 1})
        else:
            break
    return replace(packed, spent=spent)


def _walked_on(stock: Stock, counts: IntArray) -> IntArray:
    """Pods of lower priorities, too, and each as close to where it runs as nodes are alike."""
    walks = Walks(stock, counts, 0)
    walks.round(small_first=True, patient=False, steps=_WALK_ON)
    return homeward(stock, relabelled(stock, walks.counts))


def _refilled(stock: Stock, counts: IntArray, limit: float, seed: int) -> Packed:
    """Nodes filled anew, and then the pods as close to where they run as nodes are alike."""
    work, found, interrupted = Work(int(limit / _SET)), counts, False
    try:
        with interruptible():
            found = refilled(stock, counts, work, seed)
    except KeyboardInterrupt:
        interrupted = True
    if found is not counts:
        found = homeward(stock, relabelled(stock, found))
    return replace(bounded(stock, found), spent=work.done * _SET, interrupted=interrupted)


def _tightened(stock: Stock, limit: float, packed: Packed) -> Packed:
    """Where a single pod is missing of all there are, see whether it has to be."""
    if not packed.unsettled:
        return packed
    rank = next(i for i, bound in enumerate(packed.bounds) if packed.placed[i] < bound)
    everything = stock.placed(stock.total[:, None])
    missing = sum(everything[: rank + 1]) - sum(packed.placed[: rank + 1])
    if missing != 1 or packed.bounds[rank] < everything[rank]:
        return packed
    sums = min(int(limit * FULLNESS / _SUM), _SUMS)
    spent = packed.spent + sums * _SUM
    if not one_stays_out(stock, rank, sums):
        return replace(packed, spent=spent)
    known = {**still_known(packed, packed.placed), rank: packed.placed[rank]}
    return replace(bounded(stock, packed.counts, known), spent=spent)


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
