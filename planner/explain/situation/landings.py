"""What kube-scheduler makes of an eviction: it chooses the nodes, not planner.

After one eviction two pods wait. Both orders and every tie of the scores are tried; a cordon of the
node that was left keeps the evicted pod from going straight back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from planner.explain.situation.overlay import Overlay, state_under
from planner.explain.situation.subject import Subject
from planner.explain.situation.trial_state import trial_state
from planner.replay.steps import Step
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.taints import Taint

MOST_WAITING = 3
"""Orders of more pods are too many to try."""
MOST_TIES = 40
"""With more equally good nodes only the first ones are tried."""
MOST_ENDS = 400
"""Ways to land that are tried in all."""
CORDON = Taint(key=UNSCHEDULABLE_TAINT, effect="NoSchedule")


@dataclass
class Landings:
    """How many of the ends that were tried have every pod on a node."""

    good: int = 0
    total: int = 0
    complete: bool = True

    @property
    def certain(self) -> bool:
        """Whether every end is good, and none was left out."""
        return self.complete and self.good == self.total


def landings_after(subject: Subject, steps: Sequence[Step], *, cordon: bool) -> Landings | None:
    """Every way the waiting pods can land after the only eviction; None if there are more."""
    evicted = [step for step in steps if step.action == "evict"]
    waiting = [step.pod for step in steps if step.action == "place"]
    if len(evicted) != 1 or len(waiting) > MOST_WAITING:
        return None
    state, scheduler = trial_state(subject)
    if cordon:
        node = cordoned(subject.cluster.nodes[evicted[0].node])
        state = state_under(subject, Overlay(nodes={evicted[0].node: node}))
        state.node_of, state.used = state.node_of.copy(), state.used.copy()
        state.non_zero_used = state.non_zero_used.copy()
        scheduler = Scheduler(state, subject.profile)
    state.remove(evicted[0].pod)
    tried = Landings()
    for order in permutations(waiting):
        _land(state, scheduler, order, tried)
    return tried


def cordoned(node: Node) -> Node:
    """With the taint that a cordon brings."""
    taints = (*node.spec.taints, CORDON)
    return node.replace(spec=node.spec.replace(unschedulable=True, taints=taints))


def _land(
    state: SchedulingState, scheduler: Scheduler, pods: Sequence[int], tried: Landings
) -> None:
    if not pods:
        tried.good += 1
        tried.total += 1
        return
    best = scheduler.evaluate(pods[0]).best.tolist()
    if not best:
        tried.total += 1
        return
    tried.complete &= len(best) <= MOST_TIES
    for node in best[:MOST_TIES]:
        if tried.total >= MOST_ENDS:
            tried.complete = False
            return
        state.place(pods[0], node)
        _land(state, scheduler, pods[1:], tried)
        state.remove(pods[0])
