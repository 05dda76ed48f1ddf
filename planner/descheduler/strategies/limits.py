"""How many evictions one run of the descheduler may make: in total, per node, per namespace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto

from planner_models.descheduler_policy import DeschedulerPolicy


class EvictionResult(Enum):
    """What became of an eviction that a strategy asked for; each goes on in its own way."""

    EVICTED = auto()
    REFUSED = auto()
    """By the Eviction API: a budget is used up."""
    NAMESPACE_LIMIT = auto()
    NODE_LIMIT = auto()
    TOTAL_LIMIT = auto()


@dataclass(frozen=True)
class Limits:
    """`maxNoOfPodsToEvict...` of the policy; None is no limit."""

    total: int | None = None
    per_node: int | None = None
    per_namespace: int | None = None

    @classmethod
    def of(cls, policy: DeschedulerPolicy) -> Limits:
        """The limits of a policy, which all its profiles share."""
        return cls(
            policy.max_no_of_pods_to_evict_total,
            policy.max_no_of_pods_to_evict_per_node,
            policy.max_no_of_pods_to_evict_per_namespace,
        )


NO_LIMITS = Limits()


class EvictionCount:
    """The evictions of one run, held against the limits in the descheduler's order."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self._limits = limits
        self._total = 0
        self._nodes: Counter[str] = Counter()
        self._namespaces: Counter[str] = Counter()

    def exceeded(self, namespace: str, node: str) -> EvictionResult | None:
        """The limit that one more eviction there would break."""
        limits = self._limits
        if limits.total is not None and self._total >= limits.total:
            return EvictionResult.TOTAL_LIMIT
        if limits.per_node is not None and self._nodes[node] >= limits.per_node:
            return EvictionResult.NODE_LIMIT
        if limits.per_namespace is not None and self._namespaces[namespace] >= limits.per_namespace:
            return EvictionResult.NAMESPACE_LIMIT
        return None

    def add(self, namespace: str, node: str) -> None:
        """One more eviction."""
        self._total += 1
        self._nodes[node] += 1
        self._namespaces[namespace] += 1
