"""Circles of moves, broken without taking a pod down for longer than a move takes.

Pods that wait for each other's places can't all move at once. An order of steps evicts one of them
early and lets it wait without a node. With a hop it runs on a temporary node meanwhile: one restart
more, but it is not down for several waves. The pods that an order lets wait are those that hop;
where no node takes such a pod for a while, it waits after all.

Hops are for plans that say which pod goes where. Where kube-scheduler chooses the nodes
(`planner evict`, scripts of evictions), nobody could send a pod to its temporary place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.waves import plan_waves


@dataclass(frozen=True)
class _Move:
    """Where a pod comes from, which is None if it waited from the start, and where it goes."""

    source: int | None
    target: int


def with_hops(
    cluster: Cluster, steps: Sequence[Step], profile: Profile, most: int | None = None
) -> tuple[Step, ...] | None:
    """The same moves with fewer pods that wait and at most so many hops; None if none can hop.

    It is only a suggestion: a check has to say whether its steps are legal.
    """
    waiting = waiting_pods(steps)
    if not waiting or any(step.action in ("cordon", "uncordon") for step in steps):
        return None
    moves = _moves(steps)
    stops = _Stopovers(cluster, profile, moves)
    moving = [pod for pod in waiting if pod in moves]
    may_hop = moving if most is None else moving[: max(0, most)]
    hops = dict.fromkeys(moving) | {pod: stops.take(pod) for pod in may_hop}
    found = _order(steps, moves, hops)
    return found if len(waiting_pods(found)) < len(waiting) else None


def other_orders(
    cluster: Cluster, steps: Sequence[Step], profile: Profile, allowances: Allowances
) -> Iterator[tuple[Step, ...]]:
    """Legal orders of the same moves in which another pod of a circle waits.

    Where kube-scheduler chooses the nodes, a pod that waits may take a place that is meant for
    another one; then it makes a difference which pod of the circle waits.
    """
    waiting = waiting_pods(steps)
    if not waiting or any(step.action in ("cordon", "uncordon") for step in steps):
        return
    moves = _moves(steps)
    waiting = tuple(pod for pod in waiting if pod in moves)
    for circle in _circles(cluster, moves):
        others = [pod for pod in waiting if pod not in circle]
        if len(others) != len(waiting) - 1:
            continue
        for pod in sorted(circle.difference(waiting)):
            order = _order(steps, moves, dict.fromkeys((*others, pod)))
            found = plan_waves(cluster, order, allowances, profile).steps
            if check_steps(cluster, found, profile).good:
                yield found


def waiting_pods(steps: Iterable[Step]) -> tuple[int, ...]:
    """Pods that are evicted and placed only after other steps, in the order of their eviction."""
    last: Step | None = None
    waiting: dict[int, None] = {}
    found: dict[int, None] = {}
    for step in steps:
        if last is not None and last.action == "evict" and step != Step.place(last.pod, step.node):
            waiting[last.pod] = None
        if step.action == "place" and step.pod in waiting:
            found[step.pod] = None
        last = step
    return tuple(pod for pod in waiting if pod in found)


def _moves(steps: Iterable[Step]) -> dict[int, _Move]:
    """By pod; pods that come back to their own node, or nowhere, are left to the given order."""
    source = {step.pod: step.node for step in steps if step.action == "evict"}
    landed = {step.pod: step.node for step in steps if step.action == "place"}
    return {
        pod: _Move(source.get(pod), target)
        for pod, target in landed.items()
        if source.get(pod) != target
    }


def _order(
    steps: Iterable[Step], moves: Mapping[int, _Move], hops: Mapping[int, int | None]
) -> tuple[Step, ...]:
    """Pods that hop or wait come first and land last; all others move at once when they land."""
    found: list[Step] = []
    last: list[Step] = []
    for pod, stop in hops.items():
        source = moves[pod].source
        if stop is not None:
            found.append(Step.hop(pod, stop))
        elif source is not None:
            found.append(Step.evict(pod, source))
    for step in steps:
        move = moves.get(step.pod)
        if move is None:
            found.append(step)
        elif step.action == "place":
            landing = step if move.source is None else Step.move(step.pod, step.node)
            if step.pod not in hops:
                found.append(landing)
            else:
                last.append(step if hops[step.pod] is None else landing)
    return (*found, *last)


def _circles(cluster: Cluster, moves: Mapping[int, _Move]) -> list[frozenset[int]]:
    """Pods that wait for each other, each directly or through others.

    A move waits for all that leave its target, if that has no room for all that land there.
    """
    import networkx as nx

    requests, group_of = cluster.resources.requests, cluster.group_of
    short = _incoming(cluster, moves) > cluster.resources.allocatable - cluster.used
    leaving: dict[int, list[int]] = defaultdict(list)
    for pod, move in moves.items():
        if move.source is not None:
            leaving[move.source].append(pod)
    waits: nx.DiGraph[int] = nx.DiGraph()
    for pod, move in moves.items():
        if ((requests[group_of[pod]] > 0) & short[move.target]).any():
            waits.add_edges_from((pod, other) for other in leaving[move.target])
    parts = nx.strongly_connected_components(waits)
    return sorted((frozenset(part) for part in parts if len(part) > 1), key=min)


def _incoming(cluster: Cluster, moves: Mapping[int, _Move]) -> IntArray:
    """What all landings together ask of each node."""
    found = np.zeros_like(cluster.resources.allocatable)
    for pod, move in moves.items():
        found[move.target] += cluster.resources.requests[cluster.group_of[pod]]
    return found


class _Stopovers:
    """Temporary places: nodes that take a pod now and have room beyond what the plan needs."""

    def __init__(self, cluster: Cluster, profile: Profile, moves: Mapping[int, _Move]) -> None:
        self._cluster = cluster
        self._moves = moves
        self._state = SchedulingState(cluster)
        self._scheduler = Scheduler(self._state, profile)
        self._spare = cluster.resources.allocatable - cluster.used - _incoming(cluster, moves)

    def take(self, pod: int) -> int | None:
        """The best temporary place at this moment, and the pod goes there."""
        node = self._find(pod)
        if node is not None:
            self._state.remove(pod)
            self._state.place(pod, node)
            self._spare[node] -= self._cluster.resources.requests[self._cluster.group_of[pod]]
        return node

    def _find(self, pod: int) -> int | None:
        move = self._moves[pod]
        if move.source is None:
            return None
        self._state.remove(pod)
        nodes = self._scheduler.evaluate(pod).feasible.tolist()
        self._state.place(pod, move.source)
        request = self._cluster.resources.requests[self._cluster.group_of[pod]]
        free = [
            node
            for node in nodes
            if node not in (move.source, move.target)
            and not ((request > 0) & (request > self._spare[node])).any()
        ]
        return max(free, key=lambda node: (self._alike(pod, node), -node), default=None)

    def _alike(self, pod: int, node: int) -> int:
        """In how many domains of its spread rules the node is like the pod's target."""
        nodes = self._cluster.nodes
        here, there = nodes[node].labels, nodes[self._moves[pod].target].labels
        keys = {c.topology_key for c in self._cluster.pods[pod].spec.topology_spread_constraints}
        return sum(here.get(key) == there.get(key) for key in keys)
