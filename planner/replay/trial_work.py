"""How many draws of ties are tried without being asked to, and when side by side."""

from __future__ import annotations

USUAL_SEEDS = 20
TRIAL_WORK = 30_000_000
"""Landings times nodes that are simulated without being asked to: some ten seconds."""
BESIDE_NODES = 600
"""What a landing costs beside looking at nodes, in nodes."""
WORTH_TOGETHER = 1_000_000
"""Landings times nodes of all trials from which on these are carried out side by side."""


def usual_seeds(asked: int | None, landings: int, nodes: int) -> int:
    """What was asked for, or as many of the usual seeds as the work allows."""
    if asked is not None:
        return asked
    return max(1, min(USUAL_SEEDS, affordable(landings, nodes)))


def affordable(landings: int, nodes: int) -> int:
    """How many trials with so many landings the work allows; of very large ones not a single."""
    return TRIAL_WORK // (max(1, landings) * (nodes + BESIDE_NODES))


def worth_together(landings: int, nodes: int, trials: int) -> bool:
    """Whether trials one after the other are more work than setting out side by side."""
    return trials > 1 and landings * (nodes + BESIDE_NODES) * trials >= WORTH_TOGETHER
