"""Checks what a plan ends with, whatever the way that led there.

Every pod that was placed or moved is judged as if it had been the last to land: the scheduler's
filters look at the final state without it. For spread this is the rule that its landing domain ends
with count <= minimum + maxSkew. A plan whose steps were all legal may still fail here: a later pod
can fill an earlier one's domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.replay.judge import OVERCOMMITTED, refusal
from planner.replay.violations import Violation, violations
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.plugin import Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.scheduler.profile import Profile


@dataclass(frozen=True)
class Landing:
    """A pod that could not be bound where it ends, were it the last one."""

    pod: int
    node: int
    status: Status


@dataclass(frozen=True)
class FinalCheck:
    """What is wrong with a final state, by kind of rule; `remaining` are violations that stay."""

    overcommitted: tuple[int, ...]
    """Nodes with too little room for what landed there, or worse off than before."""
    lost: tuple[int, ...]
    """Pods that ran before and do not any more."""
    refused: tuple[Landing, ...]
    remaining: tuple[Violation, ...]

    @property
    def capacity(self) -> bool:
        """Whether requests fit everywhere."""
        judges = (NodeResourcesFit.name, OVERCOMMITTED)
        return not self.overcommitted and all(
            landing.status.plugin not in judges for landing in self.refused
        )

    @property
    def steady(self) -> bool:
        """Whether no hard rule is broken by any running pod."""
        return not self.remaining

    @property
    def good(self) -> bool:
        """Whether nothing is wrong but what was left as it was."""
        return not (self.overcommitted or self.lost or self.refused)


def check_final(
    before: Cluster, after: Cluster, profile: Profile, *, displaced: Iterable[int] = ()
) -> FinalCheck:
    """Judge the difference between two placements of the same pods."""
    landed = np.flatnonzero((after.node_of != before.node_of) & (after.node_of >= 0))
    lost = np.flatnonzero((before.node_of >= 0) & (after.node_of < 0))
    return FinalCheck(
        overcommitted=_overcommitted(before, after, landed),
        lost=tuple(sorted(set(lost.tolist()) - set(displaced))),
        refused=tuple(_refused(after, landed, profile)),
        remaining=violations(after, profile),
    )


def _overcommitted(before: Cluster, after: Cluster, landed: IntArray) -> tuple[int, ...]:
    """Nodes without room for what landed there; elsewhere it must not get worse than it was."""
    allocatable = after.resources.allocatable
    asked = np.zeros_like(allocatable, dtype=np.bool_)
    np.logical_or.at(
        asked, after.node_of[landed], after.resources.requests[after.group_of[landed]] > 0
    )
    limit = np.where(asked, allocatable, np.maximum(allocatable, before.used))
    return tuple(np.flatnonzero((after.used > limit).any(axis=1)).tolist())


def _refused(after: Cluster, landed: IntArray, profile: Profile) -> Iterator[Landing]:
    """One pod per group and node stands for all of them."""
    state = SchedulingState(after)
    scheduler = Scheduler(state, profile)
    seen: set[tuple[int, int]] = set()
    ordered = landed[np.argsort(after.group_of[landed], kind="stable")]
    groups, nodes = after.group_of[ordered].tolist(), after.node_of[ordered].tolist()
    for pod, group, node in zip(ordered.tolist(), groups, nodes, strict=True):
        cell = (group, node)
        if cell in seen:
            continue
        seen.add(cell)
        state.remove(pod)
        status = refusal(scheduler, pod, node)
        state.place(pod, node)
        if status is not None:
            yield Landing(pod, node, status)
