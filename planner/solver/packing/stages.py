"""Placing by priority where only room decides.

Walks, proofs that so many pods don't fit, identical nodes, sets that fill a node, sets that waste
little, refilling, a proof that one pod stays out, longer walks, and where nodes differ windows of
nodes.

Bounds end the search as soon as one is met. The work of walks is counted in steps and that of
refilling in sets of pods, so that the same problem gives the same packing.
"""

from __future__ import annotations

from dataclasses import replace

from planner.cluster.topology import IntArray
from planner.interrupts import interruptible
from planner.solver import tuning
from planner.solver.model.memory import give_back
from planner.solver.packing.by_sets import Best, BySets
from planner.solver.packing.choose_pods import none_fits
from planner.solver.packing.close_sets import CloseSets
from planner.solver.packing.exchanges import ExchangeWalks
from planner.solver.packing.fewer_moves import homeward, relabelled
from planner.solver.packing.full_nodes import one_stays_out
from planner.solver.packing.identical_nodes import alike, settled
from planner.solver.packing.question import Stock
from planner.solver.packing.refill import Work, refilled
from planner.solver.packing.room_bounds import Packed, bounded, still_known
from planner.solver.packing.sparse_nodes import too_many
from planner.solver.problem.options import SolveOptions


def pack(stock: Stock, options: SolveOptions) -> Packed:
    """The best packing that was found, with bounds by priority."""
    limit, seed = options.time_limit, options.seed
    same, size = alike(stock), stock.now.size
    if not same and tuning.PACKING_MODEL_CELLS < size <= tuning.REARRANGED_CELLS:
        share = limit * tuning.REARRANGING_SHARE - tuning.PLAN_RESERVE
        until = options.until - (limit - share)
        # MathOpt takes half a second to import.
        from planner.solver.packing.proven_windows import rearranged

        return rearranged(stock, bounded(stock, stock.now), share, seed, until)
    first = _walked(stock, stock.now, limit * tuning.WALK_SHARE, seed, tuning.WALK_PATIENCE)
    packed = _tightened(stock, first, limit * tuning.FULL_NODES_SHARE)
    if packed.unsettled and same:
        give_back()
        packed = _refuted(stock, packed, limit * tuning.SPARSE_SHARE)
        give_back()
    refill = size <= tuning.REFILL_CELLS
    few = len(stock.room) <= tuning.LAST_NODES[-1]
    if packed.unsettled and same and few:
        packed = _settled(stock, packed, limit * tuning.IDENTICAL_SHARE)
    abound = False
    if packed.unsettled and same:
        packed, abound = _by_sets(stock, packed, _share(packed, limit, tuning.SETS_SHARE))
        give_back()
    if packed.unsettled and abound and not few:
        packed = _by_close_sets(stock, packed, _share(packed, limit, tuning.CLOSE_SHARE))
    if packed.unsettled and refill:
        part = tuning.ALIKE_REFILL_SHARE if same else tuning.REFILL_SHARE
        share = _share(packed, limit, part)
        before = packed.placed
        packed = _taken(stock, limit, packed, _refilled(stock, packed, share, seed))
        if packed.unsettled and same and not abound and packed.placed > before:
            packed, _ = _by_sets(stock, packed, _share(packed, limit, tuning.SETS_SHARE))
    if packed.unsettled and same and not few:
        packed = _settled(stock, packed, _share(packed, limit, tuning.IDENTICAL_SHARE))
    packed = _tightened(stock, packed, _share(packed, limit, tuning.LAST_FULL_NODES_SHARE))
    if packed.unsettled and not (same and refill):
        longer = _walked(stock, packed.counts, limit * tuning.LAST_WALK_SHARE, seed + 1, None)
        packed = _taken(stock, limit, packed, longer)
    return packed


def _share(packed: Packed, limit: float, share: float) -> float:
    """A share of the limit, as far as it is not spent."""
    return min(limit * share, max(0.0, limit * tuning.PACKING_SHARE - packed.spent))


def _taken(stock: Stock, limit: float, packed: Packed, found: Packed) -> Packed:
    """What was found if it places more, with the time of both."""
    spent = packed.spent + found.spent
    if found.placed > packed.placed:
        known = still_known(packed, found.placed)
        packed = bounded(stock, found.counts, known)
        packed = _tightened(stock, replace(packed, spent=spent), limit * tuning.FULL_NODES_SHARE)
    return replace(packed, spent=max(spent, packed.spent), interrupted=found.interrupted)


def _by_sets(stock: Stock, packed: Packed, limit: float) -> tuple[Packed, bool]:
    """Priority by priority what sets that fill a node say; what is found goes on by walks.

    And whether there are too many sets for that.
    """
    sets, before = BySets(stock), packed.spent
    while packed.unsettled and sets.seconds < limit:
        rank = packed.open_rank
        try:
            with interruptible():
                found = sets.best(
                    packed.placed[:rank], packed.placed[rank], packed.bounds[rank], limit
                )
        except KeyboardInterrupt:
            return replace(packed, spent=before + sets.seconds, interrupted=True), False
        counts = packed.counts if found.counts is None else _walked_on(stock, found.counts)
        known = {**still_known(packed, stock.placed(counts)), rank: found.most}
        packed = bounded(stock, counts, known)
        if packed.placed[rank] < found.most:
            break
    return replace(packed, spent=before + sets.seconds), sets.abound


def _by_close_sets(stock: Stock, packed: Packed, limit: float) -> Packed:
    """Of the first priority that is open as many as sets that waste little lead to, and no more."""
    sets, before = CloseSets(stock), packed.spent
    while packed.unsettled and sets.seconds < limit:
        rank = packed.open_rank
        try:
            with interruptible():
                found = _most_by_close_sets(sets, packed, limit)
        except KeyboardInterrupt:
            return replace(packed, spent=before + sets.seconds, interrupted=True)
        counts = packed.counts if found.counts is None else _walked_on(stock, found.counts)
        known = {**still_known(packed, stock.placed(counts)), rank: found.most}
        packed = bounded(stock, counts, known)
        if packed.placed[rank] < found.most:
            break
    return replace(packed, spent=before + sets.seconds)


def _most_by_close_sets(sets: CloseSets, packed: Packed, limit: float) -> Best:
    """Number by number of the first priority that is open, from the most downwards."""
    rank = packed.open_rank
    above, most = packed.placed[:rank], packed.bounds[rank]
    for goal in range(packed.bounds[rank], packed.placed[rank], -1):
        left = limit - sets.seconds
        if left <= 0:
            break
        found = sets.decide((*above, goal), left)
        most = goal - 1 if found.refuted else most
        if found.counts is not None:
            return Best(found.counts, most)
    return Best(None, most)


def _settled(stock: Stock, packed: Packed, limit: float) -> Packed:
    """Number by number of the first priority that is open; what is found goes on by walks."""
    left, spent = int(limit / tuning.REMAINDER_SECONDS), packed.spent
    while packed.unsettled and left > 0:
        rank = packed.open_rank
        goal = packed.bounds[rank]
        try:
            with interruptible():
                found = settled(stock, packed.placed[:rank], goal, left)
        except KeyboardInterrupt:
            return replace(packed, spent=spent, interrupted=True)
        left -= found.work
        spent += found.work * tuning.REMAINDER_SECONDS
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
    walks = ExchangeWalks(stock, counts, 0)
    walks.round(small_first=True, patient=False, steps=tuning.WALK_ON_STEPS)
    return homeward(stock, relabelled(stock, walks.counts))


def _refilled(stock: Stock, packed: Packed, limit: float, seed: int) -> Packed:
    """Nodes filled anew, and then the pods as close to where they run as nodes are alike."""
    work, found, interrupted = Work(int(limit / tuning.SET_SECONDS)), packed.counts, False
    try:
        with interruptible():
            found = refilled(stock, packed, work, seed)
    except KeyboardInterrupt:
        interrupted = True
    if found is not packed.counts:
        found = homeward(stock, relabelled(stock, found))
    return replace(
        bounded(stock, found), spent=work.done * tuning.SET_SECONDS, interrupted=interrupted
    )


def _tightened(stock: Stock, packed: Packed, limit: float) -> Packed:
    """Where a single pod is missing of all there are, see whether it has to be."""
    if not packed.unsettled:
        return packed
    rank = packed.open_rank
    everything = stock.placed(stock.total[:, None])
    missing = sum(everything[: rank + 1]) - sum(packed.placed[: rank + 1])
    if missing != 1 or packed.bounds[rank] < everything[rank]:
        return packed
    sums = min(int(limit / tuning.SUM_SECONDS), tuning.MOST_SUMS)
    spent = packed.spent + sums * tuning.SUM_SECONDS
    if not one_stays_out(stock, rank, sums):
        return replace(packed, spent=spent)
    known = {**still_known(packed, packed.placed), rank: packed.placed[rank]}
    return replace(bounded(stock, packed.counts, known), spent=spent)


def _refuted(stock: Stock, packed: Packed, limit: float) -> Packed:
    """Fewer pods of the first priority that is open, where no so many pods fit in all the room.

    Or where nodes with few of them would waste too much. What is out of reach, no later step tries.
    """
    spent, until = packed.spent, packed.spent + limit
    while packed.unsettled and spent < until:
        rank = packed.open_rank
        goals = (*packed.placed[:rank], packed.bounds[rank])
        spent += tuning.CHOICE_GROUP_SECONDS * len(stock.groups)
        certain = none_fits(stock, goals)
        if not certain:
            found = too_many(stock, goals, int((until - spent) / tuning.HALF_SECONDS))
            certain = found.certain
            spent += found.work * tuning.HALF_SECONDS
        if not certain:
            break
        known = {**still_known(packed, packed.placed), rank: goals[rank] - 1}
        packed = bounded(stock, packed.counts, known)
    return replace(packed, spent=spent)


def _walked(
    stock: Stock, counts: IntArray, limit: float, seed: int, patience: int | None
) -> Packed:
    """ExchangeWalks from a packing on, until everything has a node or the time is over."""
    each = tuning.STEP_SECONDS + tuning.STEP_POD_SECONDS * int(stock.total.sum())
    steps = max(200, int(limit / each))
    best, done, interrupted = bounded(stock, counts), 0, False
    try:
        with interruptible():
            for attempt in range(tuning.WALK_ATTEMPTS):
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
    walks = ExchangeWalks(stock, counts, seed)
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
