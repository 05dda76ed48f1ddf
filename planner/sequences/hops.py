"""Circles of moves, broken without taking a pod down for longer than a move takes.

Pods that wait for each other's places can't all move at once. An order of steps evicts one of them
early and lets it wait without a node. With a hop it runs on a temporary node meanwhile: one restart
more, but it is not down for several waves. Move i waits for move j if j leaves the node on which i
is to land and there is no room yet; the fewest moves that break all circles of this graph hop, and
where no node takes such a pod for a while, it waits after all.

Hops are for plans that say which pod goes where. Where kube-scheduler chooses the nodes
(`planner evict`, scripts of evictions), nobody could send a pod to its temporary place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from planner.cluster import Cluster
from planner.cluster.topology import IntArray
from planner.disruption.budgets import Allowances
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.scheduler.cycle import Scheduler
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.profile import Profile
from planner.sequences.feedback_vertices import Cost, circles, feedback_vertices
from planner.sequences.waves import plan_waves

if TYPE_CHECKING:
    from planner.sequences.feedback_vertices import Graph

LARGE = 2_000
"""Above so many moves only one way to break the circles is tried."""


@dataclass(frozen=True)
class _Move:
    """Where a pod comes from, which is None if it waited from the start, and where it goes."""

    source: int | None
    target: int


def with_hops(
    cluster: Cluster, steps: Sequence[Step], profile: Profile, most: int | None = None
) -> Iterator[tuple[Step, ...]]:
    """Orders of the same moves with fewer pods that wait, the most promising first.

    They are only suggestions: a check has to say whether their steps are legal. `most` is how many
    hops there may be.
    """
    waiting = afloat(steps)
    if not waiting or any(step.action in ("cordon", "uncordon") for step in steps):
        return
    moves = _moves(steps)
    ways = (_fewest(cluster, profile, moves, tight) for tight in (False, True))
    moving = tuple(pod for pod in waiting if pod in moves)
    for pods in (*ways, moving) if len(moves) <= LARGE else ways:
        stops = _Stopovers(cluster, profile, moves)
        hops = {pod: stops.take(pod) if _may_hop(most, i) else None for i, pod in enumerate(pods)}
        found = _order(steps, moves, hops)
        if len(afloat(found)) < len(waiting):
            yield found
            if len(moves) > LARGE:
                return


def other_orders(
    cluster: Cluster, steps: Sequence[Step], profile: Profile, allowances: Allowances
) -> Iterator[tuple[Step, ...]]:
    """Legal orders of the same moves in which another pod of a circle waits.

    Where kube-scheduler chooses the nodes, a pod that waits may take a place that is meant for
    another one; which of the circle waits then makes a difference.
    """
    waiting, moves = afloat(steps), _moves(steps)
    if not waiting or any(step.action in ("cordon", "uncordon") for step in steps):
        return
    for part in circles(_waits(cluster, moves, tight=True)):
        others = [pod for pod in waiting if pod not in part]
        if len(others) != len(waiting) - 1:
            continue
        for pod in sorted(part.difference(waiting)):
            order = _order(steps, moves, dict.fromkeys((*others, pod)))
            found = plan_waves(cluster, order, allowances, profile).steps
            if check_steps(cluster, found, profile).good:
                yield found


def afloat(steps: Iterable[Step]) -> tuple[int, ...]:
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


def _may_hop(most: int | None, hops: int) -> bool:
    return most is None or hops < most


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
    """Those that let go come first and land last; everything else moves at once when it lands."""
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


def _fewest(
    cluster: Cluster, profile: Profile, moves: Mapping[int, _Move], tight: bool
) -> tuple[int, ...]:
    """The pods that break all circles: few that have to wait, few altogether, unimportant ones."""
    graph = _waits(cluster, moves, tight)
    stops = _Stopovers(cluster, profile, moves)
    cost: dict[int, Cost] = {}
    for pod in sorted(pod for part in circles(graph) for pod in part):
        cost[pod] = (int(stops.find(pod) is None), 1, stops.importance(pod))
    return tuple(sorted(feedback_vertices(graph, cost)))


def _waits(cluster: Cluster, moves: Mapping[int, _Move], tight: bool) -> Graph:
    """Who waits for whom; if `tight`, also those that fit now, but not with all others."""
    import networkx as nx

    requests, group_of = cluster.resources.requests, cluster.group_of
    free = cluster.resources.allocatable - cluster.used
    incoming = _incoming(cluster, moves)
    leaving: dict[int, list[int]] = defaultdict(list)
    for pod, move in moves.items():
        if move.source is not None:
            leaving[move.source].append(pod)
    waits: Graph = nx.DiGraph()
    for pod, move in moves.items():
        request = requests[group_of[pod]]
        needed = incoming[move.target] if tight else request
        if ((request > 0) & (needed > free[move.target])).any():
            waits.add_edges_from((pod, other) for other in leaving[move.target])
    return waits


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
        ranks = {p: rank for rank, p in enumerate(sorted({pod.priority for pod in cluster.pods}))}
        self._rank = ranks

    def importance(self, pod: int) -> int:
        """By priority, in small numbers that can be added."""
        return self._rank[self._cluster.pods[pod].priority]

    def find(self, pod: int) -> int | None:
        """The best temporary place at this moment."""
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

    def take(self, pod: int) -> int | None:
        """The same, and the pod goes there."""
        node = self.find(pod)
        if node is not None:
            self._state.remove(pod)
            self._state.place(pod, node)
            self._spare[node] -= self._cluster.resources.requests[self._cluster.group_of[pod]]
        return node

    def _alike(self, pod: int, node: int) -> int:
        """In how many domains of its spread rules the node is like the pod's own place to be."""
        nodes = self._cluster.nodes
        here, there = nodes[node].labels, nodes[self._moves[pod].target].labels
        keys = {c.topology_key for c in self._cluster.pods[pod].spec.topology_spread_constraints}
        return sum(here.get(key) == there.get(key) for key in keys)
