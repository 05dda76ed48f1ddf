"""Big pods by class: what lands on nodes in the models of prices and columns.

Pending pods keep their exact requests. Promoted groups, which are many, share a class if they may
be on the same nodes, have the same domains and nearly the same requests; the class asks for the
least of its members, so that it fits wherever one of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.solver import tuning
from planner.solver.large.plain_group import PlainGroup, Rule
from planner.solver.large.state import State


@dataclass(frozen=True, eq=False)
class Size:
    """A class: its least request, its members, where it may land, and its domains."""

    request: IntArray
    members: tuple[PlainGroup, ...]
    landing: BoolArray
    rule: Rule | None
    most: IntArray
    """Per domain: no more pods of the class than this can land there."""
    together: int
    """No more of them can land on one node, by rules over other domains than these."""

    @property
    def domains(self) -> int:
        """Of the common rule; one without."""
        return 1 if self.rule is None else self.rule.size

    def domain_at(self, nodes: IntArray) -> IntArray:
        """The domain of each node."""
        return np.zeros(len(nodes), np.int64) if self.rule is None else self.rule.domain_of[nodes]


def sizes_of(state: State, big: Sequence[PlainGroup], promoted: Sequence[PlainGroup]) -> list[Size]:
    """Classes in order of their first member."""
    classes: dict[tuple[object, ...], list[PlainGroup]] = {}
    for task in big:
        classes[("big", task.group)] = [task]
    known = {task.group for task in big}
    for task in promoted:
        if task.group not in known:
            classes.setdefault(_key(state, task), []).append(task)
    return [_size(state, members) for members in classes.values()]


def _key(state: State, task: PlainGroup) -> tuple[object, ...]:
    rule = None if task.main is None else task.rules[task.main]
    cells = np.floor(task.request * state.scale * tuning.SIZE_STEPS).astype(np.int64)
    return id(rule), state.landing(task).tobytes(), cells.tobytes()


def _size(state: State, members: Sequence[PlainGroup]) -> Size:
    first = members[0]
    return Size(
        request=np.min([task.request for task in members], axis=0),
        members=tuple(members),
        landing=state.landing(first),
        rule=None if first.main is None else first.rules[first.main],
        most=np.sum([_most(task) for task in members], axis=0),
        together=sum(map(_together, members)),
    )


def _most(task: PlainGroup) -> IntArray:
    """The highest count that any L admits, less what can't make room by leaving."""
    movable = task.by_domain(task.start)
    if task.main is None:
        return movable + task.waiting
    high = max(task.lows, default=0) + task.rules[task.main].skew
    room = np.maximum(0, high - task.counts[task.main] + movable)
    most: IntArray = np.minimum(room, int(movable.sum()) + task.waiting)
    return most


def _together(task: PlainGroup) -> int:
    """The highest count that the other rules admit in a domain; all pods without any."""
    pods = sum(task.start.values()) + task.waiting
    highest = (max(task.lows_of(i), default=0) + task.rules[i].skew for i in task.caps)
    return min(highest, default=pods)
