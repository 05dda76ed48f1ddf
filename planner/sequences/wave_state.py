"""What a wave of steps has under way: room that is taken twice, and pods that are down.

No step of a wave is over before all of them are: an evicted pod still holds its room and a landed
one is not ready yet. So a step fits into the current wave or has to wait for the next one.
"""

from __future__ import annotations

from collections import Counter

from planner.cluster import PENDING, Cluster
from planner.disruption.budgets import Allowances
from planner.replay.judge import refusal
from planner.replay.steps import Step
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile

Obstacle = tuple[str, int]
"""What refuses a step: ("budget", its number), ("room", a node), ("pod", itself), ("filter", 0).

The last one is all that only a new wave can change.
"""


class WaveState:
    """The cluster as it takes one step after the other, and what the current wave has under way."""

    def __init__(
        self,
        cluster: Cluster,
        allowances: Allowances,
        profile: Profile | None,
        surge: frozenset[int] = frozenset(),
    ) -> None:
        self._cluster = cluster
        self._may_surge = surge
        self.surging: set[Step] = set()
        self._allowances = allowances
        self._scheduler = None if profile is None else Scheduler(SchedulingState(cluster), profile)
        self._limits = [each.limit for each in allowances.each]
        self._down = [each.down for each in allowances.each]
        self._altogether = len(self._limits)
        if allowances.most is not None:
            self._limits.append(max(1, allowances.most))
            self._down.append(0)
        self.beyond: set[str] = set()
        self._node_of: list[int] = cluster.node_of.tolist()
        self._left_over: list[list[int]] = (cluster.resources.allocatable - cluster.used).tolist()
        """What is free on each node as things are."""
        self._free = [list(row) for row in self._left_over]
        """The same, as if none of the wave's evicted pods was gone yet."""
        self._asks: dict[int, list[tuple[int, int]]] = {}
        self._held: Counter[int] = Counter()
        self.left: set[int] = set()
        """Nodes that a pod of the current wave leaves."""
        self._settling: set[int] = set()

    def begin(self) -> None:
        """A new wave: what was under way has ended, and all room that was left is free."""
        for node in self.left:
            self._free[node] = list(self._left_over[node])
        self._held.clear()
        self.left = set()
        self._settling.clear()

    def spare(self, number: int) -> int:
        """How many more pods the allowance lets go down in this wave."""
        return self._limits[number] - self._down[number] - self._held[number]

    def obstacle(self, step: Step) -> Obstacle | None:
        """What keeps the step from being part of this wave, filters aside.

        A pod that hops has to be ready in its temporary place before it goes on.
        """
        if step.action != "place" and step.pod in self._settling:
            return ("filter", 0)
        if step.action != "place" and not self._surges(step):
            for number in self._numbers(step.pod):
                if self.spare(number) <= 0:
                    return ("budget", number)
        if step.action != "evict" and not self._has_room(step):
            return ("room", step.node)
        return None

    def illegal(self, step: Step) -> Obstacle | None:
        """What makes the step impossible now: for a landing, a filter that refuses the pod."""
        source = self._node_of[step.pod]
        if (source == PENDING) != (step.action == "place"):
            return ("pod", step.pod)
        if step.action == "evict" or self._scheduler is None:
            return None
        if step.action == "move":
            self._scheduler.state.remove(step.pod)
        legal = refusal(self._scheduler, step.pod, step.node) is None
        if step.action == "move":
            self._scheduler.state.place(step.pod, source)
        return None if legal else ("filter", 0)

    def _surges(self, step: Step) -> bool:
        """Whether the new pod may start beside the old one: the filters see both."""
        if step.action != "move" or step.pod not in self._may_surge or self._scheduler is None:
            return False
        return refusal(self._scheduler, step.pod, step.node) is None

    def _has_room(self, step: Step) -> bool:
        """Whether the pod fits even if none of the wave's evicted pods is gone yet."""
        free = self._free[step.node]
        return all(free[resource] >= amount for resource, amount in self._request(step.pod))

    def _request(self, pod: int) -> list[tuple[int, int]]:
        """What the pod asks for, as (resource, amount)."""
        group = int(self._cluster.group_of[pod])
        if group not in self._asks:
            amounts = enumerate(self._cluster.resources.requests[group].tolist())
            self._asks[group] = [(resource, amount) for resource, amount in amounts if amount > 0]
        return self._asks[group]

    def overdraw(self, step: Step) -> None:
        """The first step of a wave has to be taken some time, whatever its budget allows."""
        if step.evicts and not self._surges(step):
            for number in self._allowances.of_pod(step.pod):
                allowance = self._allowances.each[number]
                if allowance.budget and self._down[number] >= allowance.limit:
                    self.beyond.add(allowance.name)

    def apply(self, step: Step) -> None:
        """Take the step. A landed pod holds its place in the budget until the wave ends."""
        if step.action in ("cordon", "uncordon"):
            return
        numbers = self._numbers(step.pod)
        if self._surges(step):
            self.surging.add(step)
            numbers = ()
        if step.evicts:
            self.left.add(self._node_of[step.pod])
            self._remove(step.pod)
            for number in numbers:
                if step.action == "evict":
                    self._down[number] += 1
                else:
                    self._held[number] += 1
        if step.lands:
            self._place(step.pod, step.node)
            self._settling.add(step.pod)
        if step.action == "place":
            for number in numbers:
                self._down[number] -= 1
                self._held[number] += 1

    def _remove(self, pod: int) -> None:
        left_over = self._left_over[self._node_of[pod]]
        for resource, amount in self._request(pod):
            left_over[resource] += amount
        self._node_of[pod] = PENDING
        if self._scheduler is not None:
            self._scheduler.state.remove(pod)

    def _place(self, pod: int, node: int) -> None:
        left_over, free = self._left_over[node], self._free[node]
        for resource, amount in self._request(pod):
            left_over[resource] -= amount
            free[resource] -= amount
        self._node_of[pod] = node
        if self._scheduler is not None:
            self._scheduler.state.place(pod, node)

    def _numbers(self, pod: int) -> tuple[int, ...]:
        """A pod that waited from the start is not one that the plan has taken down."""
        numbers = self._allowances.of_pod(pod)
        waited = self._cluster.node_of[pod] < 0
        if self._allowances.most is None or waited:
            return numbers
        return (*numbers, self._altogether)
