"""Pods as squares: whose they are, where they are, and from when to when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from planner.cluster import PENDING
from planner.cluster.owners import WorkloadRef
from planner.cluster.topology import IntArray
from planner.report.html.map_view import LegendEntry, Mark, Square
from planner.report.html.names import Index
from planner.report.html.story import Story
from planner.report.tables.cluster_map import letters_of
from planner.report.text.cluster_view import PodView

COLOURS = 9
LEGEND = 40


def marks(workloads: Sequence[WorkloadRef]) -> dict[WorkloadRef, Mark]:
    """A colour and a letter for each; the first ones are the surest to have their own.

    The colours are the nine of Paul Tol's "muted" scheme, which people with any kind of colour
    blindness can tell apart. The hash of a workload's name chooses its colour, so that it keeps it
    from one report to the next; where two would share one, the later takes the next that is free.
    The letters are those of the map in the terminal.
    """
    letters = letters_of([PodView(workload, "") for workload in workloads])
    found: dict[WorkloadRef, Mark] = {}
    taken: set[int] = set()
    for workload in workloads:
        if len(taken) == COLOURS:
            taken.clear()
        start = sha256(workload.key.encode("utf-8", "surrogatepass")).digest()[0]
        slots = ((start + step) % COLOURS for step in range(COLOURS))
        colour = next(slot for slot in slots if slot not in taken)
        taken.add(colour)
        found[workload] = Mark(colour, letters[workload])
    return found


@dataclass(frozen=True, eq=False)
class Squares:
    """The pods of a story, node by node."""

    story: Story

    def at(self, node: int) -> tuple[Square, ...]:
        """Everybody who is there at some stage, workload by workload."""
        found = self._by_node.get(node, ())
        return tuple(sorted(found, key=lambda square: (square.workload, square.text)))

    @cached_property
    def _by_node(self) -> Mapping[int, list[Square]]:
        found: dict[int, list[Square]] = {}
        shown = np.flatnonzero(self.story.cluster.node_of >= PENDING)
        for pod in sorted({*shown.tolist(), *self.story.changed.tolist()}):
            for node, start, end in _stays([int(places[pod]) for places in self.story.places]):
                if node >= PENDING:
                    found.setdefault(node, []).append(self._square(pod, start, end))
        return found

    def _square(self, pod: int, start: int, end: int) -> Square:
        cluster = self.story.cluster
        ref = cluster.workloads[int(cluster.group_of[pod])]
        return Square(pod, self._numbers[ref], self._marks[ref], start, end, cluster.pods[pod].key)

    @cached_property
    def _numbers(self) -> Mapping[WorkloadRef, int]:
        return Index(self.story.cluster).workloads

    @cached_property
    def _marks(self) -> Mapping[WorkloadRef, Mark]:
        """Those that change have the first choice, then the larger ones."""
        changing = Counter(self._refs(self.story.changed))
        sizes = Counter(self._refs(np.flatnonzero(self.story.cluster.node_of >= PENDING)))
        order = sorted(self._numbers, key=lambda ref: (not changing[ref], -sizes[ref], ref))
        return marks(order)

    def _refs(self, pods: IntArray) -> list[WorkloadRef]:
        cluster = self.story.cluster
        return [cluster.workloads[group] for group in cluster.group_of[pods].tolist()]

    def legend(self) -> tuple[LegendEntry, ...]:
        """The workloads of the map by name; with too many of them those that change."""
        seen = {square.workload for squares in self._by_node.values() for square in squares}
        chosen = [ref for ref, number in self._numbers.items() if number in seen]
        if len(chosen) > LEGEND:
            changing = set(self._refs(self.story.changed))
            chosen = [ref for ref in chosen if ref in changing][:LEGEND]
        return tuple(LegendEntry(self._numbers[ref], ref.short, self._marks[ref]) for ref in chosen)


def _stays(places: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(node, first stage, first stage elsewhere) for each stay of a pod."""
    start = 0
    for stage in range(1, len(places) + 1):
        if stage == len(places) or places[stage] != places[start]:
            yield places[start], start, stage
            start = stage
