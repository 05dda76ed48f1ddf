"""Plans that drive nobody off, as far as they were tried, and how they were found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.cluster.topology import IntArray
from planner.replay.steps import Step
from planner.sequences.candidate import Candidate
from planner.sequences.draft import Draft
from planner.sequences.value import levels
from planner.sequences.waves import Waves
from planner.solver.problem.moves import move_weights
from planner.solver.problem.problem import Problem

ROUND_SECONDS = 0.5
"""What the first further plans get, whatever the limit: more time finds what less would, too. Later
ones get twice as much each time."""


@dataclass(eq=False)
class Series:
    """Plans made one after the other, each without the evictions that made trouble before."""

    spared: frozenset[int]
    seconds: float = ROUND_SECONDS
    reasons: dict[int, str] = field(default_factory=dict)
    trying: float = math.inf
    """How many seconds of trials it may take until such a plan is clean."""
    holding: float = 1.0
    """So many times as long it may be tried to hold room before anything is taken back."""


@dataclass(frozen=True, eq=False)
class Held:
    """Waves in which room is held for whom it is meant, and where pods were after their trials."""

    waves: Waves
    ends: tuple[IntArray, ...]


@dataclass(frozen=True, eq=False)
class Clean:
    """Steps that are clean, their worth, and who was left alone for it, with the reason.

    Unless room is `held` for somebody, the steps are grouped as those of any plan; or as they were
    `tried`, where they drive somebody off with what kube-scheduler places besides among them.
    """

    steps: tuple[Step, ...]
    held: Held | None
    candidate: Candidate
    series: Series
    left_alone: dict[int, str]
    tried: Held | None = None


def worth_on_paper(problem: Problem, steps: Sequence[Step]) -> tuple[tuple[int, ...], int]:
    """Pods placed by priority, and what the evictions cost, negated: larger is better."""
    draft, weights = Draft(problem.cluster, steps), move_weights(problem)
    placed = tuple(draft.placed[priority] for priority in levels(problem))
    cost = sum(weights[int(problem.cluster.group_of[pod])] for pod in draft.evicted)
    return placed, -cost
