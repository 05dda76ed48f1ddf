"""Makes room for one waiting pod after the other by evicting few pods that find another node.

The plan that an administrator would try first: each waiting pod goes where it fits; where it fits
nowhere, one running pod (or a few of one node) moves to another node that takes it at once, if need
be in the place of a third pod, and the waiting pod gets its place. Every step passes the
scheduler's filters when it is taken, and no pod moves twice. Nothing is proven: it is what any
better plan has to beat, found in little time; where a user waits no longer, for the pods so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.replay import check_steps
from planner.replay.judge import refusal
from planner.replay.steps import Step
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.open_room import OpenRoom
from planner.solver.problem.moves import move_weights
from planner.solver.problem.problem import Problem

TRIALS = 100
"""So many evictions with enough room are tried for a waiting pod: other rules may refuse each."""
NEXT_TRIALS = 20
"""The same where the evicted pod takes the place of a third one, which finds another node."""
NODES, FEW = 60, 4
"""Where one eviction is not enough: so many nodes are tried, and evictions on each of them."""


_Nodes = frozenset[int]
_Home = Callable[[int, _Nodes], bool]
"""A way to bring an evicted pod to another node than these; False if there is none."""


def few_evictions_each(
    problem: Problem,
    profile: Profile,
    allowances: Allowances,
    begun: Sequence[Step] = (),
    smallest_first: Sequence[bool] = (False, True),
    grace: float = 0.0,
    exchanges: float = math.inf,
) -> Iterator[tuple[Step, ...]]:
    """Steps after those that are begun, with no more moves than the options allow in all.

    In the order of the queue, and with the smallest pods of each priority first. Either may place
    more. No budget that allows nothing is asked for an eviction. So many seconds after a user waits
    no longer, or after so many `exchanges` that were looked at, the rest of the pods is not.
    """
    start = check_steps(problem.cluster, begun, profile).after if begun else problem.cluster
    waiting = (pod for pods in problem.waiting.values() for pod in pods)
    queue = sorted(pod for pod in waiting if start.node_of[pod] < 0)
    moved = {step.pod for step in begun if step.evicts}
    may_move = [pod for pod in _evictable(problem, allowances) if pod not in moved]
    most = problem.options.max_moves
    moves = len(may_move) if most is None else most - len(moved)
    for smallest in smallest_first:
        planned = _FewEvictionsEach(problem, SchedulingState(start), profile, may_move, moves)
        pods = planned.smallest_first(queue) if smallest else queue
        steps = planned.run(pods, problem.options.until + grace, exchanges)
        yield (*begun, *steps)


class _FewEvictionsEach:
    """The state after the steps so far, and the pods that have not moved yet."""

    def __init__(
        self,
        problem: Problem,
        state: SchedulingState,
        profile: Profile,
        may_move: Sequence[int],
        moves: int,
    ) -> None:
        self._problem = problem
        self._group_of = problem.cluster.group_of
        self._state = state
        self._scheduler = Scheduler(state, profile)
        self._room = OpenRoom(problem, state)
        self._steps: list[Step] = []
        self._moves_left = moves
        self._may_move = self._by_preference(may_move)
        self._moved = np.zeros(len(problem.cluster.pods), np.bool_)
        self._exchanges = 0

    def smallest_first(self, pods: Sequence[int]) -> list[int]:
        """The pods by what they ask for."""
        order = self._room.smallest_first(self._problem.requests[self._group_of[pods]])
        return [pods[i] for i in order.tolist()]

    def _by_preference(self, pods: Sequence[int]) -> IntArray:
        """The cheapest and then the smallest first: these find another node most easily."""
        weights = move_weights(self._problem)
        smallest = self.smallest_first(pods)
        smallest.sort(key=lambda pod: weights[int(self._group_of[pod])])
        return np.array(smallest, np.int64)

    def run(self, pods: Iterable[int], until: float, exchanges: float) -> tuple[Step, ...]:
        """By priority; who is like a pod that found nothing is not tried."""
        cluster, hopeless = self._problem.cluster, set[int]()
        for pod in sorted(pods, key=lambda each: -cluster.pods[each].priority):
            if time.monotonic() >= until or self._exchanges >= exchanges:
                break
            group = int(self._group_of[pod])
            if group not in hopeless and not self._settle(pod):
                hopeless.add(group)
        return tuple(self._steps)

    def _settle(self, pod: int) -> bool:
        """Whether the pod has a node now, at the cost of few evictions."""
        if self._place(pod, frozenset()):
            return True
        ways = chain(islice(self._one(pod), TRIALS), self._few(pod))
        return any(
            self._exchange(pod, node, leaving, self._place) for node, leaving in ways
        ) or any(
            self._exchange(pod, node, leaving, self._replace)
            for node, leaving in islice(self._one(pod, homeless=True), NEXT_TRIALS)
        )

    # Who could leave which node

    def _one(
        self, pod: int, but: _Nodes = frozenset(), *, homeless: bool = False
    ) -> Iterator[tuple[int, list[int]]]:
        """Pods whose place is large enough, with their node, if others have room for them.

        Or, `homeless`, if no other has: these may take the place of a third pod.
        """
        lacking = self._room.lacking(int(self._group_of[pod]))
        may_move = self._may_move[~self._moved[self._may_move]]
        nodes = self._state.node_of[may_move]
        gives = self._problem.requests[self._group_of[may_move]]
        reachable = self._reachable(pod)
        reachable[list(but)] = False
        enough = reachable[nodes] & (gives >= lacking[nodes]).all(axis=1)
        for other, node in zip(may_move[enough].tolist(), nodes[enough].tolist(), strict=True):
            if self._room.elsewhere(int(self._group_of[other]), node) != homeless:
                yield node, [other]

    def _few(self, pod: int) -> Iterator[tuple[int, list[int]]]:
        """Several pods of one node, on the nodes where least is lacking."""
        lacking = np.maximum(self._room.lacking(int(self._group_of[pod])), 0)
        nodes = np.flatnonzero(self._reachable(pod) & lacking.any(axis=1))
        nearest = nodes[self._room.smallest_first(lacking[nodes])]
        for node in nearest[:NODES].tolist():
            leaving = self._cover(node, lacking[node])
            if 1 < len(leaving) <= self._moves_left:
                yield node, leaving

    def _cover(self, node: int, lacking: IntArray) -> list[int]:
        """Pods of the node that free what is lacking, the largest part first; [] if few can't."""
        there = self._may_move[self._state.node_of[self._may_move] == node].tolist()
        there = [pod for pod in there if not self._moved[pod]]
        others = [p for p in there if self._room.elsewhere(int(self._group_of[p]), node)]
        found: list[int] = []
        while lacking.any() and others and len(found) < FEW:
            gives = self._problem.requests[self._group_of[others]]
            largest = int(self._room.smallest_first(-np.minimum(gives, lacking))[0])
            found.append(others.pop(largest))
            lacking = np.maximum(lacking - gives[largest], 0)
        return [] if lacking.any() else found

    def _reachable(self, pod: int) -> BoolArray:
        """Nodes that no rule about the node alone refuses."""
        cycle = self._scheduler.cycle(pod)
        found: BoolArray = ~cycle.never
        if cycle.rejection is not None:
            found[:] = False
        elif cycle.limit is not None:
            known = np.zeros_like(found)
            known[cycle.limit.known(self._problem.cluster.node_index)] = True
            found &= known
        return found

    # Steps

    def _exchange(
        self, pod: int, node: int, leaving: Sequence[int], home: _Home, but: _Nodes = frozenset()
    ) -> bool:
        """Find the others a home and place this one; if a filter refuses, nothing happens."""
        self._exchanges += 1
        mark, found = len(self._steps), len(leaving) <= self._moves_left
        for other in leaving:
            if not found:
                break
            self._take(Step.evict(other, node))
            found = home(other, but | {node})
        if found and refusal(self._scheduler, pod, node) is None:
            self._take(Step.place(pod, node))
            return True
        self._undo(mark)
        return False

    def _place(self, pod: int, but: _Nodes) -> bool:
        """Put the pod on another node that has room."""
        node = self._tightest(pod, but)
        if node is not None:
            self._take(Step.place(pod, node))
        return node is not None

    def _replace(self, pod: int, but: _Nodes) -> bool:
        """Give the pod the place of a third one that finds room elsewhere."""
        return any(
            self._exchange(pod, node, leaving, self._place, but)
            for node, leaving in islice(self._one(pod, but), NEXT_TRIALS)
        )

    def _tightest(self, pod: int, but: _Nodes) -> int | None:
        """The node that takes the pod now and has least room left: large room stays whole."""
        room = self._room.open(int(self._group_of[pod]))
        if not room.any():
            return None
        feasible = self._scheduler.evaluate(pod).feasible
        feasible = feasible[room[feasible]]
        if but:
            feasible = feasible[~np.isin(feasible, list(but))]
        return self._room.tightest(feasible) if len(feasible) else None

    def _take(self, step: Step) -> None:
        self._steps.append(step)
        if step.action == "evict":
            self._state.remove(step.pod)
            self._moved[step.pod] = True
            self._moves_left -= 1
        else:
            self._state.place(step.pod, step.node)
        self._room.changed(step.node)

    def _undo(self, mark: int) -> None:
        """As if the steps from the mark on had not been taken."""
        while len(self._steps) > mark:
            step = self._steps.pop()
            if step.action == "evict":
                self._state.place(step.pod, step.node)
                self._moved[step.pod] = False
                self._moves_left += 1
            else:
                self._state.remove(step.pod)
            self._room.changed(step.node)


def _evictable(problem: Problem, allowances: Allowances) -> list[int]:
    """Movable pods that come back, and that the Eviction API lets go."""
    return sorted(
        pod
        for (group, _), pods in problem.movable.items()
        if group not in problem.no_return
        for pod in pods
        if allowances.refusal(pod) is None
    )
