"""NodeResourcesFit: which nodes have no room, of what, and how much is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.rules.rule import FILLS, Facts, Rule
from planner.explain.situation.subject import Subject
from planner.scheduler.plugins.node_resources_fit import NodeResourcesFit
from planner.words import (
    NAMED,
    amount,
    both_or_all,
    conjoined,
    resource_word,
)
from planner_models.diagnosis import RuleKind
from planner_models.resources import PODS


@dataclass(frozen=True, eq=False)
class CapacityRule(Rule):
    """Requests against what is free; `short[n, i]` says whether node n lacks `names[i]`."""

    names: tuple[str, ...]
    request: IntArray
    free: IntArray
    offered: IntArray

    kind: ClassVar[RuleKind] = "capacity"
    stage: ClassVar[int] = FILLS
    changeable: ClassVar[int] = 1

    @property
    def name(self) -> str:
        """`capacity`."""
        return "capacity"

    @cached_property
    def short(self) -> BoolArray:
        """Where which resource is missing."""
        short: BoolArray = np.greater(self.request, self.free)
        return short

    @cached_property
    def hopeless(self) -> BoolArray:
        """Nodes too small for the pod even when they are empty."""
        too_large: BoolArray = np.greater(self.request, self.offered)
        found: BoolArray = np.logical_or.reduce(too_large, axis=1)
        return found

    def lacking(self, left: BoolArray) -> list[int]:
        """The resources that some of these nodes lack."""
        return np.flatnonzero(self.short[left].any(axis=0)).tolist()

    def sentence(self, left: BoolArray, *, first: bool) -> str:
        """`Both nodes in eu-1c are short of CPU: it needs 1, c1 has 500m free, c2 750m.`"""
        who = self.subject.name if first else "it"
        lacking = self.lacking(left)
        if len(lacking) == 1:
            return self._one_resource(who, lacking[0], left)
        return self._several(who, lacking, left)

    def _one_resource(self, who: str, column: int, left: BoolArray) -> str:
        name = self.names[column]
        word, needs = resource_word(name), amount(name, int(self.request[column]))
        largest = int(self.offered[left, column].max())
        number = int(left.sum())
        if self.request[column] > largest:
            whole = " when it is empty" if number == 1 else " even when empty"
            return (
                f"{who} needs {needs} {word}; {self._most(left)} has more than "
                f"{amount(name, largest)}{whole}."
            )
        free = self._free(column, left)
        return f"{self._are_short(left)} short of {word}: {who} needs {needs}, {free}."

    def _most(self, left: BoolArray) -> str:
        if int(left.sum()) == 1:
            return f"{self.subject.places.describe(left)} never"
        everywhere = bool(left.all())
        return "no node" if everywhere else f"none of {self.subject.places.describe(left)}"

    def _are_short(self, left: BoolArray) -> str:
        number = int(left.sum())
        if number == 1:
            return f"{self.subject.places.describe(left)} is"
        if left.all():
            return "Every node is"
        names = self.subject.places.names(left)
        if number <= 3:
            return f"{conjoined(names)} are"
        return f"{both_or_all(number)} of them are"

    def _free(self, column: int, left: BoolArray) -> str:
        name = self.names[column]
        nodes = np.flatnonzero(left)
        free = np.maximum(self.free[nodes, column], 0)
        if len(nodes) > NAMED or len(set(free.tolist())) == 1:
            low, high = amount(name, int(free.min())), amount(name, int(free.max()))
            span = low if low == high else f"{low} to {high}"
            whole = "it has" if len(nodes) == 1 else "they have"
            return f"{whole} {span} free{' each' if low == high and len(nodes) > 1 else ''}"
        parts: list[str] = []
        for node, rest in zip(nodes.tolist(), free.tolist(), strict=True):
            text = f"{self.subject.cluster.nodes[node].name} has {amount(name, rest)} free"
            parts.append(text if not parts else text.replace(" has ", " ").replace(" free", ""))
        return ", ".join(parts)

    def _several(self, who: str, lacking: Sequence[int], left: BoolArray) -> str:
        needs = conjoined(
            [
                f"{amount(self.names[i], int(self.request[i]))} {resource_word(self.names[i])}"
                for i in lacking
            ]
        )
        parts = []
        for pattern in np.unique(self.short[left], axis=0).tolist():
            mask = left & (self.short == np.array(pattern)).all(axis=1)
            what = [resource_word(self.names[i]) for i in np.flatnonzero(pattern).tolist()]
            parts.append(f"{self.subject.places.describe(mask)} of {conjoined(what)}")
        verb = "is" if int(left.sum()) == 1 else "are"
        return f"{who} needs {needs}: {parts[0].replace(' of ', f' {verb} short of ', 1)}" + (
            "".join(f", {part}" for part in parts[1:]) + "."
        )

    def brief(self, left: BoolArray) -> str:
        """`eu-1c has no room`."""
        lacking = [resource_word(self.names[i]) for i in self.lacking(left)]
        return f"short of {conjoined(lacking)}"

    def cell(self, node: int) -> str:
        """`cpu 1 > 500m`."""
        return ", ".join(
            f"{self.names[i]} {amount(self.names[i], int(self.request[i]))} > "
            f"{amount(self.names[i], max(0, int(self.free[node, i])))}"
            for i in np.flatnonzero(self.short[node]).tolist()
        )

    def facts(self) -> Facts:
        """The request, and the most that is free on any node and offered by any node."""
        return {
            name: {
                "request": int(self.request[i]),
                "largestFree": int(self.free[:, i].max(initial=0)),
                "largestNode": int(self.offered[:, i].max(initial=0)),
            }
            for i, name in enumerate(self.names)
            if self.short[:, i].any()
        }

    def where(self, left: BoolArray) -> str:
        """`CPU of c1, c2`."""
        what = conjoined([resource_word(self.names[i]) for i in self.lacking(left)])
        return f"{what} of {self.subject.places.describe(left).replace(' and ', ', ')}"


def find(subject: Subject) -> list[Rule]:
    """The resources that the pod asks for, and a place among the node's pods."""
    plugins = [p for p in subject.profile.filters if isinstance(p, NodeResourcesFit)]
    if not plugins:
        return []
    found = plugins[0].pre_filter(subject.state, subject.group)
    assert found.filter is not None
    table, state = subject.cluster.resources, subject.state
    wanted = subject.group.spec.requests
    names = (*(name for name in sorted(wanted) if wanted[name] > 0 and name != PODS), PODS)
    columns = [table.column(name) for name in names]
    rule = CapacityRule(
        subject=subject,
        field="spec.containers[*].resources.requests",
        blocked=found.filter.refused(),
        names=names,
        request=state.requests[subject.group.index, columns],
        free=table.allocatable[:, columns] - state.used[:, columns],
        offered=table.allocatable[:, columns],
    )
    # Resources that the profile ignores are short without refusing a node.
    ignored = rule.short & ~rule.blocked[:, None]
    if not ignored.any():
        return [rule]
    judged = [i for i in range(len(names)) if not ignored[:, i].any()]
    return [
        replace(
            rule,
            names=tuple(names[i] for i in judged),
            request=rule.request[judged],
            free=rule.free[:, judged],
            offered=rule.offered[:, judged],
        )
    ]
