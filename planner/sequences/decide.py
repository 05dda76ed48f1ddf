"""Chooses the steps: the best final state that some order of legal steps reaches.

1. The solver finds the best final state, `find_order` an order of steps for it.
2. A weaker model, which asks only for what every sequence has to obey, bounds what sequences reach.
   A plan that meets the bound is optimal; so is the weaker model's own state, if it has an order.
3. Otherwise small problems are decided by looking at all sequences.
4. In larger ones states without an order are cut off, and the next best is looked at, a few times.
5. What is not proven is compared with what kube-scheduler does alone, and with few evictions for
   each waiting pod: no plan is worse than these, as far as there is time for them.
   What is left between plan and bound is said, and nothing is called optimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from planner.disruption.budgets import allowances
from planner.interrupts import interruptible
from planner.scheduler.profile import Profile
from planner.sequences.candidate import Candidate, cut_short, greedy, of_solution
from planner.sequences.decision import (
    Decision,
    beside_those_above,
    objectives_from,
    objectives_of,
)
from planner.sequences.exhaustive import BestSequence, search
from planner.sequences.few_evictions_each import few_evictions_each
from planner.sequences.order import NoOrder, Order, find_order
from planner.sequences.value import Value, bound_of, coherent, levels, trivial_bound, value_of
from planner.solver import route
from planner.solver.problem.moves import fewest_moves, move_bounds, move_weights
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Solution
from planner.solver.progress import Report
from planner_models.plan import PlanStatus, Stop

ROUNDS = 6
"""So many final states are given up for want of an order."""
BEATEN = "the plan is better than a bound that was computed for it: please report this input"
GRACE = 0.1
"""The part of the limit that few evictions for each pod get on top, if the search took it all."""
SMALL_CELLS, SMALL_PODS = 400, 48
"""Up to this many groups times nodes, and pods to decide about, all sequences are looked at."""


def decide(
    problem: Problem, profile: Profile, report: Report, *, counted: Profile | None = None
) -> Decision:
    """The best steps that were found, with what is proven about them.

    Steps pass the filters of the profile. With --relax these are not all whose violations count:
    then `counted` has the others as well.
    """
    return _Deciding(problem, profile, counted or profile, report).run()


@dataclass
class _Deciding:
    """One decision in the making."""

    problem: Problem
    profile: Profile
    counted: Profile
    report: Report
    best: Candidate | None = None
    bound: Value | None = None
    cuts: list[Mapping[Cell, int]] = field(default_factory=list)
    spent: float = 0.0
    stopped: Stop | None = None
    on_paper_only: bool = False
    variables: int = 0
    notes: tuple[str, ...] = ()

    @cached_property
    def unordered(self) -> bool:
        """Whether the order of steps decides nothing: each final state with room has one."""
        return route.any_order_works(self.problem)

    def run(self) -> Decision:
        first = self._noted(route.solve(self.problem, report=self.report))
        self.variables, self.notes = first.statistics.variables, first.notes
        known = first if first.status in ("optimal", "feasible") else None
        try:
            with interruptible():
                self._improve(known)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            self.stopped = "interrupted"
        return self._decision()

    def _improve(self, first: Solution | None) -> None:
        """From the first solution on; what is best so far survives Ctrl-C."""
        if first is not None and route.moves_too_many(self.problem, first):
            self._move_less(first)
        elif first is not None:
            self._try(first)
            self.bound = self._sequence_bound(first)
        if not self._settled() and not self._look_at_all(first):
            self._go_on(first)
            self._keep_simple_plans()

    def _solve(self, problem: Problem) -> Solution:
        """In full, without the states that were cut off."""
        timed = self._timed(problem)
        return self._noted(route.solve_in_full(timed, cut_off=self.cuts, report=self.report))

    def _timed(self, problem: Problem) -> Problem:
        """With what is left of the time."""
        limit = max(self.problem.options.time_limit - self.spent, 0.1)
        return replace(problem, options=replace(problem.options, time_limit=limit))

    def _noted(self, found: Solution) -> Solution:
        self.spent += found.statistics.deterministic_time
        if found.status == "unknown" and self.stopped is None:
            self.stopped = "timeLimit"
        if found.interrupted:
            self.stopped = "interrupted"
        return found

    def _try(self, solution: Solution) -> None:
        """Keep the solution if an order leads to it and nothing better is known."""
        order = find_order(self.problem, solution.counts, self.profile)
        if isinstance(order, Order):
            self._keep(of_solution(solution, order.steps))
            return
        self.cuts.append(solution.counts)
        if not isinstance(order, NoOrder):
            self.stopped = self.stopped or "rounds"

    def _move_less(self, first: Solution) -> None:
        """The beginning of an order is legal, too; and the whole model, where it can be built."""
        order = find_order(self.problem, first.counts, self.profile)
        if isinstance(order, Order):
            steps = cut_short(order.steps, self.problem.options.max_moves or 0)
            self._keep(greedy(self.problem, self.profile, self.counted, steps))
        self.bound = replace(bound_of(first), cost=0)
        if route.whole_model_fits(self.problem) and self.stopped != "interrupted":
            found = self._solve(self.problem)
            if found.status in ("optimal", "feasible"):
                self._try(found)

    def _keep(self, found: Candidate) -> None:
        if self.best is None or found.key > self.best.key:
            self.best = found

    def _settled(self) -> bool:
        """Whether the best plan meets the bound."""
        return (
            self.best is not None
            and self.bound is not None
            and self.best.value.key >= self.bound.key
            and not self._beaten
        )

    @property
    def _beaten(self) -> bool:
        """Whether a legal plan is better than its bound, which is wrong then and claims nothing."""
        if self.best is None or self.bound is None or self.problem.options.relax:
            return False
        return self.best.value.key > self.bound.key

    # The bound

    def _sequence_bound(self, first: Solution) -> Value:
        """What no sequence beats: the closed form if it settles the matter, or the weaker model."""
        value = value_of(first)
        if self.problem.options.relax or first.for_sequences or self.unordered:
            return bound_of(first)
        if self.best is not None and self._certified(value):
            return value
        if self.stopped == "interrupted" or self.problem.options.late:
            return self._capped(trivial_bound(self.problem))
        options = replace(self.problem.options, judged="moment", prefer="none")
        cuts, self.cuts = self.cuts, []
        weaker = self._solve(replace(self.problem, options=options))
        self.cuts = cuts
        if weaker.status not in ("optimal", "feasible"):
            return trivial_bound(self.problem)
        bound = self._capped(bound_of(weaker))
        if self.best is None or self.best.value.key < value_of(weaker).key:
            self._try_weaker(weaker)
        return bound if self.best is None else max(bound, self.best.value, key=lambda v: v.key)

    def _capped(self, bound: Value) -> Value:
        """The bound on placed pods, with what room in total says about them."""
        names = [f"placed {priority}" for priority in levels(self.problem)]
        placed = route.placed_bounds(self.problem, dict(zip(names, bound.placed, strict=True)))
        return replace(bound, placed=tuple(placed.values()))

    def _try_weaker(self, weaker: Solution) -> None:
        """A state that the weaker model allows may have an order, too; it is never cut off."""
        order = find_order(self.problem, weaker.counts, self.profile)
        if isinstance(order, Order):
            self._keep(of_solution(weaker, order.steps))

    def _certified(self, value: Value) -> bool:
        """All placed, nothing broken, and no fewer moves than any plan needs."""
        if value.placed != trivial_bound(self.problem).placed or value.violations:
            return False
        if self.problem.options.move_cost != "count":
            return value.cost == 0
        bounds = move_bounds(self.problem, all_placed=True)
        return value.cost <= fewest_moves(self.problem, bounds, all_placed=True)

    # All sequences

    def _look_at_all(self, first: Solution | None) -> bool:
        """Decide a small problem by all its sequences; False if that is no way."""
        problem = self.problem
        pods = sum(len(each) for each in (*problem.movable.values(), *problem.waiting.values()))
        cells = len(problem.groups) * len(problem.cluster.nodes)
        if problem.options.relax or self.stopped == "interrupted":
            return False
        if self.unordered and first is not None:
            return False
        if cells > SMALL_CELLS or pods > SMALL_PODS:
            return False
        found = search(problem, self.profile, bound=self.bound, weights=move_weights(problem))
        value = found.value if problem.options.rebalance else replace(found.value, violations=0)
        self._keep(Candidate(value, found.steps))
        if found.complete:
            self._conclude(found, value, first)
        return found.complete

    def _conclude(self, found: BestSequence, value: Value, first: Solution | None) -> None:
        self.bound, self.stopped = value, None
        if first is not None and first.rules_proven:
            self.on_paper_only = value_of(first).key > value.key

    # Further states

    def _go_on(self, last: Solution | None) -> None:
        """Look at the next best states, as long as none of those before had an order."""
        rounds = 0
        while last is not None and self.best is None and rounds < ROUNDS:
            rounds += 1
            if self.stopped == "interrupted" or self._late:
                break
            last = self._solve(self.problem)
            if last.status not in ("optimal", "feasible"):
                break
            self._try(last)
        if self.best is None:
            self._try_the_rules_alone()

    def _try_the_rules_alone(self) -> None:
        """A state that is found without regard to the wishes may have an order."""
        if self.problem.options.max_moves is not None:
            return
        found = route.by_rules_alone(self.problem, report=self.report)
        if found is not None:
            order = find_order(self.problem, found.counts, self.profile)
            if isinstance(order, Order):
                self._keep(of_solution(found, order.steps))

    def _keep_simple_plans(self) -> None:
        """What kube-scheduler does alone, and few evictions for each pod that still waits.

        Where only room decides, the solver has begun with few evictions for each pod itself.
        """
        begun = {(), () if self.best is None else self.best.steps}
        self._keep(greedy(self.problem, self.profile, self.counted))
        if not self.problem.options.rebalance or self.stopped == "interrupted":
            return
        if route.only_room_matters(self.problem) and self._solved:
            return
        budgets = allowances(self.problem.cluster)
        grace = GRACE * self.problem.options.time_limit
        for start in sorted(begun, key=len):
            for steps in few_evictions_each(
                self.problem, self.profile, budgets, start, grace=grace
            ):
                self._keep(greedy(self.problem, self.profile, self.counted, steps))

    @property
    def _late(self) -> bool:
        """Whether the time is over, by what was counted or by the clock."""
        options = self.problem.options
        return self.spent >= options.time_limit or options.late

    @property
    def _solved(self) -> bool:
        """Whether the best plan so far is the solver's."""
        return self.best is not None and self.best.solution is not None

    # The end

    def _decision(self) -> Decision:
        trivial = trivial_bound(self.problem)
        best = self.best or Candidate(trivial, ())
        known = None if self._beaten else self.bound
        bound = trivial if known is None else coherent(best.value, known, trivial)
        if best.solution is not None:
            objectives = objectives_of(best.solution, None if self.problem.options.relax else bound)
            if self.unordered:
                objectives = beside_those_above(objectives, best.solution)
        else:
            objectives = objectives_from(self.problem, best.value, bound, best.broken)
        status = self._status(best)
        return Decision(
            status=status,
            steps=best.steps,
            objectives=objectives,
            stopped=None if status == "optimal" else self._reason(),
            on_paper_only=self.on_paper_only,
            variables=self.variables,
            cuts=len(self.cuts),
            notes=(*self.notes, BEATEN) if self._beaten else self.notes,
            spent=self.spent,
        )

    def _status(self, best: Candidate) -> PlanStatus:
        """Interrupted plans are feasible: what was not looked at may be better."""
        if self.stopped == "interrupted" or not self._settled():
            return "feasible"
        if self.problem.options.relax and best.solution is not None:
            return "optimal" if best.solution.rules_proven else "feasible"
        return "feasible" if best.broken else "optimal"

    def _reason(self) -> Stop:
        room = route.only_room_matters(self.problem)
        return self.stopped or ("timeLimit" if self._late or room else "rounds")
