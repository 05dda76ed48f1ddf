"""What the loop needs of an ApplyReport: what was evicted, and where it came back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from planner.run.plan_summary import PlannedEviction


class _Applied(msgspec.Struct, rename="camel"):
    pod: str
    outcome: str
    landed_on: str | None = None
    as_promised: bool | None = None


class Applied(msgspec.Struct, rename="camel"):
    """How carrying a plan out went."""

    plan_id: str
    result: str
    reason: list[str] = []
    evictions: list[_Applied] = []
    waiting: list[str] = []

    @property
    def evicted(self) -> int:
        """How many pods were evicted."""
        return sum(each.outcome == "evicted" for each in self.evictions)

    def evicted_of(
        self, planned: Sequence[PlannedEviction]
    ) -> Iterator[tuple[PlannedEviction, _Applied]]:
        """The evictions that were made, as planned and as they went."""
        by_pod = {each.pod: each for each in planned}
        for each in self.evictions:
            if each.outcome == "evicted" and each.pod in by_pod:
                yield by_pod[each.pod], each

    def missed(self, planned: Sequence[PlannedEviction]) -> Mapping[str, str]:
        """Workloads of which a pod did not land as promised, and how that went.

        Another node than expected is none of it where the plan still ended as promised: of many
        nodes that are equally good, not all can be named beforehand.
        """
        found: dict[str, str] = {}
        if self.result == "done":
            return found
        for plan, went in self.evicted_of(planned):
            expected = " ".join(plan.expected_nodes) or "nowhere"
            if went.as_promised is False and went.landed_on is not None:
                found[plan.workload_key] = f"is on {went.landed_on}, expected {expected}"
            elif self.waiting and went.landed_on is None:
                found[plan.workload_key] = f"waits, expected {expected}"
        return found

    def landings(self) -> Mapping[str, int]:
        """How many came back where."""
        made = [each for each in self.evictions if each.outcome == "evicted"]
        return {
            "expected": sum(each.as_promised is True for each in made),
            "elsewhere": sum(
                each.as_promised is False and each.landed_on is not None for each in made
            ),
            "waiting": len(self.waiting),
        }


def applied(text: bytes) -> Applied:
    """ValueError for what is no ApplyReport."""
    return msgspec.json.decode(text, type=Applied)
