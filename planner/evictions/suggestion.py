"""What `planner evict` was asked for, and what it found, before that is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.limits import NO_LIMITS, Limits
from planner.disruption.budgets import Allowances
from planner.evictions.asked import among
from planner.evictions.goals import Aim, Emptied, Goal, drains
from planner.evictions.protection import Protection
from planner.evictions.repeated_trials import TriedWaves
from planner.replay.violations import Violation, total, violations
from planner.scheduler.profile import Profile
from planner.sequences.outcome import PlanOutcome
from planner.workers import HERE, Workers


@dataclass(frozen=True)
class EvictOptions:
    """The switches of `planner evict`; `nodes` are to be emptied.

    Without `seeds` 20 are tried, fewer where so many evictions on so many nodes take too long;
    `workers` try them side by side.
    Without `cordons` no node is cordoned for the length of a wave. `by_parts`: there will be more
    plans. Where only the first waves always end well, these are enough; and where limits leave
    something to do, it is told how many evictions there would be without them.
    """

    goals: tuple[Goal, ...] = ("spread",)
    nodes: tuple[int, ...] = ()
    protection: Protection = field(default_factory=Protection)
    limits: Limits = NO_LIMITS
    seeds: int | None = None
    max_unavailable: int | None = None
    time_limit: float = 60.0
    workers: Workers = HERE
    cordons: bool = True
    by_parts: bool = False


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Everything that is known of an eviction plan."""

    given: Cluster
    start: Cluster
    aim: Aim
    profile: Profile
    options: EvictOptions
    protected: Mapping[int, str]
    budgets: Allowances
    outcome: PlanOutcome | None
    """The solver's plan; None where nodes are emptied as they are, each of their pods once."""
    tried: TriedWaves
    emptied: Emptied | None = None
    """What a consolidation looked at."""
    replanned: tuple[int, int] | None = None
    unlimited: int | None = None
    """How many evictions a plan without limits has, if that was asked for."""

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return self.tried.evictions

    @property
    def seeds(self) -> int:
        """How many seeds were tried, each with evicted pods gone and still there."""
        return len(self.tried.manners) // 2

    @cached_property
    def broken(self) -> tuple[Violation, ...]:
        """What the goals find to do at the start."""
        return self._to_do(self.aim.wanted)

    @cached_property
    def remaining(self) -> tuple[Violation, ...]:
        """What is left of it in the end."""
        return self._to_do(self.after)

    def _to_do(self, cluster: Cluster) -> tuple[Violation, ...]:
        """All that the pods break; if nodes are only to be emptied, what is left on them."""
        found = among(violations(cluster, self.profile), self.options.protection.asked)
        if self.aim.anywhere:
            return found
        return tuple(each for each in found if drains(cluster, each))

    def excess_at(self, node_of: IntArray) -> int:
        """What rules are broken by with pods on these nodes."""
        return total(self._to_do(self.aim.at(node_of)))

    @cached_property
    def after(self) -> Cluster:
        """Where pods are in the end if ties are broken by name."""
        return self.aim.at(self.tried.runs[0].node_of)
