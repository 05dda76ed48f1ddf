"""The capacity of a cluster for one kind of pod, or for a mix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.capacity.count import Placed, Stop, most_placed, placed_at, stops
from planner.capacity.demand import Demand, with_more
from planner.capacity.few_evictions import by_few_evictions, one_by_one
from planner.capacity.moves import Best, Bound, Point, Rearranging, Within, room_bound, slots_of
from planner.capacity.survive import Fails, Failure, Survival, Surviving
from planner.cluster import GONE, Cluster
from planner.cluster.quotas import QuotaRoom, Quotas
from planner.disruption.node_lifecycle import with_condition_taints
from planner.evictions.suggest import settled
from planner.scenario.changes import Manner
from planner.scheduler.profile import Profile


@dataclass(frozen=True)
class CapacityOptions:
    """What is asked beyond kube-scheduler's own count.

    `moves` of other pods may make room, None: as many as it takes, 0: none; `survive` asks for the
    number that stands any single failure.
    """

    up_to: int = 10_000
    moves: int | None = None
    survive: Failure | None = "zone"
    manner: Manner = "removed"
    time_limit: float = 60.0


@dataclass(frozen=True, eq=False)
class Found:
    """Everything that was found about one kind of pod, or one mix."""

    demands: tuple[Demand, ...]
    running: tuple[int, ...]
    now: Placed
    stops: tuple[Stop, ...]
    stopped_by: int
    best: Best | None
    within: Within | None
    """With the moves that were allowed, or with as many as were tried, if they were counted."""
    curve: tuple[Point, ...]
    one_by_one: bool
    """Whether plans with moves leave those alone that kube-scheduler places by itself."""
    bound: Bound | None
    survive: Surviving | None
    silent_now: Fails | None
    """A failure that leaves pods waiting already now, while its nodes are only unreachable."""
    quota: QuotaRoom | None
    autoscaled_to: int | None


def ready(cluster: Cluster, profile: Profile) -> tuple[Cluster, int]:
    """The cluster when what waits is placed or left out, and how many pods were left out."""
    now = settled(with_condition_taints(cluster), profile)
    waiting = now.pending.tolist()
    return now.with_placement(dict.fromkeys(waiting, GONE)), len(waiting)


def capacity(
    cluster: Cluster, demands: Sequence[Demand], profile: Profile, options: CapacityOptions
) -> Found:
    """Count, and say what stops; `cluster` has nobody else waiting (`ready`)."""
    quota = _quota(cluster, demands)
    one = with_more(cluster, demands, 1)
    bound = room_bound(one)
    most = options.up_to if quota is None else min(options.up_to, quota.pods)
    slots = slots_of(one, demands, 0)
    now = most_placed(cluster, demands, profile, most, slots)
    blocked, reasons = _stopped(now, demands, profile)
    top = min(most, now.sets if bound is None else max(now.sets, bound.count))
    best: Best | None = None
    within: Within | None = None
    points: tuple[Point, ...] = ()
    one_each = False
    if now.stopped and slots == now.sets:
        best = Best(now.sets, now.sets)
    if now.stopped and options.moves != 0 and top > now.sets:
        rearranging = Rearranging(cluster, demands, profile, options.time_limit)
        best = best or rearranging.best(top)
        one_each = one_by_one(now, demands)
        if one_each:
            most_found, points = by_few_evictions(
                cluster, demands[0], profile, now, top, options.moves
            )
            within = None if options.moves is None else most_found
        else:
            if options.moves is not None:
                most_then = slots_of(one, demands, options.moves)
                within = rearranging.best(
                    top if most_then is None else min(top, most_then), options.moves
                )
            points = rearranging.curve(best.count, top if within is None else within.count)
    elif now.stopped and best is None and options.moves != 0:
        best = Best(now.sets, now.sets)
    survive = silent_now = None
    if options.survive is not None:
        survival = Survival(cluster, demands, profile, options.survive, options.manner)
        survive = survival.found(now.sets)
        tried = survive is not None and survive.seeds > 0
        if tried and options.manner == "removed" and options.moves != 0:
            silent_now = replace(survival, manner="unreachable").fails(0, 0)
    return Found(
        demands=tuple(demands),
        running=tuple(_running(cluster, each) for each in demands),
        now=now,
        stops=reasons,
        stopped_by=blocked,
        best=best,
        within=within,
        curve=points,
        one_by_one=one_each,
        bound=bound,
        survive=survive,
        silent_now=silent_now,
        quota=quota,
        autoscaled_to=_autoscaled(cluster, demands),
    )


def _stopped(
    now: Placed, demands: Sequence[Demand], profile: Profile
) -> tuple[int, tuple[Stop, ...]]:
    """The first member of the set that finds no node any more, and why."""
    if not now.stopped:
        return 0, ()
    if len(demands) == 1:
        return 0, stops(now.cluster, demands[0], profile)
    for i, demand in enumerate(demands):
        one = Demand(demand.ref, demand.sample)
        if placed_at(now.cluster, [one], profile, 1).stopped:
            return i, stops(now.cluster, one, profile)
    return 0, ()


def _running(cluster: Cluster, demand: Demand) -> int:
    groups = [i for i, ref in enumerate(cluster.workloads) if ref == demand.ref]
    return int(np.count_nonzero(np.isin(cluster.group_of, groups) & (cluster.node_of >= 0)))


def _quota(cluster: Cluster, demands: Sequence[Demand]) -> QuotaRoom | None:
    """The tightest quota, in whole sets."""
    quotas = Quotas(cluster)
    rooms = [
        QuotaRoom(found.quota, found.resource, found.pods // demand.ratio)
        for demand in demands
        if (found := quotas.room(demand.ref.namespace, demand.sample.spec)) is not None
    ]
    return min(rooms, key=lambda each: each.pods, default=None)


def _autoscaled(cluster: Cluster, demands: Sequence[Demand]) -> int | None:
    """What an autoscaler lets the only workload grow to."""
    if len(demands) != 1:
        return None
    ref = demands[0].ref
    for each in cluster.autoscalers:
        target = each.spec.scale_target_ref
        if (each.namespace, target.kind, target.name) == (ref.namespace, ref.kind, ref.name):
            return each.spec.max_replicas
    return None
