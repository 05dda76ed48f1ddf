"""Who CP-SAT tells what it has found; its class is one of CP-SAT's, which has to be there first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.solver.model.cp_sat import cp_model

if TYPE_CHECKING:
    from planner.solver.model.engine import Goal, Watch


class Watcher(cp_model.CpSolverSolutionCallback):
    """Passes solutions and bounds on, in the goal's own direction."""

    def __init__(self, solver: cp_model.CpSolver, goal: Goal, watch: Watch) -> None:
        super().__init__()
        self._goal = goal
        self._watch = watch
        self._best: int | None = None
        solver.best_bound_callback = self._on_bound

    def on_solution_callback(self) -> None:
        """A better solution."""
        self._best = self._natural(self.objective_value)
        self._watch(self._best, self._natural(self.best_objective_bound))

    def _on_bound(self, bound: float) -> None:
        if self._best is not None:
            self._watch(self._best, self._natural(bound))

    def _natural(self, value: float) -> int:
        return self._goal.expression.constant + self._goal.sign * round(value)
