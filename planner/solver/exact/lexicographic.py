"""Lexicographic search: level by level, each fixed before the next, each warm-started.

Time is CP-SAT's deterministic time, shared by the levels. Ctrl-C stops the level that is being
solved; the levels after it are only evaluated.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from planner.solver import tuning
from planner.solver.exact.cuts import exclude, is_cut, within
from planner.solver.model.engine import Goal, Outcome, Watch, optimise, trivial_bound
from planner.solver.model.linear import Linear, total
from planner.solver.model.model import Model
from planner.solver.model.objectives import Objective, departures, objectives
from planner.solver.model.result import solution_of
from planner.solver.model.rules import add_rules
from planner.solver.problem.moves import fewest_moves, move_bounds, placeable
from planner.solver.problem.notes import notes_on
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level, Solution, Statistics
from planner.solver.progress import Progress, Report

UNHEARD = "the cluster is too large for soft preferences: they were not looked at"


class Search:
    """One model and its levels. What changes: the best state so far, and the time left."""

    def __init__(
        self,
        problem: Problem,
        cut_off: Sequence[Mapping[Cell, int]],
        report: Report,
        time_limit: float,
    ) -> None:
        self._problem = problem
        self._report = report
        self._limit = time_limit
        self._started = time.monotonic()
        self._cut_off = cut_off
        self._model = Model(problem)
        self._rules = add_rules(self._model)
        if problem.options.max_moves is not None:
            self._model.at_most(self._leaving(self._model.cells), problem.options.max_moves)
        for state in cut_off:
            exclude(self._model, state)
        self._rest = objectives(self._model, self._rules)
        self._hint: list[tuple[int, int]] = []
        self._reachable = False
        self._values: list[int] = []
        self.levels: list[Level] = []
        self.time = 0.0
        self.interrupted = False
        self._failed = False

    @property
    def state(self) -> dict[Cell, int]:
        """The best state so far."""
        values = dict(self._hint)
        return {cell: values[v] for cell, v in self._model.cell_vars.items() if values[v]}

    def judge_placed(self) -> None:
        """The first levels: who gets a node."""
        while self._rest and self._rest[0].kind == "placed" and not self._failed:
            self._level(self._rest.pop(0))

    def judge_rules(
        self, start: Mapping[Cell, int] | None = None, known: Mapping[str, int] | None = None
    ) -> None:
        """All levels before the wishes, from a state to begin with.

        `known` are bounds of levels in which the start is as good as it gets: it is taken as it is.
        """
        if self._begin(start) and known:
            self._take(known)
        self.judge_placed()
        while self._rest and not self._rest[0].soft and not self._failed:
            objective = self._rest.pop(0)
            if objective.kind == "excess" and self._rest[0].kind == "moves":
                self._excess_and_moves(objective, self._rest.pop(0))
            else:
                self._level(objective)

    def finish(self) -> Solution:
        """The wishes, and everything that was found."""
        unheard = len(self._model.cell_vars) > tuning.WISHES_CELLS
        while self._rest and not self._failed and not unheard:
            self._level(self._rest.pop(0))
        if not self._failed and not self._values:
            self._improve(Goal(Linear(), maximise=False), False, partial(self._tell, "state"))
        if self._failed:
            return self._nothing()
        found = solution_of(
            self._model,
            self._rules,
            self._values,
            levels=tuple(self.levels),
            statistics=self._statistics(),
            interrupted=self.interrupted,
        )
        return replace(found, notes=(*found.notes, UNHEARD)) if unheard else found

    # Where to begin

    def _begin(self, start: Mapping[Cell, int] | None) -> bool:
        """The given state, if it is legal; or the present one, with pods placed without moves.

        That one is legal, since staying always is, unless it was cut off. True for the given one.
        """
        if start is not None and self._legal(start):
            self._reachable = True
            return True
        state = self._without_moves()
        self._reachable = state is not None
        self._hint = self._hint_of(self._problem.current if state is None else state)
        return False

    def _take(self, known: Mapping[str, int]) -> None:
        """Fix the first levels as the state has them, with bounds that were found elsewhere."""
        while self._rest and self._rest[0].name in known:
            objective = self._rest.pop(0)
            goal = Goal(objective.build(), objective.maximise)
            if max(goal.expression.vars, default=0) >= len(self._values):
                self._evaluate(goal, partial(self._tell, objective.name))
            value = goal.expression.value(self._values)
            self._settle(objective, goal, value, known[objective.name])

    def _hint_of(self, state: Mapping[Cell, int]) -> list[tuple[int, int]]:
        return [(v, state.get(cell, 0)) for cell, v in self._model.cell_vars.items()]

    def _legal(self, state: Mapping[Cell, int]) -> bool:
        """Whether the model has a solution with exactly this state."""
        if any(count and cell not in self._model.cell_vars for cell, count in state.items()):
            return False
        self._hint = self._hint_of(state)
        goal = Goal(Linear(), maximise=False)
        tell = partial(self._tell, "state")
        return self._call(goal, tuning.EVALUATION_SECONDS, tell, fix_hint=True).values is not None

    def _without_moves(self) -> dict[Cell, int] | None:
        problem = self._problem
        current = problem.current
        if not problem.waiting or not problem.movable:
            return None if is_cut(current, self._cut_off) else current
        nobody = frozenset[int]()
        cuts = within(self._cut_off, problem, nobody)
        placing = Search(problem.restricted(nobody), cuts, self._report, self._limit)
        placing.judge_placed()
        self.time += placing.time
        self.interrupted |= placing.interrupted
        return None if placing._failed else dict(Counter(current) + Counter(placing.state))

    # Levels

    def _level(self, objective: Objective) -> None:
        """Optimise one level and fix it."""
        goal = Goal(objective.build(), objective.maximise)
        trivial = trivial_bound(self._model, goal) if objective.bound is None else objective.bound
        known = self._reachable or bool(self._values)
        if known and (goal.expression.is_constant or objective.kind == "placed"):
            value = goal.expression.evaluate(dict(self._hint))
            if value == trivial:
                self._settle(objective, goal, value, value)
                return
        before = (self._values, self._hint)
        outcome = self._improve(goal, objective.soft, partial(self._tell, objective.name))
        if outcome is not None:
            if objective.kind == "placed" and before[0]:
                self._keep(before, goal)
            value = goal.expression.value(self._values)
            bound = value if outcome.complete else _better(outcome.bound, trivial, goal)
            self._settle(objective, goal, value, bound)

    def _keep(self, before: tuple[list[int], list[tuple[int, int]]], goal: Goal) -> None:
        """The state before, if the new one is no better: it may be far worse in later levels."""
        if goal.expression.value(before[0]) >= goal.expression.value(self._values):
            self._values, self._hint = before

    def _settle(self, objective: Objective, goal: Goal, value: int, bound: int) -> None:
        """Nothing that follows may do worse."""
        if goal.maximise:
            self._model.at_least(goal.expression, value)
        else:
            self._model.at_most(goal.expression, value)
        self.levels.append(Level(objective.name, objective.kind, value, bound))

    def _excess_and_moves(self, excess: Objective, moves: Objective) -> None:
        """Both levels in one search: an excess outweighs all moves there can be.

        The excess alone is reached by countless states far from the present one; the moves lead
        the search to those nearby.
        """
        first, second = excess.build(), moves.build()
        weight = 1 + second.constant
        least = self._add_bounds(first, second)
        both = Goal(Linear().plus(first, weight).plus(second), maximise=False)
        outcome = self._if_best(both, least)
        if outcome is None:
            outcome = self._improve(both, False, partial(self._tell_both, weight))
        if outcome is None:
            return
        for objective, expression in ((excess, first), (moves, second)):
            value = expression.value(self._values)
            self._settle(objective, Goal(expression, maximise=False), value, value)
        if not outcome.complete:
            self._weaken(outcome.bound, weight)

    def _if_best(self, both: Goal, least: int) -> Outcome | None:
        """The state to begin with, if it has no excess and no more moves than any such state."""
        if not self._values:
            return None
        outcome = self._evaluate(both, partial(self._tell, "moves"))
        settled = outcome.values is not None and both.expression.value(outcome.values) == least
        return replace(outcome, complete=True) if settled else None

    def _weaken(self, bound: int, weight: int) -> None:
        """Moves are fewer than the weight, so the bound on both bounds the excess by division."""
        excess, moves = self.levels[-2:]
        least = max(bound // weight, 0)
        rest = bound - weight * least if least == excess.value else 0
        self.levels[-2:] = [replace(excess, bound=least), replace(moves, bound=max(rest, 0))]

    def _improve(self, goal: Goal, soft: bool, watch: Watch) -> Outcome | None:
        """The best for a goal, or what the best state is worth; None if there is no state."""
        limit = self._limit - self.time
        if soft:
            limit = min(limit, tuning.WISH_SHARE * self._problem.options.time_limit)
        outcome = None
        if not self.interrupted and limit > 0:
            outcome = self._call(goal, limit, watch, fix_hint=False)
        if (outcome is None or outcome.values is None) and (self._reachable or self._values):
            outcome = self._evaluate(goal, watch)
        if outcome is None or outcome.values is None:
            self._failed = True
            return None
        return outcome

    def _evaluate(self, goal: Goal, watch: Watch) -> Outcome:
        """The value of a level for the state as it is, where there was no time to improve it."""
        chosen = dict(self._hint)
        self._hint = [(v, chosen[v]) for v in self._model.cell_vars.values()]
        outcome = self._call(goal, tuning.EVALUATION_SECONDS, watch, fix_hint=True)
        return replace(outcome, complete=False, bound=trivial_bound(self._model, goal))

    def _tell(self, level: str, best: int, bound: int) -> None:
        self._report(Progress(level, best, bound, time.monotonic() - self._started))

    def _tell_both(self, weight: int, best: int, bound: int) -> None:
        if best >= weight:
            self._tell("excess", best // weight, max(0, bound // weight))
        else:
            self._tell("moves", best, max(0, bound))

    def _call(self, goal: Goal, limit: float, watch: Watch, *, fix_hint: bool) -> Outcome:
        outcome = optimise(
            self._model, goal, hint=self._hint, limit=limit, fix_hint=fix_hint, watch=watch
        )
        self.time += outcome.time
        self.interrupted |= outcome.interrupted
        if outcome.values is not None:
            self._values = outcome.values
            self._hint = list(enumerate(outcome.values))
        return outcome

    def _add_bounds(self, excess: Linear, moves: Linear) -> int:
        """What is known without a search about states without excess, as rows; the fewest moves."""
        placed = sum(level.value for level in self.levels if level.kind == "placed")
        everything = placed == self._placeable()
        bounds = move_bounds(self._problem, all_placed=everything)
        least = fewest_moves(self._problem, bounds, all_placed=everything)
        if not least:
            return 0
        steady = self._model.literal()
        self._model.at_least(excess, 1, (-steady - 1,))
        for bound in bounds:
            self._model.at_least(self._leaving(bound.groups), bound.moves, (steady,))
        self._model.at_least(moves, least, (steady,))
        return least

    def _placeable(self) -> int:
        """As the levels count them: with --preempt running pods, too."""
        running = sum(map(len, self._problem.movable.values()))
        waiting = sum(placeable(self._problem).values())
        return waiting + (running if self._problem.options.preempt else 0)

    def _leaving(self, groups: Iterable[int]) -> Linear:
        return total(departures(self._model, group) for group in groups)

    def _statistics(self) -> Statistics:
        return Statistics(
            cells=len(self._model.cell_vars),
            variables=len(self._model.upper),
            constraints=len(self._model.cp.proto.constraints),
            deterministic_time=self.time,
            seconds=time.monotonic() - self._started,
        )

    def _nothing(self) -> Solution:
        """No state is left, or none was found in time."""
        spent = self.interrupted or self.time >= self._limit
        return Solution(
            status="unknown" if spent else "infeasible",
            counts=self._problem.current,
            unplaced={g: len(pods) for g, pods in self._problem.waiting.items()},
            notes=notes_on(self._problem, {}),
            statistics=self._statistics(),
            interrupted=self.interrupted,
        )


def _better(bound: int, trivial: int, goal: Goal) -> int:
    return min(bound, trivial) if goal.maximise else max(bound, trivial)
