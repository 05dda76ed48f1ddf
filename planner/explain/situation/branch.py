"""A state of its own to try steps on: pods leave and land, the subject's state stays as it is."""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from planner.explain.situation.subject import Subject
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.changes import ChangeLog
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.volumes.state import VolumeState


def branch(subject: Subject, pods: Iterable[int] = ()) -> tuple[SchedulingState, Scheduler]:
    """A copy of what steps change; everything else is shared.

    `pods` are those that will be placed beside the subject: only pods with claims change anything
    about volumes, and counting those anew takes long in a large cluster.
    """
    state = copy.copy(subject.state)
    state.node_of = state.node_of.copy()
    state.used = state.used.copy()
    state.non_zero_used = state.non_zero_used.copy()
    state.terminating = state.terminating.copy()
    state.log = ChangeLog()
    state.placed_at = {}
    if any(state.volumes.of(state.group(pod)) is not None for pod in (subject.pod, *pods)):
        state.volumes = VolumeState(subject.state.snapshot())
    return state, Scheduler(state, subject.profile)


def feasible_nodes(scheduler: Scheduler, pod: int) -> list[int]:
    """The nodes that take the pod now."""
    found: list[int] = np.asarray(scheduler.evaluate(pod).feasible).tolist()
    return found
