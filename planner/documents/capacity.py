"""`Capacity`: counts with their reasons, as a document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.capacity import CapacityOptions, Found
from planner.capacity.survive import Fails
from planner.cluster import Cluster
from planner_models.capacity import (
    Capacity,
    CapacityBest,
    CapacityLine,
    CapacityNow,
    CapacitySubject,
    CurvePoint,
    DomainCount,
    FailsAt,
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
) -> Capacity:
    """The document of one or several counts over the same cluster."""
    zones = len(cluster.topology(ZONE).domains) > 1
    return Capacity(
        nodes=len(cluster.nodes),
        topology_key=ZONE if zones else None,
        lines=tuple(_line(each, options, left_out) for each in lines),
        not_counted=tuple(not_counted),
        notices=tuple(n for n in cluster.notices if n.code not in COUNTED_WITH),
    )


def _line(found: Found, options: CapacityOptions, left_out: int) -> CapacityLine:
    best, bound = found.best, found.bound
    return CapacityLine(
        subject=tuple(
            CapacitySubject(workload=each.ref.short, ratio=each.ratio, running=running)
            for each, running in zip(found.demands, found.running, strict=True)
        ),
        now=CapacityNow(
            count=found.now.sets,
            per_domain=_per_domain(found),
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
        curve=tuple(
            CurvePoint(
                count=point.count,
                moves=point.moves,
                at_least=point.at_least,
                status="proven" if point.proven else "open",
            )
            for point in found.curve
        ),
        bound=None if bound is None else UpperBound(count=bound.count, why=bound.why),
        survive=_survival(found, options),
        remarks=tuple(_remarks(found, left_out)),
    )


def _per_domain(found: Found) -> tuple[DomainCount, ...]:
    cluster = found.now.cluster
    topology = cluster.topology(ZONE)
    if len(topology.domains) < 2:
        return ()
    homes = cluster.node_of[list(found.now.pods)]
    domains = topology.domain_of[homes[homes >= 0]]
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


def _survival(found: Found, options: CapacityOptions) -> Survival | None:
    survive = found.survive
    if survive is None or options.survive is None:
        return None
    return Survival(
        kind=options.survive,
        manner=options.manner,
        count=survive.sets,
        checked_seeds=survive.seeds,
        fails_at=_fails(survive.fails_at),
        fails_now=_fails(survive.fails_now),
    )


def _fails(found: Fails | None) -> FailsAt | None:
    if found is None:
        return None
    return FailsAt(count=found.sets, domain=found.domain, waiting=found.waiting)


def _remarks(found: Found, left_out: int) -> list[str]:
    remarks = []
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
