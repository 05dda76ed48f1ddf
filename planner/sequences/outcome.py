"""A plan that was decided, grouped into waves and checked, before it is written down."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.disruption.budgets import Allowances
from planner.replay import FinalCheck, Verification, Violation, violations
from planner.replay.landings import BrokenLanding, broken_landings
from planner.scheduler.profile import Profile
from planner.sequences.decision import Decision
from planner.sequences.waves import Waves
from planner.solver.problem.problem import Problem


@dataclass(frozen=True)
class Changed:
    """Pods that a plan places, moves, or leaves without a node."""

    placed: tuple[int, ...]
    moved: tuple[int, ...]
    unplaced: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PlanOutcome:
    """Everything that is known of a plan; `judged` is the profile that its steps have to pass."""

    problem: Problem
    profile: Profile
    judged: Profile
    decision: Decision
    waves: Waves
    allowances: Allowances
    steps: Verification
    final: FinalCheck
    while_terminating: bool | None = None

    @property
    def before(self) -> Cluster:
        """The snapshot that the plan starts from."""
        return self.problem.cluster

    @property
    def after(self) -> Cluster:
        """The snapshot that it ends with."""
        return self.steps.after

    @cached_property
    def violations_before(self) -> tuple[Violation, ...]:
        """What running pods break now."""
        return violations(self.before, self.profile)

    @cached_property
    def changed(self) -> Changed:
        """Pods by what becomes of them, in the order of the input."""
        before, after = self.before.node_of, self.after.node_of
        waiting = np.array(self.waiting, np.int64)
        return Changed(
            placed=tuple(waiting[after[waiting] >= 0].tolist()),
            moved=tuple(np.flatnonzero((before >= 0) & (after >= 0) & (before != after)).tolist()),
            unplaced=tuple(waiting[after[waiting] < 0].tolist()),
        )

    @cached_property
    def displaced(self) -> tuple[int, ...]:
        """Running pods that have no node in the end."""
        lost = (self.before.node_of >= 0) & (self.after.node_of < 0)
        return tuple(np.flatnonzero(lost).tolist())

    @cached_property
    def waiting(self) -> tuple[int, ...]:
        """The pods that waited for a node, in the order of the input."""
        return tuple(sorted(pod for pods in self.problem.waiting.values() for pod in pods))

    @cached_property
    def broken(self) -> tuple[BrokenLanding, ...]:
        """What a relaxed plan breaks by itself."""
        if not self.problem.options.relax:
            return ()
        return tuple(broken_landings(self.before, self.after))
