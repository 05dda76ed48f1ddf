"""The cheapest sets of nodes by all rules in one model, tried one after the other.

The model's cheapest set bounds all answers. If kube-scheduler does not fill it, or a rollout would
get stuck, exactly this set is cut off and the next cheapest is tried: so the first that is an
answer is the cheapest one. Before that, patterns of pods on nodes raise the bound further, and
where they can be enumerated, all sets that they allow are tried by rising cost.
"""

from __future__ import annotations

from dataclasses import replace

from planner.pools.fill import Fill
from planner.pools.question import most_nodes, question_of
from planner.pools.search import Search
from planner.solver.scale_up.exact import ExactNodes

CELLS = 6_000
"""Groups times nodes that could be added up to which a model is built."""

PATTERNS = 0.8
"""The part of the time for patterns, and of the rest for the sets that they allow."""
LEAST_SECONDS = 1.0
"""For the nodes that help most, however much time is spent."""


def by_model(search: Search, until: float) -> Fill | None:
    """Go on until the answer is proven, or so much time is spent.

    If it is proven that not everybody can run, what is returned are the nodes with which most do,
    by priority, for the least cost, as kube-scheduler fills them.
    """
    by_sets(search, until)
    model = _model(search) if search.open or search.found is None else None
    if model is None:
        return None
    cut = False
    while search.spent < until:
        before = model.time
        cheapest = model.best(until - search.spent)
        search.spent += model.time - before
        search.prove(cheapest.bound)
        if cheapest.complete and cheapest.counts is None:
            search.proven = not cut or search.found is not None or _limited(search)
            break
        if cheapest.counts is None:
            return None
        if cheapest.complete and search.as_good_as(*search.value(cheapest.counts)):
            search.proven = True
            return None
        good = search.try_set(cheapest.counts)
        if good and cheapest.complete:
            search.proven = True
            return None
        if not cheapest.complete:
            return None
        model.cut_off(cheapest.counts)
        cut = True
        model.at_least(cheapest.bound)
    if search.found is not None or not search.proven:
        return None
    least = _model(search, everybody=False)
    counts = None if least is None else least.most_running(max(until - search.spent, LEAST_SECONDS))
    return None if counts is None else search.worst(counts)


def by_sets(search: Search, until: float) -> None:
    """If there is an answer, raise the bound by patterns, and try the sets that they leave."""
    sets = search.sets
    if sets is None or search.found is None or search.spent > until:
        return
    every = sets.every
    before = every.spent
    every.generate(PATTERNS * (until - search.spent), _cost(search))
    search.spent += every.spent - before
    search.prove(every.bound)
    until = search.spent + PATTERNS * (until - search.spent)
    while search.open and search.spent < until:
        before = every.spent
        counts = sets.next(until - search.spent, _cost(search))
        search.spent += every.spent - before
        search.prove(every.bound)
        if counts is None:
            return
        search.try_set(counts)


def _cost(search: Search) -> int | None:
    """What the answer so far costs."""
    found = search.found
    return None if found is None else search.least.cost(found.added.counts)


def _limited(search: Search) -> bool:
    """Whether the model had all sets that there are, and not only those of some size."""
    most = most_nodes(search.filling, None)
    offers = search.filling.offers
    return all(offer.pool.most == n for offer, n in zip(offers, most, strict=True))


def _model(search: Search, *, everybody: bool = True) -> ExactNodes | None:
    """The model of all sets that cost no more than the answer so far; None if it is too large."""
    filling = search.filling
    most = most_nodes(filling, _cost(search))
    groups = len({int(g) for g in filling.cluster.group_of[filling.cluster.pending]})
    if sum(most) * groups > CELLS:
        return None
    question = question_of(filling, most)
    if question is None:
        return None
    return ExactNodes(replace(question, opened=search.opened), everybody=everybody)
