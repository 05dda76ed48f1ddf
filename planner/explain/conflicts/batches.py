"""All minimal conflicts of a batch, or the first few: found by the solver, confirmed on copies.

Sets of facts are judged one at a time. A set that fits has a sequence of placements that passes
kube-scheduler's filters on a cluster where only these facts hold; a set that doesn't has a proof.
Every minimal conflict meets the complement of every set that fits, and the other way round: the
largest sets that contain no known conflict are judged until each of them fits (MARCO's idea, with
hitting sets for the map).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from planner.cluster import Cluster
from planner.explain.conflicts.conflict import minimal_hitting_sets
from planner.explain.conflicts.facts import Demands, Fact, facts_of
from planner.explain.conflicts.reduced import reduced
from planner.explain.conflicts.relaxed import relaxed
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.situation.trial_state import place_in_turn
from planner.scheduler.profile import Profile
from planner_models.diagnosis import Conflict

if TYPE_CHECKING:  # the solver is imported when it is asked
    from planner.explain.conflicts.cores import Cores

QUESTIONS = 80
"""Sets of facts that are judged before the search for further conflicts ends."""
SHOWN = 8
SECONDS = 3.0
"""Deterministic time for each set that kube-scheduler's own choice does not settle."""


@dataclass(frozen=True)
class Found:
    """Minimal conflicts, the best first; `complete` says that there are no others."""

    sets: tuple[tuple[tuple[Fact, ...], bool], ...]
    """Facts, and whether minimality is confirmed."""
    complete: bool
    all_facts: tuple[Fact, ...]

    def documents(self) -> tuple[Conflict, ...]:
        """As the diagnosis lists them."""
        return tuple(
            Conflict(constraints=tuple(fact.document() for fact in facts), minimal=minimal)
            for facts, minimal in self.sets
        )

    @property
    def proof(self) -> str:
        """`the conflict {train, render, CPU} is minimal`."""
        facts, minimal = self.sets[0]
        listed = ", ".join(fact.name for fact in facts)
        return f"the conflict {{{listed}}} is {'' if minimal else 'not proven '}minimal"


def conflicts_of(subject: Subject, demands: Demands) -> Found | None:
    """Why the demanded pods don't all find a node while running pods stay; None if unknown."""
    facts = facts_of(subject, demands)
    small = subject_of(reduced(subject, demands), subject.profile, subject.pod)
    search = _Search(small, demands, facts_of(small, demands))
    if len(search.facts) != len(facts):
        search = _Search(subject, demands, facts)
    search.run()
    if not search.conflicts:
        return None
    judged = [
        (tuple(f for bit, f in enumerate(facts) if mask >> bit & 1), search.confirmed(mask))
        for mask in search.conflicts
    ]
    judged.sort(key=lambda pair: (not pair[1], *_rank(pair[0], facts)))
    return Found(tuple(judged[:SHOWN]), search.complete and len(judged) <= SHOWN, facts)


def _rank(conflict: Sequence[Fact], facts: Sequence[Fact]) -> tuple[int, int, list[int]]:
    """Fewest facts first, then those that the user can change, then the order of the facts."""
    order = [facts.index(fact) for fact in conflict]
    return len(conflict), sum(fact.changeable for fact in conflict), order


@dataclass(eq=False)
class _Search:
    """One search in the making; sets of facts are bit masks."""

    subject: Subject
    demands: Demands
    facts: tuple[Fact, ...]
    conflicts: list[int] = field(default_factory=list)
    complete: bool = False
    _known: dict[int, bool | None] = field(default_factory=dict)

    def run(self) -> None:
        everything = (1 << len(self.facts)) - 1
        if self._fits(everything) is not False:
            return
        self.conflicts.append(self._shrunk(everything))
        while len(self._known) < QUESTIONS:
            seeds, all_seeds = minimal_hitting_sets(self.conflicts)
            unsure = not all_seeds
            for missing in seeds:
                fits = self._fits(everything & ~missing)
                unsure |= fits is None
                if fits is False:
                    self.conflicts.append(self._shrunk(everything & ~missing))
                    break
            else:
                self.complete = not unsure
                return

    @cached_property
    def _cores(self) -> Cores:
        from planner.explain.conflicts.cores import Cores

        return Cores(self.subject.cluster, self.demands, self.facts)

    def facts_in(self, mask: int) -> tuple[Fact, ...]:
        """The facts of a mask, in their order."""
        return tuple(fact for bit, fact in enumerate(self.facts) if mask >> bit & 1)

    def confirmed(self, mask: int) -> bool:
        """The set has no solution, and without any one of its facts it has one."""
        bits = [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
        return self._fits(mask) is False and all(self._fits(mask & ~bit) for bit in bits)

    def _shrunk(self, mask: int) -> int:
        """Fact by fact: what can be spared goes, those that are hard to change first."""
        mask = self._core(mask)
        by_change = sorted(
            range(len(self.facts)), key=lambda bit: (-self.facts[bit].changeable, -bit)
        )
        for bit in by_change:
            rest = mask & ~(1 << bit)
            if rest != mask and self._fits(rest) is False:
                mask = self._core(rest)
        return mask

    def _core(self, mask: int) -> int:
        """The solver's guess, if it is a conflict on a copy as well."""
        named = self._cores.core(self.facts_in(mask))
        if named is None:
            return mask
        guess = sum(1 << self.facts.index(fact) for fact in named)
        return guess if guess != mask and self._fits(guess) is False else mask

    def _fits(self, mask: int) -> bool | None:
        if mask not in self._known:
            kept = self.facts_in(mask)
            self._known[mask] = _fits(self.subject, self.demands, self.facts, kept)
        return self._known[mask]


def _fits(
    subject: Subject, demands: Demands, facts: Sequence[Fact], kept: Sequence[Fact]
) -> bool | None:
    """Whether a sequence places what these facts ask for; None if neither is proven."""
    pods = [pod for fact in kept if fact.workload for pod in demands[fact.workload]]
    if not pods:
        return True
    cluster = relaxed(subject.cluster, demands, facts, kept)
    value, bound = most_that_fit(cluster, subject.profile, pods)
    if value == len(pods):
        return True
    return False if bound is not None and bound < len(pods) else None


def most_of(subject: Subject, demands: Demands) -> tuple[int, int | None]:
    """How many of the demanded pods find a node while running pods stay, and a bound on it."""
    pods = [pod for each in demands.values() for pod in each]
    return most_that_fit(reduced(subject, demands), subject.profile, pods)


def most_that_fit(
    cluster: Cluster, profile: Profile, pods: Sequence[int]
) -> tuple[int, int | None]:
    """How many of the pods that wait a sequence of placements was found for, and a bound on it."""
    turn = place_in_turn(subject_of(cluster, profile, pods[0]), pods)
    if not turn.left:
        return len(pods), len(pods)
    from planner.explain.room.by_solver import placed
    from planner.sequences.decide import decide
    from planner.solver.problem.options import SolveOptions
    from planner.solver.problem.problem import build_problem
    from planner.solver.progress import silent

    others = frozenset(cluster.pending.tolist()) - frozenset(pods)
    alone = cluster.without(others) if others else cluster
    problem = build_problem(alone, SolveOptions(time_limit=SECONDS))
    value, bound = placed(problem, decide(problem, profile, silent).objectives)
    return max(value, len(turn.placed)), bound
