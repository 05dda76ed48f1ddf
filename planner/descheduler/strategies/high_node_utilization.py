"""HighNodeUtilization: pods leave nodes below the thresholds, so that these can be removed.

It takes a scheduler that fills nodes (MostAllocated) to send them to other nodes.
"""

from __future__ import annotations

from planner.descheduler.strategies.framework import Evictor, View
from planner.descheduler.strategies.node_utilization import (
    Draining,
    NodeUsage,
    above,
    allow,
    drain,
    node_usages,
)
from planner_models.descheduler_args import HighNodeUtilizationArgs
from planner_models.pod import Pod


def balance(view: View, args: HighNodeUtilizationArgs, evictor: Evictor) -> None:
    """From the emptiest node on, while the others have room."""
    usages = node_usages(view, args.thresholds)
    low: list[NodeUsage] = []
    schedulable: list[NodeUsage] = []
    for usage in view.in_any_order(usages):
        allow(usage, dict.fromkeys(args.thresholds, 100.0))
        if not above(usage.percentages, args.thresholds):
            low.append(usage)
        elif not usage.node.spec.unschedulable:
            schedulable.append(usage)
    if len(low) <= args.number_of_nodes or len(low) == len(usages) or not schedulable:
        return
    low.sort(key=lambda usage: usage.total)
    only_requesting = "OnlyThresholdingResources" in args.eviction_modes

    def removable(pod: Pod) -> bool:
        return evictor.filter(pod) and (not only_requesting or _requests_any(pod, args))

    drain(
        low,
        schedulable,
        Draining(
            evictor=evictor,
            removable=removable,
            wants_more=lambda _: True,
            reason=lambda usage: f"its node is nearly empty: {usage.text(args.thresholds)}",
            namespaces=args.evictable_namespaces,
        ),
    )


def _requests_any(pod: Pod, args: HighNodeUtilizationArgs) -> bool:
    """Whether some container requests a resource that has a threshold."""
    return any(
        name in container.resources.requests
        for container in (*pod.spec.containers, *pod.spec.init_containers)
        for name in args.thresholds
    )
