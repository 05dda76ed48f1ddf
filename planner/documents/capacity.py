"""`Capacity`: counts with their reasons, as a document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.capacity import CapacityOptions, Found
from planner.capacity.count import Placed
from planner.capacity.few_evictions import MOST_MOVES
from planner.capacity.survive import Fails
from planner.cluster import Cluster
from planner_models.capacity import (
    Capacity,
    CapacityBest,
    CapacityCost,
    CapacityLine,
    CapacityNow,
    CapacitySubject,
    CapacityWithin,
    CurvePoint,
    DomainCount,
    FailsAt,
    LargestRoom,
    StopReason,
    Survival,
    UpperBound,
)
from planner_models.node import ZONE

COUNTED_WITH = frozenset(("quota", "autoscaler", "duplicate", "synthesised"))
"""Notices about what is counted with here."""


def capacity_document(
    cluster: Cluster,
    lines: Sequence[Found],
    options: CapacityOptions,
    *,
    left_out: int = 0,
    not_counted: Sequence[str] = (),
    topology_key: str | None = None,
    cost: Sequence[CapacityCost] = (),
) -> Capacity:
    """The document of one or several counts over the same cluster, by zones or another label.

    `cost` is that of new nodes, where there is one count.
    """
    key = topology_key or ZONE
    several = len(cluster.topology(key).domains) > 1
    return Capacity(
        nodes=len(cluster.nodes),
        topology_key=key if several else None,
        lines=tuple(
            _line(each, options, key, left_out).model_copy(update={"cost": tuple(cost)})
            for each in lines
        ),
        not_counted=tuple(not_counted),
        notices=tuple(n for n in cluster.notices if n.code not in COUNTED_WITH),
    )


def _line(found: Found, options: CapacityOptions, key: str, left_out: int) -> CapacityLine:
    best, bound, within = found.best, found.bound, found.within
    return CapacityLine(
        subject=tuple(
            CapacitySubject(workload=each.ref.short, ratio=each.ratio, running=running)
            for each, running in zip(found.demands, found.running, strict=True)
        ),
        now=CapacityNow(
            count=found.now.sets,
            largest_room=_largest_room(found),
            per_domain=_of_placed(found.now, key),
            stops_at=tuple(
                StopReason(rule=stop.rule, nodes=stop.nodes, field=stop.field)
                for stop in found.stops
            ),
            stopped_by=found.demands[found.stopped_by].ref.short if len(found.demands) > 1 else "",
            limited=_limited(found, options),
        ),
        best=None
        if best is None
        else CapacityBest(
            count=best.count,
            bound=best.bound,
            status="proven" if best.count == best.bound else "open",
        ),
        within=None
        if within is None
        else CapacityWithin(
            moves=within.moves,
            count=within.count,
            bound=within.bound,
            status="proven" if within.count == within.bound else "open",
        ),
        curve=tuple(
            CurvePoint(
                count=point.count,
                moves=point.moves,
                at_least=point.at_least,
                status="proven" if point.proven else "open",
                per_domain=_per_domain(found.now.cluster, list(point.nodes), key),
            )
            for point in found.curve
        ),
        bound=None if bound is None else UpperBound(count=bound.count, why=bound.why),
        survive=_survival(found, options, key),
        remarks=tuple(_remarks(found, options, left_out)),
    )


def _of_placed(placed: Placed, key: str) -> tuple[DomainCount, ...]:
    homes = placed.cluster.node_of[list(placed.pods)]
    return _per_domain(placed.cluster, homes[homes >= 0].tolist(), key)


def _per_domain(cluster: Cluster, nodes: Sequence[int], key: str) -> tuple[DomainCount, ...]:
    """How many of these nodes, one for each pod, are in each domain."""
    topology = cluster.topology(key)
    if len(topology.domains) < 2 or not nodes:
        return ()
    domains = topology.domain_of[list(nodes)]
    return tuple(
        DomainCount(domain=domain, count=int(np.count_nonzero(domains == number)))
        for number, domain in enumerate(topology.domains)
    )


def _limited(found: Found, options: CapacityOptions) -> str:
    """Why the count ended although the next pod would still find a node."""
    if found.now.stopped:
        return ""
    quota = found.quota
    if quota is not None and quota.pods <= found.now.sets:
        return f"ResourceQuota {quota.quota} allows no more ({quota.resource})"
    return f"counted up to {options.up_to} only (--up-to)"


def _largest_room(found: Found) -> LargestRoom | None:
    """Of one kind of pod that fits nowhere: the resource that every node lacks, if it is one."""
    if found.now.sets or len(found.demands) != 1:
        return None
    cluster = found.now.cluster
    resources = cluster.resources
    for name, asked in found.demands[0].sample.spec.requests.items():
        if name not in resources.index:
            continue
        column = resources.column(name)
        free = (resources.allocatable[:, column] - cluster.used[:, column]).clip(0)
        node, total = int(free.argmax()), int(free.sum())
        if free[node] < asked <= total:
            return LargestRoom(
                resource=name,
                asked=asked,
                most=int(free[node]),
                node=cluster.nodes[node].name,
                free=total,
            )
    return None


def _survival(found: Found, options: CapacityOptions, key: str) -> Survival | None:
    survive = found.survive
    if survive is None or options.survive is None:
        return None
    return Survival(
        kind=options.survive,
        manner=options.manner,
        count=survive.sets,
        at_best=survive.at_best,
        per_domain=_of_placed(survive.placed, key),
        checked_seeds=survive.seeds,
        fails_at=_fails(survive.fails_at),
        fails_now=_fails(survive.fails_now),
        silent_now=_fails(found.silent_now),
    )


def _fails(found: Fails | None) -> FailsAt | None:
    if found is None:
        return None
    return FailsAt(count=found.sets, domain=found.domain, waiting=found.waiting)


def _remarks(found: Found, options: CapacityOptions, left_out: int) -> list[str]:
    remarks = []
    if found.one_by_one:
        ends = "" if options.moves is not None else f"; more than {MOST_MOVES} were not tried"
        remarks.append(
            f"Moves: the {found.now.sets} stay where kube-scheduler puts them, and each further "
            f"pod gets room by few evictions{ends}."
        )
    if left_out:
        verb = "waits" if left_out == 1 else "wait"
        pods = "pod" if left_out == 1 else "pods"
        remarks.append(f"{left_out} {pods} that {verb} already took no part.")
    if found.autoscaled_to is not None:
        grown = found.running[0] + found.now.sets
        if found.autoscaled_to < grown:
            remarks.append(
                f"Its HorizontalPodAutoscaler stops at {found.autoscaled_to} replicas in all."
            )
    return remarks
