"""What kube-scheduler places one pod after the other: by priority, then in the order given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.cluster.node_rules import BoolArray
from planner.disruption.movability import Movability, MovePolicy
from planner.explain.situation.branch import branch
from planner.explain.situation.places import Places
from planner.explain.situation.subject import Subject
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.changes import ChangeLog
from planner.scheduler.framework.state import SchedulingState


@dataclass(frozen=True, eq=False)
class Turn:
    """Pods with their nodes, and those that found none; `state` is how things are then."""

    placed: Mapping[int, int]
    left: tuple[int, ...]
    state: SchedulingState

    def subject(self, before: Subject) -> Subject:
        """The first pod that is left over, before the cluster as it is then."""
        cluster = before.cluster.with_placement(self.placed)
        self.state.cluster = cluster
        self.state.log = ChangeLog()
        scheduler = Scheduler(self.state, before.profile)
        movable = {policy: self._with_placed(p, policy) for policy, p in before.movable.items()}
        places = Places(cluster)
        return Subject(self.state, before.profile, scheduler, places, self.left[0], movable)

    def _with_placed(self, before: BoolArray, policy: MovePolicy) -> BoolArray:
        """Who may be evicted, those that were just placed included."""
        movable, movability = before.copy(), Movability(self.state.cluster, policy)
        for pod in self.placed:
            movable[pod] = movability.why(pod) is None
        return movable


def place_in_turn(subject: Subject, pods: Sequence[int]) -> Turn:
    """Ties go to the first node by name; the subject's own state stays as it is."""
    state, scheduler = branch(subject, pods)
    placed: dict[int, int] = {}
    left: list[int] = []
    for pod in sorted(pods, key=lambda pod: -subject.cluster.pods[pod].priority):
        best = scheduler.evaluate(pod).best
        if len(best):
            placed[pod] = int(best[0])
            state.place(pod, placed[pod])
        else:
            left.append(pod)
    return Turn(placed, tuple(left), state)
