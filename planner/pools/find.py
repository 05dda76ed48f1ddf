"""Which nodes to add for the pods that wait: the cheapest set that kube-scheduler fills."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.node_lifecycle import with_condition_taints
from planner.evictions.suggest import settled
from planner.pools.alternatives import Alternative, alternatives
from planner.pools.anneal import anneal
from planner.pools.by_model import by_model
from planner.pools.by_patterns import by_patterns, repair
from planner.pools.even_sets import even_sets
from planner.pools.fill import Counts, Fill, Filling
from planner.pools.first_answers import first_answers
from planner.pools.greedy import grow, improve
from planner.pools.kept_rollouts import KeptRollouts
from planner.pools.least_cost import LeastCost
from planner.pools.pool import Offer
from planner.pools.rising_cost import by_rising_cost
from planner.pools.room import FreshNodes, Never
from planner.pools.search import Search, Tried
from planner.pools.side_effects import SideEffects, side_effects
from planner.pools.survival import Survival
from planner.pools.waiting import Waiting, waiting_pods
from planner.scheduler.profile import Profile
from planner_models.drain import Survive
from planner_models.node import ZONE
from planner_models.pod import DEFAULT_SCHEDULER

Zones = Literal["given", "used"]
SETS, PATTERNS, EVEN, PEERS, NEAR, CHANCE = 0.03, 0.1, 0.1, 0.1, 0.05, 0.85
"""Parts of the time: for sets one by one, for patterns, sets of one pool, of autoscalers, and those
near them; and what has passed when cheaper ones are no longer drawn, but a proof is sought."""
STARTS = 3
"""Sets of one pool that others are drawn from."""


@dataclass(frozen=True)
class ScaleUpOptions:
    """How many seeds a set has to stand, and how long to search.

    Twenty seeds at least decide about an answer; sets are searched for under `seeds`.

    With `keep_rollouts` no rollout that completes today may stop completing, each tried under
    `rollout_seeds`. What has to be survived is the loss of any zone, or of any node. With `zones`
    as `given`, every zone of the pools gets a node that has none.
    """

    seeds: int = 6
    keep_rollouts: bool = True
    rollout_seeds: int = 4
    survive: Survive = "none"
    zones: Zones = "used"
    time_limit: float = 60.0


@dataclass(frozen=True, eq=False)
class Found:
    """The answer: `best` is the cheapest set that was found, or else the one that helps most.

    Without `accepted`, somebody still waits in `best`, or it stops rollouts. `bound` is the cost
    below which no set is an answer; None if no set at all is. `proven` says that `best` is the
    cheapest answer, or that there is none.
    """

    start: Cluster
    """The cluster after kube-scheduler has placed what it can without new nodes."""
    offers: tuple[Offer, ...]
    goal: tuple[int, ...]
    """Pods that some node could take."""
    never: tuple[Never, ...]
    left_out: tuple[int, ...]
    """Pods that kube-scheduler does not look at: gated, or another scheduler's."""
    best: Fill | None
    """None if there is nobody to add a node for."""
    accepted: bool
    bound: int | None
    proven: bool
    agree: int
    """Seeds under which `best` is filled."""
    waiting: tuple[Waiting, ...]
    """Who of the goal still waits in `best`."""
    tried: tuple[Tried, ...]
    alternatives: tuple[Alternative, ...]
    effects: SideEffects
    rollouts: tuple[WorkloadRef, ...]
    """Deployments whose rollouts were tried with the new nodes."""
    options: ScaleUpOptions

    def cost(self, counts: Counts) -> int:
        """What these nodes cost, in whole units of the objective."""
        return sum(n * offer.cost for n, offer in zip(counts, self.offers, strict=True))


def scale_up(
    cluster: Cluster,
    chosen: Collection[int],
    offers: Sequence[Offer],
    profile: Profile,
    options: ScaleUpOptions,
) -> Found:
    """The cheapest nodes for the chosen pods that wait; other waiting pods compete with them."""
    start = settled(with_condition_taints(cluster), profile)
    waiting = [pod for pod in start.pending.tolist() if pod in set(chosen)]
    asked = [pod for pod in waiting if looked_at(start, pod)]
    left_out = tuple(pod for pod in waiting if pod not in set(asked))
    fresh = FreshNodes(Filling(start, tuple(asked), offers, profile))
    never = fresh.never(asked)
    goal = tuple(pod for pod in asked if pod not in {each.pod for each in never})
    found = Found(
        start=start,
        offers=tuple(offers),
        goal=goal,
        never=tuple(never),
        left_out=left_out,
        best=None,
        accepted=True,
        bound=0,
        proven=True,
        agree=options.seeds,
        waiting=(),
        tried=(),
        alternatives=(),
        effects=SideEffects(),
        rollouts=(),
        options=options,
    )
    if not goal:
        return found
    rollouts = KeptRollouts(start, profile, options.rollout_seeds)
    search = Search(
        Filling(start, goal, offers, profile),
        LeastCost(fresh, goal, offers),
        options.seeds,
        rollouts if options.keep_rollouts else None,
        None if options.survive == "none" else Survival(options.survive, profile),
        opened_zones(start, offers) if options.zones == "given" else (),
    )
    best = _searched(search, options.time_limit)
    return replace(
        found,
        best=best,
        accepted=search.confirmed(),
        bound=search.bound,
        proven=search.proven or not search.open,
        agree=sum(not search.filling.fill(best.added, s).waiting for s in range(options.seeds)),
        waiting=waiting_pods(best.cluster, best.waiting, profile),
        tried=tuple(search.tried.values()),
        alternatives=alternatives(search),
        effects=side_effects(start, best.cluster),
        rollouts=rollouts.workloads if options.keep_rollouts else (),
    )


def _searched(search: Search, time_limit: float) -> Fill:
    """The answer, or the nodes that help most.

    Few sets are tried one by one; where that does not end soon, some answer is looked for. If no
    proof is near, most of the time goes into cheaper ones, and the rest into the proof.
    """
    by_rising_cost(search, SETS * time_limit)
    if search.proven and search.found is not None:
        return search.found
    if not search.proven:
        begun = by_patterns(search, search.spent + PATTERNS * time_limit)
        starts = even_sets(search, begun.worth, search.spent + EVEN * time_limit)[:STARTS]
        starts += begun.sets
        repair(search, begun, search.spent + NEAR * time_limit)
        starts += first_answers(search, search.spent + PEERS * time_limit)
        begun.prove(search)
        if search.found is not None:
            by_model(search, search.spent + NEAR * time_limit)
        anneal(search, starts, begun.worth, CHANCE * time_limit)
        improve(search, search.spent + NEAR * time_limit)
        begun.prove(search)
    best = search.found or grow(search, search.spent + EVEN * time_limit)
    most = by_model(search, time_limit)
    if search.found is not None:
        improve(search, time_limit)
        return search.found
    return best if most is None else max(most, best, key=search.filling.by_priority)


def opened_zones(cluster: Cluster, offers: Sequence[Offer]) -> tuple[tuple[int, ...], ...]:
    """The offers of each zone that has no node yet, by number."""
    known = {"", *cluster.topology(ZONE).domains}
    zones = sorted({offer.zone for offer in offers if offer.zone not in known})
    return tuple(tuple(i for i, offer in enumerate(offers) if offer.zone == zone) for zone in zones)


def looked_at(cluster: Cluster, index: int) -> bool:
    """Whether kube-scheduler tries to place the pod."""
    pod = cluster.pods[index]
    gated = pod.terminating or pod.spec.scheduling_gates
    return not gated and pod.spec.scheduler_name == DEFAULT_SCHEDULER
