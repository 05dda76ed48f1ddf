"""One call of CP-SAT: an objective, a hint, a limit; stopped by Ctrl-C with the best so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.interrupts import interruptible
from planner.solver import tuning
from planner.solver.model.cp_sat import cp_model
from planner.solver.model.linear import Linear
from planner.solver.model.model import Model
from planner.solver.problem.options import SolveOptions

if TYPE_CHECKING:
    from planner.solver.model.watcher import Watcher

Watch = Callable[[int, int], None]
"""Is told the best value and the bound whenever one of them improves."""


@dataclass(frozen=True)
class Goal:
    """Make an expression as small, or as large, as possible."""

    expression: Linear
    maximise: bool

    @property
    def sign(self) -> int:
        """CP-SAT minimises."""
        return -1 if self.maximise else 1


@dataclass(frozen=True)
class Outcome:
    """What a call found: all variables' values, none if there is no solution (so far)."""

    values: list[int] | None
    bound: int
    complete: bool
    """Whether the search came to its end: proven best, or proven to have no solution."""
    time: float
    """Deterministic, in the unit of the time limit."""
    interrupted: bool


def optimise(
    model: Model,
    goal: Goal,
    *,
    hint: Sequence[tuple[int, int]],
    limit: float,
    fix_hint: bool = False,
    watch: Watch,
) -> Outcome:
    """Solve a model for a goal; with `fix_hint` only what the hint leaves open is decided."""
    solver = _solver(model.problem.options, limit * tuning.CP_SAT_RATE)
    solver.parameters.fix_variables_to_their_hinted_value = fix_hint
    _pose(model.cp, goal, hint)
    outcome = _search(solver, model.cp, goal, watch)
    outcome = replace(outcome, time=outcome.time / tuning.CP_SAT_RATE)
    if solver.response_proto.status == cp_model.UNKNOWN:
        return replace(outcome, bound=trivial_bound(model, goal))
    return outcome


def raise_bound(cp: cp_model.CpModel, cost: Linear, options: SolveOptions, limit: float) -> Outcome:
    """The least of a cost that is never below 0, by the branch with the least bound each time.

    That raises bounds soonest; a solution is found last, if there is one.
    """
    goal = Goal(cost, maximise=False)
    solver = _solver(options, limit * tuning.LOWER_BOUND_RATE)
    fuse = 1 + tuning.CP_SAT_FUSE * limit
    solver.parameters.max_time_in_seconds = min(solver.parameters.max_time_in_seconds, fuse)
    solver.parameters.optimize_with_lb_tree_search = True
    _pose(cp, goal, ())
    found = _search(solver, cp, goal, lambda _value, _bound: None)
    return replace(found, time=found.time / tuning.LOWER_BOUND_RATE)


def improve(
    cp: cp_model.CpModel,
    cost: Linear,
    hint: Sequence[tuple[int, int]],
    *,
    work: float,
    seed: int,
    until: float = math.inf,
) -> Outcome:
    """A lower cost than that of the hint, with some deterministic work; its time is that work."""
    goal = Goal(cost, maximise=False)
    solver = _solver(SolveOptions(seed=seed, until=until), work)
    _pose(cp, goal, hint)
    return _search(solver, cp, goal, lambda _value, _bound: None)


def _search(solver: cp_model.CpSolver, cp: cp_model.CpModel, goal: Goal, watch: Watch) -> Outcome:
    from planner.solver.model.watcher import Watcher

    interrupted = _run(solver, cp, Watcher(solver, goal, watch))
    response = solver.response_proto
    found = response.status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return Outcome(
        values=list(response.solution) if found else None,
        bound=goal.expression.constant + goal.sign * int(response.inner_objective_lower_bound),
        complete=response.status in (cp_model.OPTIMAL, cp_model.INFEASIBLE),
        time=response.deterministic_time,
        interrupted=interrupted,
    )


def trivial_bound(model: Model, goal: Goal) -> int:
    """What the variables' ranges say: CP-SAT reports 0 where it had no time for a bound."""
    expression = goal.expression
    return model.highest(expression) if goal.maximise else model.lowest(expression)


def _pose(cp: cp_model.CpModel, goal: Goal, hint: Sequence[tuple[int, int]]) -> None:
    proto = cp.proto
    proto.clear_objective()
    proto.objective.vars.extend(goal.expression.vars)
    proto.objective.coeffs.extend([goal.sign * c for c in goal.expression.coeffs])
    proto.clear_solution_hint()
    proto.solution_hint.vars.extend([variable for variable, _ in hint])
    proto.solution_hint.values.extend([value for _, value in hint])


def _solver(options: SolveOptions, deterministic: float) -> cp_model.CpSolver:
    """With some deterministic work, and no longer than a user waits."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = options.workers
    parameters.random_seed = options.seed
    parameters.max_deterministic_time = deterministic
    if math.isfinite(options.until):
        waiting = options.until - time.monotonic()
        parameters.max_time_in_seconds = max(waiting, tuning.LEAST_CP_SAT_SECONDS)
    parameters.catch_sigint_signal = False
    if options.workers == 1:
        parameters.linearization_level = tuning.LINEARIZATION
    return solver


def _run(solver: cp_model.CpSolver, model: cp_model.CpModel, watcher: Watcher) -> bool:
    """Solve in a thread, so that Ctrl-C reaches Python; whether it did.

    CP-SAT's own handler would leave the process without Python's after the first use.
    """
    with interruptible(), ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(bool).result()  # the thread runs before there is anything to interrupt
        solving: Future[object] = pool.submit(solver.solve, model, watcher)
        interrupted = False
        while True:
            try:
                solving.result()
            except KeyboardInterrupt:
                interrupted = True
                solver.stop_search()
            else:
                return interrupted
