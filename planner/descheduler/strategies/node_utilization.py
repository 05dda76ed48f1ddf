"""What the two utilisation strategies share: how full nodes are, and moving pods off them.

Utilisation means requests here. The nodes that pods should go to are added up to one pool of room;
evictions from a node go on while the pool has something left of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from planner.descheduler.strategies.framework import Evictor, View
from planner.descheduler.strategies.limits import EvictionResult
from planner.descheduler.strategies.pod_order import by_priority
from planner_models.descheduler_args import IncludeExclude
from planner_models.node import Node
from planner_models.pod import Pod
from planner_models.resources import CPU, MEMORY, PODS
from planner_models.taints import Taint, Toleration

BASIC = (CPU, MEMORY, PODS)

Amounts = dict[str, int]
Percentages = Mapping[str, float]


@dataclass
class NodeUsage:
    """A node with the requests of its pods, which shrink as they are evicted.

    `allowed` is how much the target threshold lets it hold.
    """

    node: Node
    pods: Sequence[Pod]
    used: Amounts
    allowed: Amounts

    @property
    def percentages(self) -> Percentages:
        """Used in percent of what the node has; resources that it doesn't have are left out."""
        offered = self.node.allocatable
        return {
            name: amount / offered[name] * 100 if offered[name] > 0 else 0.0
            for name, amount in self.used.items()
            if name in offered
        }

    @property
    def above_target(self) -> bool:
        """Whether it holds more of anything than allowed."""
        return any(amount > self.allowed[name] for name, amount in self.used.items())

    @property
    def total(self) -> int:
        """Everything added up regardless of units, which is what nodes are sorted by."""
        return sum(self.used.values())

    def text(self, names: Iterable[str]) -> str:
        """`cpu 85 %, memory 40 %`."""
        shares = self.percentages
        return ", ".join(f"{name} {shares.get(name, 0.0):.0f} %" for name in names)


def node_usages(view: View, resources: Iterable[str]) -> list[NodeUsage]:
    """The nodes of the view; cpu, memory and pods count beside the resources in question."""
    names = dict.fromkeys((*resources, *BASIC))
    found = []
    for node in view.nodes:
        pods = view.pods_on(node)
        used = {name: sum(_amount(pod, name) for pod in pods) for name in names}
        found.append(NodeUsage(view.cluster.nodes[node], pods, used, {}))
    return found


def _amount(pod: Pod, name: str) -> int:
    return 1 if name == PODS else pod.spec.requests.get(name, 0)


def allow(usage: NodeUsage, thresholds: Percentages) -> None:
    """Set what the thresholds let the node hold; without a threshold, all that it has."""
    for name in usage.used:
        offered = usage.node.allocatable.get(name, 0)
        percent = thresholds.get(name)
        usage.allowed[name] = offered if percent is None else int(percent * 0.01 * offered)


def above(usage: Percentages, thresholds: Percentages) -> bool:
    """Whether any resource is above its threshold."""
    return any(percent < usage.get(name, 0.0) for name, percent in thresholds.items())


@dataclass(frozen=True)
class Draining:
    """How a strategy takes pods off its source nodes."""

    evictor: Evictor
    removable: Callable[[Pod], bool]
    wants_more: Callable[[NodeUsage], bool]
    """Whether more pods have to leave the node."""
    reason: Callable[[NodeUsage], str]
    namespaces: IncludeExclude | None = None
    per_node: int | None = None


def drain(sources: Iterable[NodeUsage], targets: Sequence[NodeUsage], how: Draining) -> None:
    """Take pods off the sources, low priorities first, while the targets have room together."""
    names = tuple(targets[0].used)
    room = {name: sum(each.allowed[name] - each.used[name] for each in targets) for name in names}
    taints = tuple({each.node.spec.taints for each in targets})
    for source in sources:
        removable = by_priority(pod for pod in source.pods if how.removable(pod))
        if _drain_node(source, removable, room, taints, how) is EvictionResult.TOTAL_LIMIT:
            return


def _drain_node(
    source: NodeUsage,
    pods: Sequence[Pod],
    room: Amounts,
    taints: Sequence[tuple[Taint, ...]],
    how: Draining,
) -> EvictionResult:
    excluded = how.namespaces.exclude if how.namespaces is not None else ()
    reason, evicted = how.reason(source), 0
    if not _goes_on(source, room, how):
        return EvictionResult.EVICTED
    for pod in pods:
        if how.per_node is not None and evicted >= how.per_node:
            break
        if pod.namespace in excluded or not _welcome(pod.spec.tolerations, taints):
            continue
        if not how.evictor.pre_eviction_filter(pod):
            continue
        outcome = how.evictor.evict(pod, reason)
        if outcome in (EvictionResult.NODE_LIMIT, EvictionResult.TOTAL_LIMIT):
            return outcome
        if outcome is not EvictionResult.EVICTED:
            continue
        evicted += 1
        for name in room:
            source.used[name] -= _amount(pod, name)
            room[name] -= _amount(pod, name)
        if not _goes_on(source, room, how):
            break
    return EvictionResult.EVICTED


def _goes_on(source: NodeUsage, room: Amounts, how: Draining) -> bool:
    return how.wants_more(source) and all(left > 0 for left in room.values())


def _welcome(tolerations: Sequence[Toleration], nodes: Sequence[tuple[Taint, ...]]) -> bool:
    """Whether some node has no taint that the pod doesn't tolerate, PreferNoSchedule included.

    A pod with fewer tolerations than the node has taints is not looked at any closer.
    """
    return any(
        len(tolerations) >= len(taints)
        and all(any(each.tolerates(taint) for each in tolerations) for taint in taints)
        for taints in nodes
    )
