"""How many pods a plan places, moves, and evicts only to bring them back to the same node."""

from __future__ import annotations

from dataclasses import dataclass

from planner_models.plan import Plan


@dataclass(frozen=True)
class PlanCounts:
    """Pods by what a plan does to them; those that give way for good are not counted."""

    placed: int
    moved: int
    returned: int
    """Evicted and started again where they were: another pod lands in between."""

    @property
    def evicted(self) -> int:
        """Running pods that are restarted, wherever they end."""
        return self.moved + self.returned


def plan_counts(document: Plan) -> PlanCounts:
    """What the steps do, counted in pods."""
    moved = {each.pod for each in document.placements if each.from_ is not None}
    gone = {each.pod for each in document.displaced}
    evicted = {
        step.pod
        for wave in document.waves
        for step in wave.steps
        if step.action in ("evict", "move")
    }
    placed = len(document.placements) - len(moved)
    return PlanCounts(placed, len(moved), len(evicted - moved - gone))
