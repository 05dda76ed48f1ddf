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
class DerivationStep:
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
    steps: tuple[DerivationStep, ...]

    @property
    def rules(self) -> list[Rule]:
        """Its rules, in that order."""
        return [step.rule for step in self.steps]

    @property
    def narrowing(self) -> tuple[DerivationStep, ...]:
        """Rules that pick domains, each told about all nodes."""
        return self._of(NARROWS)

    @property
    def filtering(self) -> tuple[DerivationStep, ...]:
        """Rules about single nodes, told about what the narrowing left."""
        return self._of(FILTERS)

    @property
    def filling(self) -> tuple[DerivationStep, ...]:
        """Room, told about what is left in the end."""
        return self._of(FILLS)

    def _of(self, phase: int) -> tuple[DerivationStep, ...]:
        return tuple(step for step in self.steps if step.rule.phase == phase)

    def left_after(self, phase: int) -> BoolArray:
        """The nodes that the rules up to a phase leave."""
        left = np.ones(self.subject.nodes.total, np.bool_)
        for step in self.steps:
            if step.rule.phase <= phase:
                left &= step.rule.allowed
        return left


def derive(subject: Subject, conflict: Sequence[Rule]) -> Derivation:
    """Rules in the order narrow, filter, fill; each with the nodes it met and left."""
    left = np.ones(subject.nodes.total, np.bool_)
    steps: list[DerivationStep] = []
    for rule in sorted(conflict, key=lambda rule: rule.phase):
        after = left & rule.allowed
        steps.append(DerivationStep(rule, left, after))
        left = after
    return Derivation(subject, tuple(steps))
