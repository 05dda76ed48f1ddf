"""A bound by whole nodes: the linear one, raised until a set of whole patterns is found.

Up to some cost above the bound all patterns are enumerated that a set can have (`near_patterns`),
and CP-SAT looks for a set of these. If there is none, no set costs so little, and the next cost is
looked at; if there is one, the cheapest of them is the cheapest of all.
"""

from __future__ import annotations

from planner.solver.scale_up.master_problem import UNIT, Pattern
from planner.solver.scale_up.near_patterns import near_patterns
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.places import Places
from planner.solver.scale_up.question import Counts
from planner.solver.scale_up.whole_patterns import WholePatterns

FIRST = 100
"""The first cost is above the bound by one part in so many; each further one is twice as far."""
FARTHEST = 16
"""Times the bound, above which no set is looked for: there is none by all appearances."""
WORK_SECONDS, STEP_SECONDS = 2.5, 6e-6
MODEL_SECONDS, PLACE_SECONDS = 0.01, 2e-4
"""For a deterministic second of CP-SAT, and for a step of an enumeration; for a model, and for each
place of it."""
MOST_PATTERNS = 20_000
LEAST_WORK = 0.02
"""Deterministic seconds, below which CP-SAT hardly begins."""


class WholeBound:
    """Raises the bound of patterns step by step."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        places = patterns.places
        self._first = max(patterns.bound, int(places.cost[: places.offers].min(initial=1 << 40)))
        self._ahead = max(1, self._first // FIRST)
        self.best: Counts | None = None
        """The cheapest set by whole patterns, once it is known."""
        self.ended = False
        """Whether nothing more can be done."""

    def step(self, seconds: float, most_cost: int | None) -> None:
        """Look for sets up to some cost above the bound, but below the most cost of interest."""
        patterns = self._patterns
        cost = patterns.bound + self._ahead
        if most_cost is not None:
            cost = min(cost, most_cost - 1)
        until = patterns.spent + seconds
        model = model_of(patterns, cost, seconds)
        if model is None:
            self.ended = True
            return
        work = max(LEAST_WORK, (until - patterns.spent) / WORK_SECONDS)
        found = model.cheapest(work)
        patterns.spent += WORK_SECONDS * found.work
        patterns.raise_bound(found.bound)
        self._ahead *= 2
        if found.complete and found.nodes is not None:
            self.best = tuple(found.nodes[: patterns.places.offers])
        nothing = self._ahead > FARTHEST * self._first
        self.ended = found.nodes is not None or not found.complete or nothing


def model_of(
    patterns: Patterns, cost: int, seconds: float, *, one_for_all: bool = True
) -> WholePatterns | None:
    """The model of all sets up to a cost; None if it is too large.

    Of places that are alike one stands for all, unless it matters which of them get nodes.
    """
    places, proof = patterns.places, patterns.proof
    if cost < patterns.bound or proof is None:
        return None
    steps = int(seconds / STEP_SECONDS)
    near = near_patterns(places, proof, cost, steps)
    patterns.spent += STEP_SECONDS * (steps if near is None else near.steps)
    patterns.spent += MODEL_SECONDS + PLACE_SECONDS * len(proof.pods_pay)
    if near is None or len(near.lacking) > MOST_PATTERNS:
        return None
    most = {
        pattern: _most_nodes(places, pattern, cost, lacking, UNIT * cost - proof.total)
        for pattern, lacking in near.lacking.items()
    }
    if not one_for_all:
        alike = {each[0]: each for each in places.alike()}
        most = {(p, pods): n for (q, pods), n in most.items() for p in alike[q]}
    return WholePatterns(places, most, cost)


def _most_nodes(places: Places, pattern: Pattern, cost: int, lacking: int, gap: int) -> int:
    """How many nodes with a pattern a set of this cost can have."""
    own, most = int(places.cost[pattern[0]]), places.most[pattern[0]]
    ends = [cost // own] if own else []
    ends += [] if most is None else [most]
    return min([*ends, gap // lacking] if lacking else ends)
