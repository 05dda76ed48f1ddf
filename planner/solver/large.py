"""The front door for large problems: what the way of the large ones knows, then what it doesn't.

That way knows pending pods, excess and the number of moves. The other options are looked at from
there. --preempt and --relax change nothing where everything that can run finds a place by the
rules. Where not everything does, the whole model goes on from the state that was found, if it is
not too large to be built. Wishes, and what moves cost, are looked at in the whole model, too. A
limit on moves is for the caller to see to: any part of an order is legal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from planner.solver.bounds import placeable
from planner.solver.lexicographic import MOST_CELLS_FOR_WISHES, Search
from planner.solver.objectives import departed, has_wishes, move_weights
from planner.solver.packing.ceilings import capped
from planner.solver.packing.stock import only_room_decides
from planner.solver.problem import Cell, Problem
from planner.solver.progress import Report, silent
from planner.solver.scale.pipeline import solve_at_scale
from planner.solver.search import SMALL, cell_count, solve
from planner.solver.solution import Level, Solution

MOST_CELLS = 60_000
"""Cells up to which the whole model is built to see what options change."""
NOT_WEIGHED = "{} are not weighed at this size"
NOT_LOOKED_AT = "at this size {} was only looked at where everything can be placed without it"


def is_large(problem: Problem) -> bool:
    """Whether a problem has to come through this door; where only room decides, packing is best."""
    if problem.options.judged != "final" or cell_count(problem) <= SMALL:
        return False
    return not only_room_decides(problem) or _plain(problem).options == problem.options


def is_huge(problem: Problem) -> bool:
    """Whether the whole model is too large to be built."""
    return cell_count(problem) > MOST_CELLS


def moves_too_many(problem: Problem, found: Solution) -> bool:
    """Whether a state is out of reach of --max-moves."""
    most = problem.options.max_moves
    return most is not None and departed(problem, found.counts) > most


def solve_large(problem: Problem, *, report: Report = silent) -> Solution:
    """The best final state that was found, with bounds; `for_sequences` says what they hold for."""
    found = by_rules(problem, report=report)
    if found.interrupted or moves_too_many(problem, found):
        return found
    if all(level.proven for level in found.levels if level.kind == "placed"):
        return _refined(problem, found, report)
    if is_huge(problem):
        return _refined(problem, _unsacrificed(problem, found), report)
    better = solve(_timed(problem, found), start=found.counts, report=report)
    return _after(better, found) if better.status in ("optimal", "feasible") else found


def _unsacrificed(problem: Problem, found: Solution) -> Solution:
    """What could have given way is named."""
    options = problem.options
    asked = (("--preempt", options.preempt), ("--relax", options.relax))
    notes = [NOT_LOOKED_AT.format(name) for name, is_asked in asked if is_asked]
    return replace(found, notes=(*found.notes, *notes))


def by_rules(problem: Problem, *, report: Report = silent) -> Solution:
    """What the way of the large ones finds, in the levels that the options ask for."""
    return _translated(problem, solve_at_scale(_plain(problem), report=report))


def _plain(problem: Problem) -> Problem:
    """The problem without what that way does not know; without --rebalance nothing moves."""
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
    if not everything:
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
    if cell_count(problem) > MOST_CELLS_FOR_WISHES:
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


def _unweighed(problem: Problem, found: Solution) -> Solution:
    options = problem.options
    names = ["soft preferences"]
    names += [f"--prefer {options.prefer}"] if options.prefer != "none" else []
    names += [f"--move-cost {options.move_cost}"] if options.move_cost != "count" else []
    return replace(found, notes=(*found.notes, NOT_WEIGHED.format(" and ".join(names))))


def _timed(problem: Problem, before: Solution) -> Problem:
    """With what is left of the time: a tenth at least."""
    limit = problem.options.time_limit
    left = max(limit - before.statistics.deterministic_time, limit / 10)
    return replace(problem, options=replace(problem.options, time_limit=left))


def _after(found: Solution, before: Solution) -> Solution:
    """A solution that took the time of the one before it, too."""
    spent = found.statistics.deterministic_time + before.statistics.deterministic_time
    statistics = replace(found.statistics, deterministic_time=spent)
    notes = tuple(dict.fromkeys((*before.notes, *found.notes)))
    return replace(found, statistics=statistics, notes=notes)
