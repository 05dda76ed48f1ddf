"""An order of steps that leads to a wanted final state, or the proof that there is none.

A sweep takes the moves one by one and handles plans of any size. Where it gets stuck, all orders of
the groups in question are looked through: that decides up to about 20 moves that depend on each
other, and more where few of them can be exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.replay.steps import Step
from planner.scheduler.profile import Profile
from planner.sequences.arena import HIGHEST, Arena
from planner.sequences.assignment import Act, assign
from planner.sequences.components import components, supply
from planner.sequences.ledger import Ledger
from planner.sequences.move_by_move import Task, sweep, tasks
from planner.sequences.order_search import OrderSearch
from planner.sequences.relevance import Relevance
from planner.solver.problem import Cell, Problem

MOVE_LIMIT = 200
"""Departures and landings of one part, above which looking through all orders is not tried."""
STATE_LIMIT = 50_000
"""So many states are visited before the search for an order gives up."""


@dataclass(frozen=True)
class Order:
    """Steps of which each passes every filter at its moment."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class NoOrder:
    """The state can't be reached by evicting each leaving pod once.

    The proof is about these groups alone: no state that agrees with it in their counts can be
    reached, wherever other pods go.
    """

    groups: tuple[int, ...]


@dataclass(frozen=True)
class Undecided:
    """No order was found for these groups, and too many are possible to try them all."""

    groups: tuple[int, ...]


def find_order(
    problem: Problem,
    counts: Mapping[Cell, int],
    profile: Profile,
    *,
    state_limit: int = STATE_LIMIT,
) -> Order | NoOrder | Undecided:
    """Steps from now to the counts: `counts[g, n]` non-fixed pods of each group on each node.

    No pod is evicted but those that the counts move away from their node.
    """
    todo = tasks(problem, counts)
    for task in todo:
        if not problem.allowed(task.group)[list(task.arrivals)].all():
            return NoOrder((task.group,))
    relevance = Relevance(problem.cluster, profile)
    acts = _sweep(problem, profile, relevance, todo)
    if acts is not None:
        return Order(assign(problem, acts))
    return _part_by_part(problem, profile, relevance, todo, state_limit)


def _part_by_part(
    problem: Problem,
    profile: Profile,
    relevance: Relevance,
    todo: Sequence[Task],
    state_limit: int,
) -> Order | NoOrder | Undecided:
    """Groups that have nothing to do with each other are ordered apart."""
    undecided: Undecided | None = None
    found: list[Act] = []
    for part in components(problem, relevance):
        mine = [task for task in todo if task.group in part]
        acts, exhausted = _order_part(problem, profile, relevance, mine, state_limit)
        if acts is not None:
            found += acts
        elif exhausted:
            return NoOrder(part)
        else:
            undecided = undecided or Undecided(part)
    return undecided or Order(assign(problem, found))


def _sweep(
    problem: Problem, profile: Profile, relevance: Relevance, todo: Sequence[Task]
) -> list[Act] | None:
    """First with as few pods down as possible, then with all of them."""
    groups = [task.group for task in todo]
    for evict_first in (False, True):
        ledger = Ledger(problem, profile, relevance, groups)
        acts = sweep(ledger, todo, evict_first=evict_first)
        if acts is not None:
            return acts
    return None


def _order_part(
    problem: Problem,
    profile: Profile,
    relevance: Relevance,
    todo: Sequence[Task],
    state_limit: int,
) -> tuple[list[Act] | None, bool]:
    """An order for one part of the plan, if any, and whether all were tried."""
    acts = _sweep(problem, profile, relevance, todo)
    moves = sum(len(task.departures) + len(task.arrivals) for task in todo)
    groups = sorted(task.group for task in todo)
    if acts is not None or moves > MOVE_LIMIT or _too_many(problem, groups):
        return acts, False
    nodes = sorted({node for task in todo for node in (*task.departures, *task.arrivals)})
    search = OrderSearch(Arena(problem, profile, relevance, groups, nodes), todo)
    return search.run(state_limit), search.exhausted


def _too_many(problem: Problem, groups: Sequence[int]) -> bool:
    return max(supply(problem, group) for group in groups) > HIGHEST
