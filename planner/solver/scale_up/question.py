"""The question: nodes that could be added, what they cost, and who has to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.solver.problem.problem import Problem

Counts = tuple[int, ...]
"""How many nodes of each offer."""


@dataclass(frozen=True)
class NodeOffer:
    """Nodes that are all alike; `nodes` are those of the problem's cluster that stand for them.

    Without `most`, as many as one likes. A cost is a whole number above 0.
    """

    cost: int
    nodes: tuple[int, ...]
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, eq=False)
class NodeQuestion:
    """A problem whose cluster has the nodes of all offers beside those that are there.

    `goal[g]` says how many of the waiting pods of a group have to run; others may. Pods of
    DaemonSets on offered nodes take room there and count for no rule.
    """

    problem: Problem
    offers: tuple[NodeOffer, ...]
    goal: Mapping[int, int]
    shared_limits: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """What several offers may reach in all, and what a node of each offer adds."""
    opened: tuple[tuple[int, ...], ...] = ()
    """Offers by number, of each of which one node at least has to be added."""

    in_batches: bool = False
    """Whether nodes may come one after the other: then no rule counts domains that come later."""

    def cost(self, counts: Counts) -> int:
        """What these nodes cost."""
        return sum(n * offer.cost for n, offer in zip(counts, self.offers, strict=True))
