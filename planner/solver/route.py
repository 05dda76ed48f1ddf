"""The solver's only door: which way a problem takes, and how the answers of the ways are joined.

    only room decides      packing (`packing`)
    up to SMALL_CELLS      the whole model in CP-SAT (`exact`)
    beyond that            the search for large problems (`large`), then the whole model

The search for large problems decides who is placed, the excess and the number of moves. The other
options are looked at from there. --preempt and --relax change nothing where everything that can run
finds a place by the rules. Where not everything does, the whole model goes on from the state that
was found, if it is not too large to be built. Preferences, and what moves cost, are weighed in the
whole model, too. A limit on moves is for the caller to see to: any part of an order is legal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from planner.solver import tuning
from planner.solver.exact.emptying import least_left
from planner.solver.exact.lexicographic import Search
from planner.solver.exact.whole import solve_whole
from planner.solver.large.solve import solve_at_scale
from planner.solver.model.objectives import has_wishes
from planner.solver.packing.question import only_room_decides, stock_of
from planner.solver.packing.room_bounds import capped, ceilings_beside
from planner.solver.packing.solve import solve_packing
from planner.solver.problem.moves import departed, move_weights, placeable
from planner.solver.problem.problem import Cell, Problem
from planner.solver.problem.solution import Level, Solution
from planner.solver.progress import Progress, Report, silent

if TYPE_CHECKING:
    from planner.solver.packing.beside import Beside

__all__ = [
    "Progress",
    "Report",
    "any_order_works",
    "beside",
    "by_rules_alone",
    "least_left",
    "moves_too_many",
    "only_room_matters",
    "placed_beside",
    "placed_bounds",
    "rearranged",
    "room_by_windows",
    "silent",
    "solve",
    "solve_in_full",
    "solve_large",
    "whole_model_fits",
]

NOT_WEIGHED = "{} are not weighed at this size"
NOT_IN_TIME = "the time was over before {} could be weighed"
NOT_LOOKED_AT = "at this size {} was only looked at where everything can be placed without it"


def solve(problem: Problem, *, report: Report = silent) -> Solution:
    """The best final state by the way that suits the problem, with what is proven about it."""
    if _is_large(problem):
        return solve_large(problem, report=report)
    return solve_in_full(problem, report=report)


def solve_in_full(
    problem: Problem,
    *,
    cut_off: Sequence[Mapping[Cell, int]] = (),
    report: Report = silent,
    start: Mapping[Cell, int] | None = None,
) -> Solution:
    """The same with every group and option in one model, or as a packing where only room decides.

    States that are `cut_off` are no answer. `start` is a good state to begin with, if one is known.
    """
    if start is None and not cut_off and only_room_decides(problem):
        stock = stock_of(problem)
        if stock is not None:
            return solve_packing(problem, stock, report)
    return solve_whole(problem, cut_off=cut_off, report=report, start=start)


def room_by_windows(problem: Problem, seconds: float) -> tuple[Mapping[Cell, int] | None, bool]:
    """A state that places all that waits, if one was found, and whether there may be one at all.

    Only where nothing but room decides: otherwise nothing is found and nothing proven.
    """
    cells = len(problem.groups) * len(problem.cluster.nodes)
    if cells > tuning.REARRANGED_CELLS or not only_room_decides(problem):
        return None, True
    stock = stock_of(problem)
    if stock is None:
        return None, True
    from planner.solver.packing.rearrange import Budget, Rearranging

    search = Rearranging(stock, stock.now, problem.options.seed)
    everybody = stock.placed(stock.total[:, None])
    if search.most < everybody:
        return None, False
    search.run(Budget(seconds, problem.options.until), lambda _: None)
    done = stock.placed(search.counts) == everybody
    return (stock.state(search.counts) if done else None), True


def rearranged(
    problem: Problem, start: Mapping[Cell, int], seconds: float, known: Beside | None = None
) -> tuple[Mapping[Cell, int], float]:
    """A state that is no worse than where it starts, and the work that it took.

    Only where nothing but room decides, and the packing is not too large: otherwise it is the same.
    What is `known` about all states of the cluster says where nodes are filled badly.
    """
    stock = stock_of(problem)
    if stock is None or stock.now.size > tuning.REARRANGED_CELLS:
        return start, 0.0
    from planner.solver.packing.rearrange import Budget, Rearranging

    prices = None if known is None else known.prices_for(stock)
    search = Rearranging(stock, stock.counts(start), problem.options.seed, prices=prices)
    budget = Budget(seconds, problem.options.until)
    search.run(budget, lambda _: None)
    return stock.state(search.counts), budget.spent


def beside(problem: Problem) -> Beside | None:
    """What bounds the pods of a priority beside those above; None if not room alone does.

    Pods are counted as levels do: those that wait, and with --preempt all of them.
    """
    stock = stock_of(problem) if only_room_decides(problem) else None
    if stock is None:
        return None
    from planner.solver.packing.beside import Beside

    nobody = np.zeros_like(stock.now)
    return Beside(stock, stock.placed(nobody if problem.options.preempt else stock.now))


def only_room_matters(problem: Problem) -> bool:
    """Whether nothing but room, and maybe a limit on moves, is in the way of anybody."""
    return only_room_decides(replace(problem, options=replace(problem.options, max_moves=None)))


def any_order_works(problem: Problem) -> bool:
    """Whether the order of steps decides nothing: each final state with room can be reached."""
    return only_room_decides(problem)


def whole_model_fits(problem: Problem) -> bool:
    """Whether the whole model is small enough to be built."""
    return problem.cell_count <= tuning.MOST_CELLS


def moves_too_many(problem: Problem, found: Solution) -> bool:
    """Whether a state is out of reach of --max-moves."""
    most = problem.options.max_moves
    return most is not None and departed(problem, found.counts) > most


def by_rules_alone(problem: Problem, *, report: Report = silent) -> Solution | None:
    """A state of a large problem that was found without regard to preferences."""
    return _by_rules(problem, report) if _is_large(problem) else None


def placed_bounds(problem: Problem, bounds: Mapping[str, int]) -> dict[str, int]:
    """Bounds of the levels `placed PRIORITY`; in large problems room in total often says more."""
    return capped(problem, bounds) if _is_large(problem) else dict(bounds)


def placed_beside(problem: Problem, levels: Sequence[Level]) -> tuple[Level, ...]:
    """The same levels, where one is open with a bound on the priorities below it.

    It holds for plans that place at least as many pods as these on every priority above.
    """
    placed = [level for level in levels if level.kind == "placed"]
    first = next((i for i, level in enumerate(placed) if not level.proven), len(placed))
    if not any(not level.proven for level in placed[first + 1 :]):
        return tuple(levels)
    names = {level.name: int(level.name.removeprefix("placed ")) for level in placed}
    most = ceilings_beside(problem, {names[level.name]: level.value for level in placed})
    below = {level.name: most.get(names[level.name], level.bound) for level in placed[first + 1 :]}
    return tuple(
        replace(level, bound=min(level.bound, below.get(level.name, level.bound)))
        for level in levels
    )


def _is_large(problem: Problem) -> bool:
    """Whether the search for large problems comes first; where only room decides, packing does."""
    if problem.options.judged != "final" or problem.cell_count <= tuning.SMALL_CELLS:
        return False
    return not only_room_decides(problem) or _plain(problem).options == problem.options


def solve_large(problem: Problem, *, report: Report = silent) -> Solution:
    """The best final state that was found, with bounds; `for_sequences` says what they hold for."""
    found = _by_rules(problem, report)
    if found.interrupted or moves_too_many(problem, found):
        return found
    if all(level.proven for level in found.levels if level.kind in ("placed", "excess")):
        return _refined(problem, found, report)
    options = problem.options
    if options.late and not (options.preempt or options.relax):
        return _refined(problem, found, report)
    if only_room_matters(problem) or not whole_model_fits(problem):
        return _refined(problem, _unsacrificed(problem, found), report)
    better = solve_in_full(_timed(problem, found), start=found.counts, report=report)
    return _after(better, found) if better.status in ("optimal", "feasible") else found


def _unsacrificed(problem: Problem, found: Solution) -> Solution:
    """What could have given way is named."""
    options = problem.options
    asked = (("--preempt", options.preempt), ("--relax", options.relax))
    notes = [NOT_LOOKED_AT.format(name) for name, is_asked in asked if is_asked]
    return replace(found, notes=(*found.notes, *notes))


def _by_rules(problem: Problem, report: Report) -> Solution:
    """What the search for large problems finds, in the levels that the options ask for."""
    plain = solve_at_scale(_plain(problem), decide_rest=solve_in_full, report=report)
    return _translated(problem, plain)


def _plain(problem: Problem) -> Problem:
    """Only what the search for large problems knows; without --rebalance nothing moves."""
    options = replace(problem.options, relax=False, preempt=False, prefer="none", move_cost="count")
    part = problem if options.rebalance else problem.restricted(frozenset())
    return replace(part, options=options, displaceable={})


def _translated(problem: Problem, plain: Solution) -> Solution:
    """The plain answer as one to the whole question.

    Its bounds on excess and moves hold there if everything is placed that can be, and otherwise
    only if nothing may give way for it.
    """
    options = problem.options
    levels = _placed(problem, plain)
    everything = all(level.proven for level in levels)
    usual = not (options.preempt or options.relax)
    if usual:
        levels = [level for level in plain.levels if level.kind == "placed"]
    if not all(level.proven for level in levels):
        levels = _capped(problem, levels)
    counts = dict(sorted((Counter(plain.counts) + Counter(_standing(problem))).items()))
    if options.relax:
        levels.append(Level("broken", "broken", 0, 0))
    if options.rebalance:
        levels.append(plain.level("excess") or Level("excess", "excess", 0, 0))
    if options.rebalance or options.preempt:
        fewest = plain.level("moves") or Level("moves", "moves", 0, 0)
        levels.append(replace(fewest, value=_cost(problem, counts)))
    if not (everything or usual):
        levels = [level if level.kind == "placed" else replace(level, bound=0) for level in levels]
    proven = all(level.proven for level in levels)
    return replace(
        plain,
        status="optimal" if proven else "feasible",
        counts=counts,
        levels=tuple(levels),
        for_sequences=True,
    )


def _capped(problem: Problem, placed: list[Level]) -> list[Level]:
    bounds = capped(problem, {level.name: level.bound for level in placed})
    return [replace(level, bound=bounds[level.name]) for level in placed]


def _cost(problem: Problem, counts: Mapping[Cell, int]) -> int:
    return departed(problem, counts, move_weights(problem))


def _standing(problem: Problem) -> dict[Cell, int]:
    """Running pods that could be displaced or moved, and were not asked about."""
    return {} if problem.options.rebalance else problem.current


def _placed(problem: Problem, plain: Solution) -> list[Level]:
    """As the levels count them: with --preempt running pods, too; no more than have room alone."""
    preempt, groups = problem.options.preempt, problem.cluster.groups
    placed: Counter[int] = Counter()
    most: Counter[int] = Counter()
    room = placeable(problem)
    running: Counter[int] = Counter()
    for (group, _), pods in problem.movable.items():
        running[group] += len(pods) if preempt else 0
    for group in problem.groups if preempt else sorted(problem.waiting):
        priority, waiting = groups[group].priority, len(problem.waiting.get(group, ()))
        placed[priority] += running[group] + waiting - plain.unplaced.get(group, 0)
        most[priority] += running[group] + room.get(group, 0)
    return [
        Level(f"placed {priority}", "placed", placed[priority], most[priority])
        for priority in sorted(most, reverse=True)
    ]


def _refined(problem: Problem, found: Solution, report: Report) -> Solution:
    """The costs of moves and the wishes, every rule before them as it was decided."""
    moves = found.level("moves")
    weighed = problem.options.move_cost != "count" and moves is not None and not moves.proven
    if not weighed and not has_wishes(problem):
        return found
    if problem.options.late:
        return _unweighed(problem, found, NOT_IN_TIME)
    if problem.cell_count > tuning.WISHES_CELLS:
        return _unweighed(problem, found)
    timed = _timed(problem, found)
    search = Search(timed, (), report, timed.options.time_limit)
    kept = [level for level in found.levels if not (weighed and level is moves)]
    search.judge_rules(found.counts, {level.name: level.bound for level in kept})
    better = search.finish()
    if better.status not in ("optimal", "feasible"):
        return _unweighed(problem, found)
    bounds = {level.name: level.bound for level in found.levels}
    levels = [replace(each, bound=bounds.get(each.name, each.bound)) for each in better.levels]
    proven = all(level.proven for level in levels)
    named = replace(better, levels=tuple(levels), status="optimal" if proven else "feasible")
    return replace(_after(named, found), for_sequences=True)


def _unweighed(problem: Problem, found: Solution, note: str = NOT_WEIGHED) -> Solution:
    options = problem.options
    names = ["soft preferences"]
    names += [f"--prefer {options.prefer}"] if options.prefer != "none" else []
    names += [f"--move-cost {options.move_cost}"] if options.move_cost != "count" else []
    return replace(found, notes=(*found.notes, note.format(" and ".join(names))))


def _timed(problem: Problem, before: Solution) -> Problem:
    """With what is left of the time: a tenth at least."""
    limit = problem.options.time_limit
    left = max(limit - before.statistics.deterministic_time, limit * tuning.LEAST_SHARE)
    return replace(problem, options=replace(problem.options, time_limit=left))


def _after(found: Solution, before: Solution) -> Solution:
    """A solution that took the time of the one before it, too."""
    spent = found.statistics.deterministic_time + before.statistics.deterministic_time
    statistics = replace(found.statistics, deterministic_time=spent)
    notes = tuple(dict.fromkeys((*before.notes, *found.notes)))
    return replace(found, statistics=statistics, notes=notes)
