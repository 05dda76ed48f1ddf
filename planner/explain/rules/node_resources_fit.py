"""NodeResourcesFit: which nodes have no room, of what, and how much is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.rules.rule import FILLS, Facts, FieldPath, Rule
from planner.explain.situation.subject import Subject
from planner.words import NAMED, amount, amount_of, both_or_all, conjoined, resource_word
from planner_models.diagnosis import RuleKind
from planner_models.notice import Notice
from planner_models.resources import CPU, MEMORY, PODS


@dataclass(frozen=True, eq=False)
class CapacityRule(Rule):
    """Requests against what is free; `short[n, i]` says whether node n lacks `names[i]`."""

    names: tuple[str, ...]
    request: IntArray
    free: IntArray
    offered: IntArray

    kind: ClassVar[RuleKind] = "capacity"
    name: ClassVar[str] = "capacity"
    phase: ClassVar[int] = FILLS
    changeable: ClassVar[int] = 1
    leaving: ClassVar[str] = "capacity leaves"

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

    def only_lacking(self, left: BoolArray) -> int | None:
        """The resource that they lack, if it is one."""
        lacking = self.lacking(left)
        return lacking[0] if len(lacking) == 1 else None

    def wants(self, column: int) -> str:
        """`2 CPU`: what the pod asks for."""
        return amount_of(self.names[column], int(self.request[column]))

    def largest(self, column: int, left: BoolArray) -> str:
        """What the largest of these nodes offers, if that is less than the pod asks for."""
        most = int(self.offered[left, column].max())
        return amount(self.names[column], most) if self.request[column] > most else ""

    def free_span(self, column: int, nodes: BoolArray) -> str:
        """`500m`, `500m to 2`: what is free on these nodes."""
        free = np.maximum(self.free[nodes, column], 0)
        low = amount(self.names[column], int(free.min()))
        high = amount(self.names[column], int(free.max()))
        return low if low == high else f"{low} to {high}"

    # Its words in the long explanation

    def sentence(self, left: BoolArray, *, first: bool, place: str = "") -> str:
        """`Both nodes in eu-1c are short of CPU: it needs 1, c1 has 500m free, c2 750m.`"""
        who = self.subject.name if first else "it"
        refused = left & self.blocked
        column = self.only_lacking(refused)
        if column is None:
            return self._several(who, refused, place)
        return self._one_resource(who, column, refused, place)

    def paragraph(self, left: BoolArray, place: str, *, first: bool) -> str:
        """The sentence in a derivation, where many nodes are summed up."""
        column = self.only_lacking(left)
        if column is None or int(left.sum()) <= NAMED or self.largest(column, left):
            return self.sentence(left, first=first, place=place)
        head = "Every node has" if bool(left.all()) else f"All {int(left.sum())} have"
        name = self.names[column]
        needs = amount(name, int(self.request[column]))
        span, word = self.free_span(column, left), resource_word(name)
        return f"{head} {span} {word} free; {self.subject.short} needs {needs}."

    def _one_resource(self, who: str, column: int, left: BoolArray, place: str) -> str:
        largest = self.largest(column, left)
        if largest:
            whole = " when it is empty" if int(left.sum()) == 1 else " even when empty"
            than = f"{self._most(left)} has more than {largest}{whole}"
            return f"{'It' if who == 'it' else who} needs {self.wants(column)}; {than}."
        word = resource_word(self.names[column])
        needs = amount(self.names[column], int(self.request[column]))
        free = self._free(column, left)
        return f"{self._are_short(left, place)} short of {word}: {who} needs {needs}, {free}."

    def _most(self, left: BoolArray) -> str:
        if int(left.sum()) == 1:
            return f"{self.subject.nodes.describe(left)} never"
        return "no node" if left.all() else f"none of {self.subject.nodes.describe(left)}"

    def _are_short(self, left: BoolArray, place: str) -> str:
        number = int(left.sum())
        if number == 1:
            return f"{self.subject.nodes.describe(left)} is"
        if left.all():
            return "Every node is"
        if number == 2 and place:
            return f"Both nodes in {place} are"
        if number <= 3:
            return f"{conjoined(self.subject.nodes.names(left))} are"
        return f"{both_or_all(number)} of them are"

    def _free(self, column: int, left: BoolArray) -> str:
        nodes = np.flatnonzero(left).tolist()
        free = np.maximum(self.free[nodes, column], 0).tolist()
        if len(nodes) > NAMED or len(set(free)) == 1:
            whole = "it has" if len(nodes) == 1 else "they have"
            each = " each" if len(nodes) > 1 and len(set(free)) == 1 else ""
            return f"{whole} {self.free_span(column, left)} free{each}"
        amounts = [amount(self.names[column], rest) for rest in free]
        names = self.subject.nodes.names(left)
        others = [f", {name} {rest}" for name, rest in zip(names[1:], amounts[1:], strict=True)]
        return f"{names[0]} has {amounts[0]} free{''.join(others)}"

    def _several(self, who: str, left: BoolArray, place: str) -> str:
        needs = conjoined([self.wants(column) for column in self.lacking(left)])
        verb = " is short" if int(left.sum()) == 1 else " are short"
        parts: list[str] = []
        for pattern in np.unique(self.short[left], axis=0).tolist():
            mask = left & (self.short == np.array(pattern)).all(axis=1)
            what = [resource_word(self.names[i]) for i in np.flatnonzero(pattern).tolist()]
            both = place and int(mask.sum()) == int(left.sum()) == 2
            which = f"Both nodes in {place}" if both else self.subject.nodes.describe(mask)
            parts.append(f"{which}{'' if parts else verb} of {conjoined(what)}")
        return f"{who} needs {needs}: {', '.join(parts)}."

    def needed(self, left: BoolArray) -> str:
        """`2 CPU`, if nothing else is short."""
        column = self.only_lacking(left)
        return "" if column is None else self.wants(column)

    # Its words in headlines and single sentences

    def alone(self) -> str:
        """`web needs 64 CPU; no node has more than 32`."""
        column = self.only_lacking(self.blocked)
        largest = "" if column is None else self.largest(column, np.ones_like(self.blocked))
        if column is not None and largest:
            return (
                f"{self.subject.short} needs {self.wants(column)}; no node has more than {largest}"
            )
        words = conjoined(self._words(self.blocked), "or")
        return f"every node is short of {words} for {self.subject.short}"

    def _words(self, left: BoolArray) -> list[str]:
        return [resource_word(self.names[i]) for i in self.lacking(left)]

    def brief(self, left: BoolArray) -> str:
        """`short of CPU`."""
        return f"short of {conjoined(self._words(left))}"

    def after_spread(self, spread: str, place: str, left: BoolArray) -> str:
        """`zone spread allows eu-1c only, and eu-1c has no room`."""
        return f"{spread} allows {place} only, and {place} has no room"

    def few_words(self, left: BoolArray) -> str:
        """`no CPU left`."""
        column = self.lacking(left)[0]
        largest = self.largest(column, np.ones_like(left))
        if largest:
            return f"{self.wants(column)}; no node has more than {largest}"
        return f"no {resource_word(self.names[column])} left"

    def excludes(self, left: BoolArray, there: str) -> str:
        """What every node lacks; of several that are short in turns all are named."""
        always = np.flatnonzero(self.short[left].all(axis=0)).tolist()
        for column in always:
            largest = self.largest(column, left)
            if largest and self.names[column] != PODS:
                return f"needs {self.wants(column)}; the largest node{there} has {largest}"
        if always == [self.names.index(PODS)]:
            return f"every node{there} has as many pods as it may have"
        chosen = [i for i in always if self.names[i] != PODS][:1] or self.lacking(left)
        parts = [self.wants(i) for i in chosen if self.names[i] != PODS]
        return f"no node{there} has {' and '.join(parts)} free"

    # Tables and the document

    def cell(self, node: int) -> str:
        """`cpu 1 > 500m`."""
        return ", ".join(
            f"{self.names[i]} {amount(self.names[i], int(self.request[i]))} > "
            f"{amount(self.names[i], max(0, int(self.free[node, i])))}"
            for i in np.flatnonzero(self.short[node]).tolist()
        )

    def columns(self) -> Mapping[str, Sequence[str]]:
        """What is free of CPU and memory."""
        return {
            f"FREE {resource_word(name)[:3].upper()}": [
                amount(name, free)
                for free in np.maximum(self.free[:, self.names.index(name)], 0).tolist()
            ]
            for name in (CPU, MEMORY)
            if name in self.names
        }

    def reason(self, nodes: BoolArray) -> str:
        """`cpu, 500m to 2 free, 4 needed`."""
        return "; ".join(
            f"{self.names[i]}, {self.free_span(i, nodes)} free, "
            f"{amount(self.names[i], int(self.request[i]))} needed"
            for i in self.lacking(nodes)
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

    def where(self, left: BoolArray) -> FieldPath:
        """`CPU of c1, c2`."""
        where = self.subject.nodes.describe(left).replace(" and ", ", ")
        return FieldPath(f"{conjoined(self._words(left))} of {where}")

    def hints(self, rules: Sequence[Rule]) -> Iterator[Notice]:
        """Requests that no node could ever meet."""
        for column, name in enumerate(self.names):
            largest = int(self.offered[:, column].max(initial=0))
            if int(self.request[column]) > largest:
                text = (
                    f"the {name} request {amount(name, int(self.request[column]))} is above any "
                    f"node's allocatable, at most {amount(name, largest)}"
                )
                yield Notice(code="aboveAnyNode", text=text)


def find(subject: Subject) -> list[Rule]:
    """The resources that the pod asks for, and a place among the node's pods."""
    found = subject.pre_filter("NodeResourcesFit").filter
    if found is None:
        return []
    table, state = subject.cluster.resources, subject.state
    wanted = subject.group.spec.requests
    names = (*(name for name in sorted(wanted) if wanted[name] > 0 and name != PODS), PODS)
    columns = [table.column(name) for name in names]
    rule = CapacityRule(
        subject=subject,
        field="spec.containers[*].resources.requests",
        blocked=found.refused(),
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
