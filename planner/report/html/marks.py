"""Colours and letters by which workloads are told apart.

The colours are the nine of Paul Tol's "muted" scheme, which people with any kind of colour
blindness can tell apart. The hash of a workload's name chooses its colour, so that it keeps it from
one report to the next; where two would share one, the later takes the next that is free. The
letters are those of the map in the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from planner.cluster.owners import WorkloadRef
from planner.report.html.map_view import Mark
from planner.report.tables.cluster_map import letters_of
from planner.report.text.cluster_view import PodView

COLOURS = 9


def marks(workloads: Sequence[WorkloadRef]) -> dict[WorkloadRef, Mark]:
    """A mark for each; the first ones are the surest to have a colour of their own."""
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
