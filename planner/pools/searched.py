"""The ways to sets of nodes, one after the other, each with its part of the time."""

from __future__ import annotations

from dataclasses import dataclass

from planner.pools.anneal import anneal
from planner.pools.by_batches import ByBatches
from planner.pools.by_model import by_model
from planner.pools.by_patterns import Begun, by_patterns, repair
from planner.pools.even_sets import even_sets
from planner.pools.fill import Counts, Fill
from planner.pools.first_answers import first_answers
from planner.pools.greedy import grow, improve
from planner.pools.on_paper import Paper, PaperSet
from planner.pools.rising_cost import by_rising_cost
from planner.pools.search import Search
from planner.pools.steady_sets import steady_sets

SETS, PATTERNS, EVEN, PEERS, NEAR, CHANCE = 0.03, 0.1, 0.1, 0.1, 0.05, 0.85
"""Parts of the time: for sets one by one, for patterns, sets of one pool, of autoscalers, and those
near them; and what has passed when cheaper ones are no longer drawn, but a proof is sought."""
AT_ONCE, IN_BATCHES = 0.4, 0.15
"""What has passed instead where sets in batches are drawn after that; and the time for some to
begin with."""
FEW_PODS = 150
"""Up to which sets that come at once are looked for before those in batches."""
ENOUGH = 100
"""So often lanes are filled with sets, at least, where those in batches come first."""
LONG, LATE = 500, 0.9
"""So often lanes have to be filled for a search step by step; and what may have passed where there
is no time for it, and no proof is near."""
ON_PAPER = 0.15
"""The part of the time that pods on paper get in the end, on top of it if nothing is left."""
STARTS = 3
"""Sets of one pool that others are drawn from."""


@dataclass(frozen=True, eq=False)
class Searched:
    """The answer, or the nodes that help most; the search that it is of if it is in batches.

    And the cheapest nodes on paper, where there is an answer that is not proven the cheapest.
    """

    best: Fill
    staged: Search | None = None
    on_paper: PaperSet | None = None


def searched(search: Search, time_limit: float, batches: int) -> Searched:
    """The answer to a question, all of the time spent unless it is proven before.

    Few sets are tried one by one; where that does not end soon, some answer is looked for. If no
    proof is near, most of the time goes into cheaper ones, and the rest into the proof. Nodes that
    come at once are preferred: none in batches are taken that cost as much. Pods on paper come
    last, so that looking for them costs no answer; what is counted is mostly more than it takes.
    """
    best, staged = _answer(search, time_limit, batches)
    shown = search if staged is None else staged
    if shown.found is None or not shown.open or search.sets is None:
        return Searched(best, staged)
    paper = Paper(search)
    paper.improve(best, max(time_limit, search.spent + ON_PAPER * time_limit))
    if paper.counts is not None and _better(search, paper.counts, shown):
        assert search.found is not None
        return Searched(search.found, None, paper.told())
    return Searched(best, staged, paper.told())


def _better(search: Search, counts: Counts, than: Search) -> bool:
    """Whether kube-scheduler fills nodes of paper that cost less than an answer."""
    assert than.found is not None
    cheaper = search.least.cost(counts) < than.least.cost(than.found.added.counts)
    return cheaper and search.filling.allowed(counts) and search.try_set(counts)


def _answer(search: Search, time_limit: float, batches: int) -> tuple[Fill, Search | None]:
    by_rising_cost(search, SETS * time_limit)
    staged = _drawn(search, time_limit, batches)
    if staged is not None and staged.found is not None and staged.cheaper_than(search):
        return staged.found, staged
    if search.proven and search.found is not None:
        return search.found, None
    best = search.found or grow(search, search.spent + EVEN * time_limit)
    most = by_model(search, time_limit)
    if search.found is not None:
        improve(search, time_limit)
        return search.found, None
    return best if most is None else max(most, best, key=search.filling.by_priority), None


def _drawn(search: Search, time_limit: float, batches: int) -> Search | None:
    """Answers by patterns, by rules of thumb, and by chance, at once and in batches.

    Of few pods those at once come first, as they can be proven, and where there is time for few.
    """
    if search.proven:
        return None if search.found is None else _after_proof(search, time_limit, batches)
    many = len(search.filling.goal) > FEW_PODS
    first = batches > 1 and many and _often(search, time_limit)
    begun = by_patterns(search, search.spent + PATTERNS * time_limit, in_batches=first)
    even = NEAR if first else EVEN
    starts = even_sets(search, begun.worth, search.spent + even * time_limit)[:STARTS]
    starts += begun.sets
    staged = None
    if first and search.open:
        staged = ByBatches(search, batches, starts, search.spent + IN_BATCHES * time_limit)
    if staged is None:
        at_once = CHANCE if batches == 1 else AT_ONCE
        _drawn_at_once(search, begun, starts, time_limit, at_once * time_limit)
    if batches == 1:
        return None
    if staged is None:
        staged = ByBatches(search, batches, starts, search.spent + IN_BATCHES * time_limit)
    staged.draw(search, begun.worth, CHANCE * time_limit)
    return staged.search


def _after_proof(search: Search, time_limit: float, batches: int) -> Search | None:
    """In batches there may be cheaper ones than the cheapest that come at once."""
    if batches == 1 or search.found is None:
        return None
    starts = (search.found.added.counts,)
    staged = ByBatches(search, batches, starts, search.spent + IN_BATCHES * time_limit)
    staged.draw(search, (1.0,) * len(search.filling.offers), CHANCE * time_limit)
    return staged.search


def _often(search: Search, time_limit: float) -> bool:
    """Whether there is time to fill sets in batches so often that some get better."""
    return ENOUGH * search.filling_seconds(_about(search)) < time_limit


def _seldom(search: Search, seconds: float) -> bool:
    """Whether there is time to fill sets side by side, but not step by step."""
    return search.lanes > 1 and seconds < LONG * search.filling_seconds(_about(search))


def _about(search: Search) -> int:
    """About so many nodes a set has."""
    return len(search.filling.goal) // 10


def _drawn_at_once(
    search: Search, begun: Begun, starts: list[Counts], time_limit: float, until: float
) -> None:
    """Sets that come at once; where there is time for few, those that hardly depend on chance."""
    if search.open and _seldom(search, until - search.spent):
        steady_sets(search, begun.worth, max(until, LATE * time_limit))
    if search.found is None or search.spent < until:
        repair(search, begun, search.spent + NEAR * time_limit)
        starts += first_answers(search, search.spent + PEERS * time_limit)
        begun.prove(search)
        if search.found is not None:
            by_model(search, search.spent + NEAR * time_limit)
        anneal(search, starts, begun.worth, until)
    improve(search, search.spent + NEAR * time_limit)
    begun.prove(search)
