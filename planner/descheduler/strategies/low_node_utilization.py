"""LowNodeUtilization: pods leave nodes above the targets while others are below the thresholds."""

from __future__ import annotations

from collections.abc import Sequence

from planner.descheduler.strategies.framework import Evictor, View
from planner.descheduler.strategies.node_utilization import (
    Draining,
    NodeUsage,
    Percentages,
    above,
    allow,
    drain,
    node_usages,
)
from planner_models.descheduler_args import LowNodeUtilizationArgs


def balance(view: View, args: LowNodeUtilizationArgs, evictor: Evictor) -> None:
    """From the fullest node on, until each is at its target or the low nodes have had enough."""
    usages = node_usages(view, args.thresholds)
    low, high = _thresholds(args, usages)
    below: list[NodeUsage] = []
    over: list[NodeUsage] = []
    for usage in view.in_any_order(usages):
        allow(usage, high)
        percentages = usage.percentages
        if not usage.node.spec.unschedulable and not above(percentages, low):
            below.append(usage)
        elif above(percentages, high):
            over.append(usage)
    if len(below) <= args.number_of_nodes or len(below) == len(usages) or not over:
        return
    limits = args.eviction_limits
    over.sort(key=lambda usage: -usage.total)
    drain(
        over,
        below,
        Draining(
            evictor=evictor,
            removable=evictor.filter,
            wants_more=lambda usage: usage.above_target,
            reason=lambda usage: f"its node is above target: {usage.text(args.thresholds)}",
            namespaces=args.evictable_namespaces,
            per_node=limits.node if limits is not None else None,
        ),
    )


def _thresholds(
    args: LowNodeUtilizationArgs, usages: Sequence[NodeUsage]
) -> tuple[Percentages, Percentages]:
    """The thresholds as given, or as deviations from the average of all nodes."""
    if not args.use_deviation_thresholds:
        return args.thresholds, args.target_thresholds
    average = _average(args, usages)
    low = {name: _clamped(mean - args.thresholds[name]) for name, mean in average.items()}
    high = {name: _clamped(mean + args.target_thresholds[name]) for name, mean in average.items()}
    return low, high


def _average(args: LowNodeUtilizationArgs, usages: Sequence[NodeUsage]) -> Percentages:
    """Per resource over the nodes that have it."""
    shares = [usage.percentages for usage in usages]
    found = {}
    for name in args.thresholds:
        known = [share[name] for share in shares if name in share]
        if known:
            found[name] = sum(known) / len(known)
    return found


def _clamped(percent: float) -> float:
    return min(max(percent, 0.0), 100.0)
