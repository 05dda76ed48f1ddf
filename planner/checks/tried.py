"""Trying the samples of a workload: where the first goes, and where the second may go then."""

from __future__ import annotations

from dataclasses import dataclass

from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster.topology import IntArray


@dataclass(frozen=True, eq=False)
class SecondPod:
    """The node of the first pod, and the nodes that then pass for a second one like it."""

    first: int
    passing: IntArray


def second_pod(subject: Subject, workload: CheckedWorkload) -> SecondPod | None:
    """None if not even the first pod finds a node."""
    from planner.scheduler.cycle import Scheduler
    from planner.scheduler.framework.state import SchedulingState

    state = SchedulingState(subject.samples)
    scheduler = Scheduler(state, subject.profile)
    sample = subject.sample_index(workload)
    best = scheduler.evaluate(sample).best
    if not len(best):
        return None
    first = int(best[0])
    state.place(sample, first)
    return SecondPod(first, scheduler.evaluate(sample + 1).feasible)
