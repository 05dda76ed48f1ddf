"""What the user may ask of a plan."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Literal

from planner.disruption.movability import DEFAULT_POLICY, MovePolicy
from planner_models.scheduler_args import (
    InterPodAffinityArgs,
    NodeAffinityArgs,
    PodTopologySpreadArgs,
)
from planner_models.selectors import LabelSelector

Preference = Literal["balance", "pack", "none"]
MoveCost = Literal["count", "priority"]
Judgement = Literal["final", "moment"]
"""When the rules of a landing are judged.

`final`: in the final state. `moment`: only what every sequence of legal steps has to obey, whatever
its order; weaker, so that its optimum bounds what sequences can reach.
"""


@dataclass(frozen=True)
class SchedulerArgs:
    """What the scheduler's configuration adds to the pods' own wishes."""

    pod_topology_spread: PodTopologySpreadArgs = field(default_factory=PodTopologySpreadArgs)
    node_affinity: NodeAffinityArgs = field(default_factory=NodeAffinityArgs)
    inter_pod_affinity: InterPodAffinityArgs = field(default_factory=InterPodAffinityArgs)


@dataclass(frozen=True)
class SolveOptions:
    """The switches of `planner solve`; the defaults leave running pods where they are."""

    rebalance: bool = False
    relax: bool = False
    preempt: bool = False
    prefer: Preference = "none"
    max_moves: int | None = None
    move_cost: MoveCost = "count"
    policy: MovePolicy = DEFAULT_POLICY
    movable: LabelSelector | None = None
    immovable: LabelSelector | None = None
    spared: frozenset[int] = frozenset()
    """Pods that stay where they are, by their index in the snapshot."""
    unyielding: frozenset[int] = frozenset()
    """Pods that give way to no other even with `preempt`."""
    max_unavailable: int | None = None
    """How many pods the plan may have down at once; budgets hold in any case."""
    time_limit: float = 60.0
    """About seconds, but measured in the solver's work: the same input gives the same answer."""
    until: float = math.inf
    """When the user stops waiting, by the monotonic clock: a slow machine does less.

    What nobody set a limit for, such as a question of `explain`, ends by its work alone.
    """
    seed: int = 0
    workers: int = 1
    surge: bool = False
    """Controllers that can start the new pod first do so."""
    hops: bool = True
    """Pods may run on a temporary node rather than wait, where moves wait for each other."""
    judged: Judgement = "final"
    scheduler: SchedulerArgs = field(default_factory=SchedulerArgs)

    def waited_for(self) -> SolveOptions:
        """From now on a user waits: the time limit counts the clock as well."""
        return replace(self, until=time.monotonic() + self.time_limit)

    @property
    def late(self) -> bool:
        """Whether a user has waited long enough."""
        return time.monotonic() >= self.until

    def within(self, seconds: float) -> SolveOptions:
        """With so much time, by the clock as well where a user waits."""
        until = self.until if math.isinf(self.until) else time.monotonic() + seconds
        return replace(self, time_limit=seconds, until=min(self.until, until))
