"""The cheapest nodes with at most so many evictions, by rising cost.

First there is the answer by nodes alone. Of the sets that are better, a model of nodes and moves
names the cheapest on paper; evictions are looked for with which everybody runs under every seed,
and where none are found exactly this set is cut off. Not having found any proves nothing, so from
there on the bound stays. Where the model is too large, or its sets fail, sets near the answer are
tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from planner.cluster import Cluster
from planner.pools.fill import Counts, Fill, Filling
from planner.pools.find import Found, opened_zones
from planner.pools.kept_rollouts import KeptRollouts
from planner.pools.moves.answer import WithMoves
from planner.pools.moves.bound import least_cost
from planner.pools.moves.waves import Rearranged, Waves
from planner.pools.question import most_nodes, question_of
from planner.pools.side_effects import side_effects
from planner.pools.survival import Survival
from planner.scheduler.profile import Profile
from planner.solver.problem.options import SolveOptions
from planner.solver.scale_up.with_moves import NodesAndMoves

ON_PAPER = 0.8
"""Of the time: for sets that the model names."""
ONE_CALL = 0.5
"""Of the time: what naming one of them may take."""
MOVES_SECONDS, MOVES_SHARE = 2.0, 0.1
"""What finding the fewest moves of such a set may take: seconds, and a part of the time."""
PLAN_SECONDS, LEAST_SECONDS = 5.0, 1.0
"""What a plan for one set may take, and gets in any case."""


@dataclass(frozen=True)
class Limits:
    """Groups times nodes up to which a model is built, and how many sets are tried."""

    cells: int = 20_000
    tried: int = 40


class MovesSearch:
    """Sets that are better than what is known by nodes alone."""

    def __init__(
        self,
        known: Found,
        profile: Profile,
        movable: frozenset[int],
        most: int,
        until: float,
        limits: Limits | None = None,
    ) -> None:
        options = known.options
        self._known = known
        self._asked, self._most = most, min(most, len(movable))
        self._movable = movable
        self._until = until
        self._limits = limits or Limits()
        self._filling = Filling(known.start, known.goal, known.offers, profile)
        self._waves = Waves(self._filling, movable, self._most, options.seeds)
        self._opened = opened_zones(known.start, known.offers) if options.zones == "given" else ()
        rollouts = KeptRollouts(known.start, profile, options.rollout_seeds)
        self._rollouts = rollouts if options.keep_rollouts else None
        survive = options.survive
        self._survival = None if survive == "none" else Survival(survive, profile)
        self._spent = 0.0
        self._tried: set[Counts] = set()
        self._better: Fill | None = None
        self._rearranged: Rearranged | None = None
        self._fewest = False
        self._bound = 0
        self._excluded = False
        """No set is better than what is known: proven."""
        self.model = self._model() if known.goal and self._most else None

    def run(self) -> WithMoves:
        """The best that is found, and what is proven."""
        if not self._known.goal or not self._most:
            return WithMoves(self._asked, self._known, self._known)
        self._by_sums()
        self._on_paper()
        if self._better is None:
            self._nearby()
        found, moved = self._found(), self._rearranged
        return WithMoves(self._asked, found, self._known, moved, self._fewest)

    # Sets

    def _value(self) -> tuple[int, int] | None:
        """Cost and nodes of the answer by nodes alone."""
        best = self._known.best
        return None if best is None or not self._known.accepted else self._worth(best.added.counts)

    def _worth(self, counts: Counts) -> tuple[int, int]:
        return self._known.cost(counts), sum(counts)

    def _by_sums(self) -> None:
        """A bound that holds at any size."""
        bound = least_cost(self._filling, self._most)
        self._excluded = bound is None
        self._bound = bound or 0

    def _on_paper(self) -> None:
        """Sets that the model names, the cheapest first."""
        model, until = self.model, ON_PAPER * self._until
        if model is None or self._excluded:
            return
        while self._spent < until and len(self._tried) < self._limits.tried:
            before = model.time
            limit = min(ONE_CALL * self._until, until - self._spent)
            named = model.cheapest(limit, min(MOVES_SECONDS, MOVES_SHARE * self._until))
            self._spent += model.time - before
            if not self._tried:
                self._bound = max(self._bound, named.bound)
                self._excluded = named.complete and named.counts is None and self._all_sets()
            if named.counts is None:
                return
            first = not self._tried
            self._try(named.counts, named.moves if named.fewest else 0, named.moves)
            if self._better is not None:
                moves = 0 if self._rearranged is None else self._rearranged.evictions
                self._fewest = named.fewest and first and moves == named.moves
                return
            model.cut_off(named.counts)

    def _nearby(self) -> None:
        """Sets that are one node away from the answer, and from there on, as far as it goes.

        Without an answer by nodes alone, the nodes that help most are tried with moves first.
        """
        if self._excluded:
            return
        best = self._known.best
        least = tuple(offer.pool.least for offer in self._known.offers)
        counts = least if best is None else best.added.counts
        if self._value() is None and counts not in self._tried:
            self._try(counts)
        while self._value() is not None or self._better is not None:
            counts = counts if self._better is None else self._better.added.counts
            if not self._step(counts):
                return

    def _step(self, counts: Counts) -> bool:
        """The cheapest of the sets that are one node away and an answer; False if none is."""
        for near in sorted(set(self._one_away(counts)), key=self._worth):
            if self._spent > self._until or len(self._tried) >= self._limits.tried:
                return False
            if near not in self._tried and self._worth(near)[0] >= self._bound:
                before = self._better
                self._try(near)
                if self._better is not before:
                    return True
        return False

    def _one_away(self, counts: Counts) -> Iterator[Counts]:
        """One node less, or a cheaper one in its place."""
        offers = self._known.offers
        for i, offer in enumerate(offers):
            if counts[i] <= offer.pool.least:
                continue
            fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
            yield fewer
            for j, other in enumerate(offers):
                if other.cost < offer.cost:
                    yield (*fewer[:j], fewer[j] + 1, *fewer[j + 1 :])

    # One set

    def _try(self, counts: Counts, least: int = 0, about: int = 0) -> None:
        """Look for evictions with which the set is an answer; it may be one without any.

        On paper it takes `about` so many evictions, and none at all with fewer than `least`.
        """
        self._tried.add(counts)
        opens = all(any(counts[i] for i in offers) for offers in self._opened)
        if not opens or not self._filling.allowed(counts):
            return
        fill = self._filling.worst(counts, self._known.options.seeds)
        if not fill.waiting:
            if not self._harms(fill.cluster):
                self._better, self._rearranged = fill, None
            return
        before = self._waves.spent
        limit = min(PLAN_SECONDS, max(self._until - self._spent, LEAST_SECONDS))
        found = self._waves.found(fill, least, about, limit)
        self._spent += self._waves.spent - before
        if found is not None and not self._harms(found.cluster):
            settled = replace(fill.settled, cluster=found.cluster, seed=0, messages={})
            self._better, self._rearranged = Fill(found.added, settled, ()), found

    def _harms(self, cluster: Cluster) -> bool:
        """Whether a rollout gets stuck, or a failure leaves pods waiting that must not."""
        if self._rollouts is not None and self._rollouts.broken(cluster):
            return True
        return self._survival is not None and self._survival.worst(cluster) is not None

    # The model

    def _model(self) -> NodesAndMoves | None:
        """All sets that are better than the answer by nodes alone; None if it is too large."""
        value, filling = self._value(), self._filling
        most = most_nodes(filling, None if value is None else value[0], self._most)
        cluster = filling.cluster
        decided = [*self._movable, *cluster.pending.tolist()]
        groups = len({int(group) for group in cluster.group_of[decided]})
        if groups * (len(cluster.nodes) + sum(most)) > self._limits.cells:
            return None
        stay = frozenset(range(len(cluster.pods))) - self._movable
        options = SolveOptions(judged="moment", rebalance=True, spared=stay)
        question = question_of(filling, most, options)
        if question is None:
            return None
        model = NodesAndMoves(replace(question, opened=self._opened), self._most)
        if value is not None:
            model.below(*value)
        return model

    def _all_sets(self) -> bool:
        """Whether the model had all sets that there are, and not only those of some size."""
        if self._value() is not None:
            return True
        most = most_nodes(self._filling, None, self._most)
        return all(o.pool.most == n for o, n in zip(self._known.offers, most, strict=True))

    # The answer

    def _found(self) -> Found:
        known, better, value = self._known, self._better, self._value()
        if better is None and self._excluded:
            return replace(known, bound=None if value is None else value[0], proven=True)
        if better is None and value is None:
            return replace(known, bound=self._bound, proven=False)
        if better is None:
            assert value is not None
            return replace(known, bound=min(value[0], self._bound), proven=value[0] <= self._bound)
        cost = known.cost(better.added.counts)
        return replace(
            known,
            best=better,
            accepted=True,
            bound=min(cost, self._bound),
            proven=cost <= self._bound,
            agree=known.options.seeds,
            waiting=(),
            alternatives=tuple(
                each for each in known.alternatives if known.cost(each.counts) <= cost
            ),
            effects=side_effects(known.start, better.cluster),
            rollouts=() if self._rollouts is None else self._rollouts.workloads,
        )
