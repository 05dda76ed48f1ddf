"""The derivation of a conflict, step by step: narrow, count, conclude.

Sets of nodes stand in the place of version ranges in PubGrub's reports: each step takes the nodes
that are left and says what a rule leaves of them. Steps that narrow nothing are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.rules.rule import FILLS, FILTERS, NARROWS, Rule
from planner.explain.situation.subject import Subject


@dataclass(frozen=True, eq=False)
class Step:
    """A rule met the nodes that were left before it."""

    rule: Rule
    before: BoolArray
    after: BoolArray

    @property
    def removed(self) -> BoolArray:
        """What the rule took away."""
        return self.before & ~self.after


@dataclass(frozen=True, eq=False)
class Derivation:
    """The steps of one conflict, in the order in which they are told."""

    subject: Subject
    steps: tuple[Step, ...]

    @property
    def narrowing(self) -> tuple[Step, ...]:
        """Rules that pick domains, each told about all nodes."""
        return tuple(s for s in self.steps if s.rule.stage == NARROWS)

    @property
    def filtering(self) -> tuple[Step, ...]:
        """Rules about single nodes, told about what the narrowing left."""
        return tuple(s for s in self.steps if s.rule.stage == FILTERS)

    @property
    def filling(self) -> tuple[Step, ...]:
        """Room, told about what is left in the end."""
        return tuple(s for s in self.steps if s.rule.stage == FILLS)

    def left_after(self, stage: int) -> BoolArray:
        """The nodes that the rules up to a stage leave."""
        left = np.ones(self.subject.places.total, np.bool_)
        for step in self.steps:
            if step.rule.stage <= stage:
                left &= step.rule.allowed
        return left


def derive(subject: Subject, conflict: Sequence[Rule]) -> Derivation:
    """Rules in the order narrow, filter, fill; each with the nodes it met and left."""
    left = np.ones(subject.places.total, np.bool_)
    steps: list[Step] = []
    for rule in sorted(conflict, key=lambda rule: rule.stage):
        after = left & rule.allowed
        steps.append(Step(rule, left, after))
        left = after
    return Derivation(subject, tuple(steps))
