"""What the loop needs of an EvictionPlan: a few numbers of a document that may be very large.

It is decoded without pydantic and without the parts that nobody asks for, so that the process that
waits between rounds stays small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec


class _Source(msgspec.Struct, rename="camel"):
    not_read: list[str] = []
    read_milliseconds: int = 0


class _Violation(msgspec.Struct):
    rule: str
    count: int
    allowed: int


class _Situation(msgspec.Struct):
    excess: int
    pending: int
    violations: list[_Violation] = []


class _Landing(msgspec.Struct):
    pod: str
    node: str | None = None


class _Wave(msgspec.Struct):
    landings: list[_Landing] = []


class _Convergence(msgspec.Struct):
    seeds: int
    gone: int
    terminating: int


class PlannedEviction(msgspec.Struct, rename="camel"):
    """One eviction, by names."""

    pod: str
    workload: str
    node: str
    reason: str
    uid: str = ""
    rule: str | None = None
    expected_nodes: list[str] = []

    @property
    def namespace(self) -> str:
        """Of the pod."""
        return self.pod.partition("/")[0]

    @property
    def name(self) -> str:
        """Of the pod."""
        return self.pod.partition("/")[2]

    @property
    def workload_key(self) -> str:
        """`shop/deploy/api`."""
        return f"{self.namespace}/{self.workload}"


class PlanSummary(msgspec.Struct, rename="camel"):
    """The plan of a round."""

    evictions: list[PlannedEviction]
    waves: list[_Wave]
    converges: bool
    convergence: _Convergence
    before: _Situation
    after: _Situation
    nodes: int = 0
    pods: int = 0
    without_limits: int | None = None
    plan_id: str = ""
    source: _Source | None = None

    @property
    def seeds(self) -> int:
        """How many were tried."""
        return self.convergence.seeds

    @property
    def seeds_well(self) -> int:
        """How many end well, with evicted pods gone and still there."""
        return min(self.convergence.gone, self.convergence.terminating)

    @property
    def before_excess(self) -> int:
        """What rules are broken by now."""
        return self.before.excess

    @property
    def after_excess(self) -> int:
        """What they are broken by in the end."""
        return self.after.excess

    @property
    def before_pending(self) -> int:
        """Pods that wait now."""
        return self.before.pending

    @property
    def after_pending(self) -> int:
        """Pods that wait in the end."""
        return self.after.pending

    @property
    def left_waiting(self) -> bool:
        """Whether an evicted pod has no node in the end."""
        evicted = {each.pod for each in self.evictions}
        last = self.waves[-1].landings if self.waves else []
        return any(each.pod in evicted and each.node is None for each in last)

    @property
    def excess_by_rule(self) -> Mapping[str, int]:
        """What each rule is broken by now."""
        found: Counter[str] = Counter()
        for each in self.before.violations:
            found[each.rule] += max(0, each.count - each.allowed)
        return found

    @property
    def violations_by_rule(self) -> Mapping[str, int]:
        """How often each rule is broken now."""
        return Counter(each.rule for each in self.before.violations)

    @property
    def planned_by_rule(self) -> Mapping[str, int]:
        """How many evictions are for which rule; others make room."""
        return Counter(each.rule or "room" for each in self.evictions)

    @property
    def read_seconds(self) -> float:
        """How long reading the cluster took."""
        return (self.source.read_milliseconds if self.source else 0) / 1000

    @property
    def not_read(self) -> list[str]:
        """Kinds that planner may not list."""
        return self.source.not_read if self.source else []


def plan_summary(text: bytes) -> PlanSummary:
    """ValueError for what is no EvictionPlan."""
    return msgspec.json.decode(text, type=PlanSummary)
