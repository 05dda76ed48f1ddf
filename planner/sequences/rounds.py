"""Plans in rounds, where only room decides: longer from round to round.

Nothing in a round depends on the time limit, which only ends them: so more time finds whatever less
would, and then maybe something better. Each round improves the best plan and what was found last,
then the best state on paper, whatever is clean of it, and then says how much more is possible.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from planner.replay.steps import Step
from planner.sequences.clean_plans import ROUND_SECONDS, Clean, Series
from planner.sequences.clean_search import CleanSearch
from planner.sequences.open_room import homeless

HOLDING = 2
"""Times as long as for the first plan: so long it is tried to hold room for later ones."""
ON_PAPER = 4
"""Times as long as for what is better than the best plan: so long a state is improved that nothing
was taken back from."""
FROM_NOW, FROM_NOW_CELLS = 16, 75_000
"""The same for what runs now, with so many groups times nodes or more: it takes longer than from a
plan until that is good, and then fewer pods move. Only where as much is left for the rest."""
AT_FIRST, PROVING = 1, 8
"""The same for proofs that no more pods of a priority can be placed: at first, in each round."""
MORE = 1.5
"""So many times as long everything may take in the next round."""
IN_A_ROW = 2
"""So many times in a row a plan is improved in the first round, and once more in each later one."""


class Rounds:
    """What was looked at so far: another time finds the same."""

    def __init__(self, search: CleanSearch) -> None:
        self._search = search
        self._improved = set[tuple[int, float]]()
        self._extended = set[int]()

    def run(self) -> None:
        """One round after the other, until nothing is left to be placed or the time is over."""
        search, seconds = self._search, ROUND_SECONDS
        search.effort.counted = True
        first = search.of_the_first
        whole = replace(first, holding=HOLDING)
        if self._at_first(seconds, whole.trying):
            return
        homes = replace(whole, spared=homeless(search.problem), reasons={})
        others = [homes, whole] if whole.reasons else [homes]
        for row in count(IN_A_ROW):
            self._improve(seconds, whole.trying, row)
            for series in list(others):
                if search.offer_if_new(search.solved(series), series):
                    self._improve(seconds, whole.trying, row)
                else:
                    others.remove(series)
            search.prove(PROVING * seconds)
            if search.all_placed:
                break
            seconds *= MORE
            for series in others:
                series.seconds *= MORE
                series.trying *= MORE
            whole = replace(whole, reasons={}, trying=MORE * whole.trying)
            self._on_paper_from(search.on_paper[1], ON_PAPER * seconds, whole.trying)

    def _at_first(self, seconds: float, trying: float) -> bool:
        """More beside the first plan, and a state from what runs now; whether nothing is left."""
        best = self._search.best[0]
        series = replace(best.series, seconds=seconds, trying=trying, holding=HOLDING)
        self._extend(best, series)
        if self._nothing_left(AT_FIRST * seconds):
            return True
        self._improve(seconds, trying, IN_A_ROW)
        if self._left > 2 * self._from_now(seconds):
            self._on_paper_from((), self._from_now(seconds), trying)
            self._improve(seconds, trying, IN_A_ROW)
        self._on_paper_from(self._search.on_paper[1], ON_PAPER * seconds, trying)
        return False

    def _from_now(self, seconds: float) -> float:
        """How long a state is improved from what runs now."""
        size = min(1.0, self._search.problem.cell_count / FROM_NOW_CELLS)
        return max(ON_PAPER, FROM_NOW * size) * seconds

    @property
    def _left(self) -> float:
        return self._search.effort.seconds - self._search.effort.spent

    def _nothing_left(self, seconds: float) -> bool:
        """Whether that is seen where nothing better is known on paper."""
        if self._search.on_paper[0][0] == self._search.best[0].candidate.value.placed:
            self._search.prove(seconds)
        return self._search.all_placed

    def _on_paper_from(self, steps: tuple[Step, ...], seconds: float, trying: float) -> None:
        """A state from which nothing was taken back, improved and tried."""
        series = Series(frozenset(), seconds, {}, trying, HOLDING)
        self._search.offer_if_new(self._search.rearranged(series, steps), series)

    def _improve(self, seconds: float, trying: float, row: int) -> None:
        """What was found last, which may lack but little to be the best, and then the best plan."""
        self._go_on(self._search.found[-1], seconds, trying, row)
        self._go_on(self._search.best[0], seconds, trying, 1)

    def _go_on(self, plan: Clean, seconds: float, trying: float, row: int) -> None:
        """From where the plan ends, or else more beside it, as long as that leads on."""
        for _ in range(row):
            if (id(plan), seconds) in self._improved:
                break
            self._improved.add((id(plan), seconds))
            known = len(self._search.found)
            series = replace(plan.series, seconds=seconds, trying=trying, holding=HOLDING)
            self._search.offer_if_new(self._search.rearranged(series, plan.steps), series)
            if len(self._search.found) == known:
                self._extend(plan, series)
            plan = max((plan, *self._search.found[known:]), key=lambda each: each.candidate.key)

    def _extend(self, plan: Clean, series: Series) -> None:
        """More beside the plan: another time finds the same."""
        if id(plan) not in self._extended:
            self._extended.add(id(plan))
            self._search.offer_if_new(self._search.solved(series, plan.steps), series)
