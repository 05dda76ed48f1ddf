"""Pods by priority, one at a time, each where the fewest others have to leave for it.

What a plan reaches at least, however little time there is: first whatever fits as things are, as
kube-scheduler would have it, then pod by pod what makes others move. A pod for which these find no
room again is passed over, and everything is as it was before. Whoever has a lower priority comes
later, so that nobody who is more important does without a node for them.
"""

from __future__ import annotations

from collections import Counter

from planner.solver import tuning
from planner.solver.large.construct import in_hand, level_out
from planner.solver.large.greedy import active, land_all
from planner.solver.large.make_room import Table, place_one
from planner.solver.large.state import State


def one_at_a_time(fresh: State) -> State | None:
    """A state without stranded pods; None where few pods would be more work than is worth it."""
    most = tuning.ONE_AT_A_TIME // max(1, len(fresh.tasks))
    if most < tuning.FEWEST_AT_A_TIME:
        return None
    state, table = fresh.copy(), Table.of(fresh)
    waiting = [task for task in fresh.tasks.values() if task.waiting]
    for priority in sorted({task.priority for task in waiting}, reverse=True):
        for task in state.tasks.values():
            if task.priority == priority:
                task.hand += task.waiting
        for task in in_hand(state):
            land_all(state, task, "pack")
        for group in [task.group for task in in_hand(state)]:
            while state.tasks[group].hand and most > 0:
                most -= 1
                after = _with_one_more(state, table, group)
                if after is None:
                    break
                state = after
    for task in active(state):
        level_out(state, task)
    return state


def _with_one_more(state: State, table: Table, group: int) -> State | None:
    """With one more pod of the group on a node, and all that left for it on others.

    None if these find no room, or if they would drive off more and more in their turn.
    """
    found = state.copy()
    aside = Counter({task.group: task.hand for task in found.tasks.values() if task.hand})
    aside[group] -= 1
    for other in aside:
        found.tasks[other].hand = 0
    found.tasks[group].hand = 1
    most = tuning.MOST_EVICTIONS_IN_TURN
    least = int(found.left.sum()) - tuning.MOST_EVICTIONS_IN_A_CHAIN
    while homeless := in_hand(found):
        for task in homeless:
            land_all(found, task, "pack")
            while task.hand and place_one(found, table, task, most):
                pass
            if task.hand or int(found.left.sum()) < least:
                return None
    for other, pods in aside.items():
        found.tasks[other].hand += pods
    return found
