"""What autoscalers would add for the same pods, round after round, until nobody waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from planner.cluster import Cluster
from planner.pools.fill import Counts, Fill, Filling
from planner.pools.kept_rollouts import KeptRollouts, Stuck
from planner.pools.peers import cluster_autoscaler as autoscaler
from planner.pools.peers.karpenter import Provisioner, chosen_offers
from planner.pools.peers.world import World
from planner.pools.pool import Offer
from planner.pools.room import FreshNodes
from planner.scheduler.profile import Profile
from planner_models.resources import CPU, MEMORY, in_scheduler_units

if TYPE_CHECKING:
    from planner.pools.find import Found

PATIENCE = 3
"""After so many rounds in a row that let nobody run, an autoscaler is taken to be stuck."""

Decide = Callable[[Filling, Counts], Counts]
"""Nodes to add in a round, beside those that were added before."""


@dataclass(frozen=True, eq=False)
class Emulated:
    """What an autoscaler adds, and what kube-scheduler makes of it."""

    counts: Counts
    rounds: int
    waiting: int
    cluster: Cluster
    """The cluster in the end."""
    added: tuple[tuple[str, int], ...]
    """The new nodes in it by name, with their offers."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """An autoscaler by name; `stuck` are rollouts that its nodes would stop, if that was tried."""

    tool: str
    found: Emulated
    stuck: tuple[Stuck, ...] = ()


def baselines_of(found: Found, profile: Profile) -> tuple[Baseline, ...]:
    """For the pods of an answer; none where nobody waits.

    Rollouts are tried with nodes that cost no more than the answer: why is that not cheaper?
    """
    if not found.goal or found.best is None:
        return ()
    limit = found.cost(found.best.added.counts)
    rollouts = KeptRollouts(found.start, profile, found.options.rollout_seeds)
    return tuple(
        replace(each, stuck=rollouts.broken(each.found.cluster))
        if found.rollouts and not each.found.waiting and found.cost(each.found.counts) <= limit
        else each
        for each in baselines(Filling(found.start, found.goal, found.offers_at_once, profile))
    )


def baselines(filling: Filling) -> tuple[Baseline, ...]:
    """Each autoscaler on its own; none where pods have volumes, whose rules are not emulated.

    The expander `price` needs prices.
    """
    if not emulable(filling):
        return ()
    priced = all(offer.pool.price is not None for offer in filling.offers)
    tools = {tool: decide for tool, decide in TOOLS.items() if priced or tool != PRICE}
    return tuple(Baseline(tool, emulate(filling, decide)) for tool, decide in tools.items())


def emulable(filling: Filling) -> bool:
    """Whether nothing about the waiting pods is beyond what is emulated."""
    cluster = filling.cluster
    return not any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None
        for pod in filling.goal
        for volume in cluster.pods[pod].volumes
    )


def emulate(filling: Filling, decide: Decide) -> Emulated:
    """Rounds of decisions; kube-scheduler places pods in between."""
    total: Counts = (0,) * len(filling.offers)
    added: list[tuple[str, int]] = []
    cluster, waiting, rounds, idle = filling.cluster, filling.goal, 0, 0
    while waiting and idle < PATIENCE:
        here = replace(filling, cluster=cluster, goal=waiting)
        more = decide(here, total)
        if not any(more):
            break
        fill = here.fill(here.add(more))
        rounds += 1
        idle = idle + 1 if len(fill.waiting) == len(waiting) else 0
        added += _new_nodes(fill)
        cluster, waiting = fill.cluster, fill.waiting
        total = tuple(a + b for a, b in zip(total, more, strict=True))
    return Emulated(total, rounds, len(waiting), cluster, tuple(added))


def _new_nodes(fill: Fill) -> Iterator[tuple[str, int]]:
    for offer, nodes in enumerate(fill.added.nodes):
        yield from ((fill.cluster.nodes[node].name, offer) for node in nodes)


def _by_group(fresh: FreshNodes, pods: Sequence[int]) -> Counter[int]:
    return Counter(int(fresh.cluster.group_of[pod]) for pod in pods)


def karpenter(filling: Filling, _total: Counts) -> Counts:
    """Karpenter's provisioning."""
    fresh = FreshNodes(filling)
    waiting = _by_group(fresh, filling.goal)
    world = World(fresh, waiting)
    provisioner = Provisioner(world, filling.offers)
    solved = provisioner.solve(waiting)
    used = Counter(chosen_offers(provisioner, solved.claims))
    return tuple(used[i] for i in range(len(filling.offers)))


def cluster_autoscaler(expander: autoscaler.Expander, filling: Filling, total: Counts) -> Counts:
    """One node group, as many nodes as its estimate says."""
    fresh = FreshNodes(filling)
    waiting = _by_group(fresh, filling.goal)
    world = World(fresh, waiting)
    options = []
    for i, offer in enumerate(filling.offers):
        most = offer.pool.most
        left = None if most is None else most - total[i]
        if left is None or left > 0:
            option = autoscaler.estimate(world, i, waiting, left)
            more = tuple(a + (option.nodes if j == i else 0) for j, a in enumerate(total))
            if option.nodes and filling.allowed(more):
                options.append(option)
    if not options:
        return (0,) * len(filling.offers)
    best = expander(_market(filling, fresh, waiting), options)
    return tuple(best.nodes if i == best.offer else 0 for i in range(len(filling.offers)))


def _market(filling: Filling, fresh: FreshNodes, waiting: Counter[int]) -> autoscaler.Market:
    resources = fresh.cluster.resources
    columns = [resources.column(CPU), resources.column(MEMORY)]
    requests = {g: resources.requests[g] for g in waiting}
    capacity = [_capacity(offer) for offer in filling.offers]
    prices = [float(offer.cost) for offer in filling.offers]
    return autoscaler.Market(
        capacity,
        prices,
        autoscaler.unit_prices(capacity, prices),
        {g: (int(found[columns[0]]), int(found[columns[1]])) for g, found in requests.items()},
        [not autoscaler.ORDINARY.issuperset(o.template.allocatable) for o in filling.offers],
        len(filling.cluster.nodes),
    )


def _capacity(offer: Offer) -> tuple[int, int]:
    """What a node has; where the template doesn't say it, what it leaves for pods."""
    has = in_scheduler_units(offer.template.status.capacity) or offer.template.allocatable
    return has.get(CPU, 0), has.get(MEMORY, 0)


LEAST_WASTE, PRICE = "cluster-autoscaler, least-waste", "cluster-autoscaler, price"
KARPENTER = "Karpenter, first fit decreasing"
TOOLS: dict[str, Decide] = {
    LEAST_WASTE: partial(cluster_autoscaler, autoscaler.least_waste),
    PRICE: partial(cluster_autoscaler, autoscaler.price),
    KARPENTER: karpenter,
}
