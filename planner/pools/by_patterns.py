"""Sets of nodes by patterns of pods on single nodes, and what no set can cost less than.

Patterns tell how many nodes of each offer would do if pods went where they fit best. kube-scheduler
decides otherwise: whoever then waits gets more nodes, chosen in the same way for what is left,
until nobody does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.cluster import Cluster
from planner.pools.fill import Counts, Filling
from planner.pools.question import question_of
from planner.pools.search import Search
from planner.solver.scale_up.every_choice import EveryChoice
from planner.solver.scale_up.patterns import Patterns
from planner.solver.scale_up.sets_in_turn import SetsInTurn

WHOLE_PODS = 150
"""Pods up to which patterns are chosen in whole numbers, not rounded."""
WHOLE_SECONDS = 1.0
QUESTION_SECONDS = 2e-4
"""What it takes to ask about those who wait, for each pod of the cluster."""
ROUNDS = 12
"""So often more nodes are added for those who wait."""
MOST_DOUBLED = 3
"""So often the number of added nodes is doubled."""
CHOICES = 4
"""Choices of new domains and numbers of nodes that sets are made of, those of the least bound."""


@dataclass(frozen=True)
class Begun:
    """Sets that patterns lead to, and what pods pay for a node of each offer, by its cost."""

    sets: tuple[Counts, ...]
    worth: tuple[float, ...]

    def prove(self, search: Search) -> None:
        """What is known by patterns."""
        if search.sets is not None:
            search.prove(search.sets.every.bound)


def by_patterns(search: Search, until: float, *, in_batches: bool = False) -> Begun:
    """A bound, and sets to begin with; the bound of sets in batches holds for all others, too."""
    every = _every(search, search.filling, until - search.spent, in_batches=in_batches)
    if every is None:
        return Begun((), (1.0,) * len(search.filling.offers))
    search.sets = SetsInTurn(every)
    begun = [] if every.best is None else [every.best]
    chosen = every.patterns[:CHOICES]
    for patterns in chosen:
        begun.append(patterns.rounded())
        whole = _whole(search, patterns) if len(search.filling.goal) <= WHOLE_PODS else None
        begun += [] if whole is None else [whole]
    worth = zip(*(each.worth for each in chosen), strict=True)
    found = Begun(
        tuple(counts for counts in begun if search.filling.allowed(counts)),
        tuple(max(each) for each in worth),
    )
    found.prove(search)
    return found


def repair(search: Search, begun: Begun, until: float) -> None:
    """More nodes for those who wait in these sets, until nobody does."""
    for counts in begun.sets:
        if search.spent < until:
            _repaired(search, counts, until)


def _every(
    search: Search, filling: Filling, seconds: float, *, in_batches: bool = False
) -> EveryChoice | None:
    """Patterns for each choice of new domains; None where no model can hold the question."""
    question = question_of(filling, (1,) * len(filling.offers))
    if question is None:
        return None
    if filling is search.filling:
        question = replace(question, opened=search.opened, in_batches=in_batches)
    every = EveryChoice(question)
    every.generate(seconds)
    search.spent += every.spent
    return every


def _whole(search: Search, patterns: Patterns) -> Counts | None:
    before = patterns.spent
    found = patterns.whole(WHOLE_SECONDS)
    search.spent += patterns.spent - before
    return found


def _repaired(search: Search, counts: Counts, until: float) -> None:
    """Nodes for those who still wait, over and over, until nobody does.

    Whom kube-scheduler leaves waiting depends on chance: from round to round more nodes are added
    for those who wait under one seed, so that others find room as well.
    """
    counts = search.with_opened(counts)
    for number in range(ROUNDS):
        fill = search.worst(counts, few=True)
        if not fill.waiting:
            if search.try_set(counts):
                return
            fill = search.worst(counts)
        loss = None if fill.waiting else search.loss(fill)
        if loss is not None:
            more = more_nodes(search, loss.cluster, loss.waiting, loss.zone)
        elif fill.waiting:
            more = more_nodes(search, fill.cluster, fill.waiting)
        else:
            return  # a rollout gets stuck
        if more is None or search.spent > until:
            return
        times = 1 << min(max(number - 1, 0), MOST_DOUBLED)
        last = (0,) * (len(counts) - len(more)) + more
        counts = tuple(a + times * b for a, b in zip(counts, last, strict=True))
        if not search.filling.allowed(counts) or search.beaten(counts):
            return


def more_nodes(
    search: Search, cluster: Cluster, waiting: tuple[int, ...], lost: str = ""
) -> Counts | None:
    """Nodes for those who wait beside the ones that are there now, in zones that are not lost.

    Where nodes come in batches, these come with the last one.
    """
    filling = search.filling
    batches = max(filling.batches, default=0) + 1
    offers = [
        replace(offer, pool=replace(offer.pool, least=0, most=0 if lost == offer.zone else None))
        if lost
        else replace(offer, pool=replace(offer.pool, least=0))
        for offer in filling.offers[-(len(filling.offers) // batches) :]
    ]
    left = Filling(cluster, waiting, offers, filling.profile)
    search.spent += QUESTION_SECONDS * len(cluster.pods)
    best: tuple[int, Counts] | None = None
    every = _every(search, left, WHOLE_SECONDS)
    for patterns in [] if every is None else every.patterns[:CHOICES]:
        counts = _whole(search, patterns) or patterns.rounded()
        if any(counts):
            cost = sum(n * offer.cost for n, offer in zip(counts, offers, strict=True))
            best = min(filter(None, (best, (cost, counts))))
    return None if best is None else best[1]
