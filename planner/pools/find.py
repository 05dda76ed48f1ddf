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
from planner.pools.fill import Counts, Fill, Filling
from planner.pools.kept_rollouts import KeptRollouts
from planner.pools.least_cost import LeastCost
from planner.pools.on_paper import PaperSet
from planner.pools.pool import Offer
from planner.pools.room import FreshNodes, Never
from planner.pools.search import Search, Tried
from planner.pools.searched import searched
from planner.pools.side_effects import SideEffects, side_effects
from planner.pools.survival import Survival
from planner.pools.waiting import Waiting, waiting_pods
from planner.scheduler.profile import Profile
from planner_models.drain import Survive
from planner_models.node import ZONE
from planner_models.pod import DEFAULT_SCHEDULER

Zones = Literal["given", "used"]


@dataclass(frozen=True)
class ScaleUpOptions:
    """How many seeds a set has to stand, and how long to search.

    Twenty seeds at least decide about an answer; sets are searched for under `seeds`.

    With `keep_rollouts` no rollout that completes today may stop completing, each tried under
    `rollout_seeds`. What has to be survived is the loss of any zone, or of any node. With `zones`
    as `given`, every zone of the pools gets a node that has none. Nodes may come in up to so many
    `batches`, if that is cheaper than all at once.
    """

    seeds: int = 6
    keep_rollouts: bool = True
    rollout_seeds: int = 4
    survive: Survive = "none"
    zones: Zones = "used"
    time_limit: float = 60.0
    batches: int = 1


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
    on_paper: PaperSet | None = None
    """The cheapest nodes that were found for pods that go where they fit best; None if there was no
    need to look for some, or they did not stand the check."""
    batches: tuple[int, ...] = ()
    """By offer: in which batch its nodes come, from 0 on; empty if all come at once. Then offers
    stand there once for each batch, and the bound is that of all sets in so many batches."""

    def cost(self, counts: Counts) -> int:
        """What these nodes cost, in whole units of the objective; those of the first batch come
        first, so that sets that come at once are shorter.
        """
        return sum(n * offer.cost for n, offer in zip(counts, self.offers, strict=False))

    @property
    def offers_at_once(self) -> tuple[Offer, ...]:
        """Every offer once."""
        return self.offers[: len(self.offers) // (max(self.batches, default=0) + 1)]


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
    answer = searched(search, options.time_limit, options.batches)
    found = replace(found, on_paper=answer.on_paper)
    best, staged = answer.best, answer.staged
    if staged is None:
        return _told(found, search, best)
    wider = replace(found, offers=tuple(staged.filling.offers), batches=staged.filling.batches)
    return _told(wider, staged, best)


def _told(found: Found, search: Search, best: Fill) -> Found:
    """What a search has found, `best` filled once more seed by seed."""
    filling, options = search.filling, found.options
    return replace(
        found,
        best=best,
        accepted=search.confirmed(),
        bound=search.bound,
        proven=search.proven or not search.open,
        agree=sum(not filling.fill(best.added, seed).waiting for seed in range(options.seeds)),
        waiting=waiting_pods(best.cluster, best.waiting, filling.profile),
        tried=tuple(search.tried.values()),
        alternatives=alternatives(search),
        effects=side_effects(found.start, best.cluster),
        rollouts=() if search.rollouts is None else search.rollouts.workloads,
    )


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
