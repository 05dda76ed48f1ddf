"""Two topologies that cross, such as racks and rows, drawn as a map: one node per cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.cluster.topology import Topology
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule, of_type
from planner.explain.situation.subject import Subject
from planner.replay.steps import Step

LARGEST = 12
TAKEN, FREE, ADDED = "x", ".", "+"


def grid(subject: Subject, rules: Sequence[Rule], steps: Sequence[Step]) -> tuple[str, ...]:
    """The matching pods now and, if there are steps, after them; nothing if no map fits."""
    spreads = of_type(rules, SpreadRule)
    if len(spreads) != 2:
        return ()
    first, second = spreads[0].topology, spreads[1].topology
    cells = _cells(first, second)
    if not cells or max(len(first.domains), len(second.domains)) > LARGEST:
        return ()
    now = _counts(subject, spreads[0])
    left = _drawn(first, second, {cell: _mark(now[node]) for cell, node in cells.items()})
    if not steps:
        return tuple(left)
    after = now.copy()
    for step in steps:
        after[step.node] += -1 if step.action == "evict" else 1
    marks = {
        cell: ADDED if after[node] > now[node] else _mark(after[node])
        for cell, node in cells.items()
    }
    right = _drawn(first, second, marks)
    middle = len(left) // 2
    names = ["    now     " if i == middle else " " * 12 for i in range(len(left))]
    ends = ["    after" if i == middle else "" for i in range(len(left))]
    return tuple(
        f"{one}{name}{other}{end}".rstrip()
        for one, name, other, end in zip(left, names, right, ends, strict=True)
    )


def _cells(first: Topology, second: Topology) -> dict[tuple[int, int], int]:
    """The node of each pair of domains; empty if two nodes share one, or a topology is a list."""
    if min(len(first.domains), len(second.domains)) < 2:
        return {}
    found: dict[tuple[int, int], int] = {}
    pairs = zip(first.domain_of.tolist(), second.domain_of.tolist(), strict=True)
    for node, cell in enumerate(pairs):
        if cell in found or min(cell) < 0:
            return {}
        found[cell] = node
    crossing = len(found) > max(len(first.domains), len(second.domains))
    return found if crossing else {}


def _counts(subject: Subject, rule: SpreadRule) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(subject.state.counts_by_node(rule.matching, terminating=False), np.int64)


def _mark(count: int) -> str:
    return FREE if count == 0 else TAKEN if count == 1 else str(min(count, 9))


def _drawn(first: Topology, second: Topology, marks: Mapping[tuple[int, int], str]) -> list[str]:
    width = max(len(name) for name in first.domains)
    columns = [max(4, len(name)) for name in second.domains]
    header = "  ".join(f"{name:<{c}}" for name, c in zip(second.domains, columns, strict=True))
    lines = [f"{'':<{width}}  {header}"]
    for row, name in enumerate(first.domains):
        cells = [f"{marks.get((row, column), ' '):^{c}}" for column, c in enumerate(columns)]
        lines.append(f"{name:<{width}}  {'  '.join(cells)}")
    longest = max(map(len, lines))
    return [f"{line:<{longest}}" for line in lines]
