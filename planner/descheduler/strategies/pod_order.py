"""The order in which strategies evict the pods of a node: low priority and poor QoS first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.descheduler.strategies.go_sort import go_sorted
from planner.disruption.movability import PREFER_NO_EVICTION
from planner_models.pod import Pod, PodSpec
from planner_models.pod_status import QosClass
from planner_models.resources import CPU, MEMORY

_TIERS: dict[QosClass, int] = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}


def by_priority(pods: Iterable[Pod]) -> list[Pod]:
    """Pods without priority first, then by priority, then by QoS class.

    Of equal pods those that prefer not to be evicted come later; the rest is Go's sort, for equal
    pods are "less" than each other.
    """
    return [pod for *_, pod in go_sorted(map(_ranked, pods), _before)]


_Ranked = tuple[bool, int, int, bool, Pod]
"""What pods are compared by, worked out once for each of them."""


def _ranked(pod: Pod) -> _Ranked:
    priority = pod.spec.priority
    reluctant = PREFER_NO_EVICTION in pod.annotations
    return (priority is not None, priority or 0, _TIERS[qos_class(pod)], reluctant, pod)


def _before(one: _Ranked, other: _Ranked) -> bool:
    if one[:3] != other[:3]:
        return one[:3] < other[:3]
    return not one[3] or other[3]


def qos_class(pod: Pod) -> QosClass:
    """The class in the status, or what requests and limits of cpu and memory make of it."""
    return pod.qos_class or _computed(pod.spec)


def _computed(spec: PodSpec) -> QosClass:
    containers = [each.resources for each in (*spec.containers, *spec.init_containers)]
    requests = _summed(each.requests for each in containers)
    limits = _summed(each.limits for each in containers)
    if not requests and not limits:
        return "BestEffort"
    limited = all(each.limits.get(name) for each in containers for name in (CPU, MEMORY))
    return "Guaranteed" if limited and requests == limits else "Burstable"


def _summed(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in amounts:
        for name in (CPU, MEMORY):
            if each.get(name):
                total[name] = total.get(name, 0) + each[name]
    return total
