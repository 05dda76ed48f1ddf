"""What pods cost and what nodes could earn, by patterns: which nodes are filled badly.

Where every node earned as much as it can, no more pods would fit. So whoever looks for more finds
it on nodes that hold less than they could be worth: often a few of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.cluster.topology import IntArray
from planner.solver.model.program import FloatArray
from planner.solver.packing.question import Stock


@dataclass(frozen=True, eq=False)
class PatternPrices:
    """In pods of the priority for which these prices were looked for."""

    priority: int
    pods: FloatArray
    """What a pod of each group costs."""
    nodes: FloatArray
    """What the pods on each node can cost at the most."""

    def waste(self, counts: IntArray) -> FloatArray:
        """By node, how much more the pods could cost that it holds."""
        found: FloatArray = np.maximum(self.nodes - counts.T @ self.pods, 0.0)
        return found

    def without(self, whole: Stock, part: Stock) -> PatternPrices:
        """The same for some pods of a packing; the others stay where they are."""
        position = {group: i for i, group in enumerate(whole.groups)}
        known = [position[group] for group in part.groups]
        staying = whole.now.copy()
        staying[known] -= part.now
        nodes = self.nodes - staying.T @ self.pods
        return PatternPrices(self.priority, self.pods[known], nodes)
