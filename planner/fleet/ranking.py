"""Scores of a cluster, and which of two is picked first.

Spread first, then affinity, then whether an earlier policy had picked the cluster; of equals the
lexicographically largest name wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planner.fleet.topology_spread import VIOLATION_PENALTY, Step, Topology


class Score(NamedTuple):
    """Compared field by field, the highest first; `previous` is 1 for a cluster picked before."""

    spread: int = 0
    affinity: int = 0
    previous: int = 0


def spread_score(
    topologies: Sequence[Topology], steps: Sequence[Step | None]
) -> tuple[int, Topology | None]:
    """The scores of all constraints added up, and the first hard one that is violated, if any.

    `steps` has None where the cluster takes no part. Hard constraints are asked first.
    """
    pairs = list(zip(topologies, steps, strict=True))
    for topology, step in pairs:
        if step is not None and step.violates and topology.constraint.hard:
            return 0, topology
    total = 0
    for _, step in pairs:
        if step is not None:
            total -= VIOLATION_PENALTY if step.violates else step.change
    return total, None
