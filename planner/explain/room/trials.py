"""Evictions tried on a copy of the state, each undone before the next.

First one pod of any group and node; then as many pods of one node, or of one domain, as have to go
before the pod fits there, with all of them landing elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from planner.cluster import PENDING
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.explain.room.eviction_bounds import NEVER
from planner.explain.room.setting import Setting
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.subject import Subject
from planner.explain.situation.trial_state import feasible_nodes, trial_state
from planner.replay.steps import Step
from planner_models.pod import PodSpec

MANY = 5000
"""With more movable pods they are taken in the order of the input, not of their names."""
SECOND = 24
"""Nodes per order that are tried for a landing."""
OPENED, CHOICES, FEW = 20, 12, 6
"""How many nodes are opened, how many choices of pods to evict are tried for each, and how many
nodes that need more evictions than can be combined."""
POOL = 12
"""Pods of a node, or of a domain, of which some are chosen."""
MOST_AT_ONCE = 6
"""Pods that leave for one node together."""


def candidates(setting: Setting) -> list[int]:
    """One movable pod per group and node; first where its room alone would be enough."""
    cluster, state = setting.subject.cluster, setting.subject.state
    pods = np.flatnonzero(_relevant(setting))
    if len(pods) < MANY:
        pods = np.array(sorted(pods.tolist(), key=lambda i: cluster.pods[i].key), np.int64)
    cells = cluster.group_of[pods] * len(cluster.nodes) + state.node_of[pods]
    first = pods[np.sort(np.unique(cells, return_index=True)[1])]
    refused = np.zeros(len(cluster.nodes), np.int64)
    for rule in setting.rules:
        refused += rule.blocked
    refused[setting.never] += 100
    nodes = state.node_of[first]
    free = cluster.resources.allocatable[nodes] - state.used[nodes]
    wanted = state.requests[setting.subject.group.index]
    frees = free + state.requests[cluster.group_of[first]]
    short = ((wanted > 0) & (wanted > frees)).any(axis=1)
    own = cluster.group_of[first] == setting.subject.group.index
    order = np.lexsort((np.arange(len(first)), own, short, refused[nodes]))
    found: list[int] = first[order].tolist()
    return found


def _relevant(setting: Setting) -> BoolArray:
    """Movable pods whose leaving can change anything for the pod.

    They are on a node that may take it, or a rule of the pod counts them, or they carry a rule
    against it. Claims may be held anywhere, so with volumes everybody counts.
    """
    subject = setting.subject
    state, group_of = subject.state, subject.cluster.group_of
    if state.volumes.of(subject.group) is not None:
        return setting.movable
    groups = {group for rule in setting.rules for group in rule.counted_groups}
    counted = np.isin(group_of, sorted(groups))
    there = np.append(~setting.never, False)[np.maximum(state.node_of, PENDING)]
    found: BoolArray = setting.movable & (counted | there)
    return found


def openings(setting: Setting, least: IntArray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Nodes with pods to evict for them, the fewest first; `least` are the evictions they need.

    One pod more than a node needs at least comes after all nodes that need as many.
    """
    for number in range(2, MOST_AT_ONCE + 1):
        for needed in (number, number - 1):
            for node in _unlike(setting, np.flatnonzero(least == needed), OPENED):
                pool = _in_the_way(setting, node)
                for chosen in _choices(setting, node, pool[:POOL], number):
                    yield node, chosen
    many = np.flatnonzero((least > MOST_AT_ONCE) & (least < NEVER))
    for node in _unlike(setting, many[np.argsort(least[many], kind="stable")], FEW):
        pool, number = _in_the_way(setting, node), int(least[node])
        yield from ((node, tuple(pool[: number + extra])) for extra in (0, 1, 2))


def _unlike(setting: Setting, nodes: IntArray, most: int) -> list[int]:
    """Some of the nodes: those with the same room and the same number of pods only twice."""
    found: list[int] = _two_of_each(nodes, setting.subject.state.used[nodes])[:most].tolist()
    return found


def _two_of_each(nodes: IntArray, kinds: IntArray) -> IntArray:
    """The first two nodes of each kind, in their order; `kinds` has a row for each node."""
    if not len(nodes):
        return nodes
    if not kinds.shape[1]:
        return nodes[:2]
    number = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], number[order])
    kept = np.sort(order[np.arange(len(order)) - first < 2])
    return nodes[kept]


def _choices(
    setting: Setting, node: int, pool: list[int], number: int
) -> Iterator[tuple[int, ...]]:
    """Sets of pods that free enough of what the node lacks."""
    subject = setting.subject
    rules = [r for r in of_type(setting.rules, CapacityRule) if r.blocked[node]]
    sets = _distinct(subject, combinations(pool, number))
    if not rules:
        yield from islice(sets, CHOICES)
        return
    columns = [subject.cluster.resources.column(name) for name in rules[0].names]
    missing = rules[0].request - rules[0].free[node]
    held = subject.state.requests[subject.cluster.group_of[pool]][:, columns]
    here = subject.state.node_of[pool] == node
    frees = {pod: held[i] * here[i] for i, pod in enumerate(pool)}
    enough = (s for s in sets if (sum(frees[p] for p in s) >= missing).all())
    yield from islice(enough, CHOICES)


def _distinct(subject: Subject, sets: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Interchangeable pods of a node are one choice, whichever of them it is."""
    group_of, node_of = subject.cluster.group_of, subject.state.node_of
    seen: set[tuple[tuple[int, int], ...]] = set()
    for chosen in islice(sets, 5000):
        key = tuple(sorted((int(group_of[pod]), int(node_of[pod])) for pod in chosen))
        if key not in seen:
            seen.add(key)
            yield chosen


def _in_the_way(setting: Setting, node: int) -> list[int]:
    """Movable pods that some rule holds against the node; those that free most come first."""
    subject = setting.subject
    cluster, state = subject.cluster, subject.state
    chosen = np.zeros(len(cluster.pods), np.bool_)
    for rule in setting.rules:
        if rule.blocked[node]:
            chosen |= rule.held_against(node)
    pods = np.flatnonzero(chosen & setting.movable & (state.node_of >= 0))
    offered = np.maximum(cluster.resources.allocatable[node], 1)
    share = state.requests[cluster.group_of[pods]] / offered
    order = np.lexsort((pods, -share[:, _short_at(setting, node)].sum(axis=1)))
    found: list[int] = pods[order].tolist()
    return found


def _short_at(setting: Setting, node: int) -> list[int]:
    """The resources that the node lacks; all, if it is not room that is missing."""
    table = setting.subject.cluster.resources
    for rule in of_type(setting.rules, CapacityRule):
        if rule.blocked[node]:
            return [table.column(rule.names[i]) for i in np.flatnonzero(rule.short[node]).tolist()]
    return list(range(len(table.names)))


class Trial:
    """Evictions on one copy of the state; each is undone before the next."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._state, self._scheduler = trial_state(subject)
        self.complete = True
        """Whether every landing that could matter was tried so far."""

    def without(self, pod: int) -> tuple[Step, ...] | None:
        """Steps that evict the pod and bind both, or None."""
        origin = int(self._state.node_of[pod])
        self._state.remove(pod)
        steps = self._landings(pod, origin)
        self._state.place(pod, origin)
        return steps

    def without_all(self, pods: Sequence[int], node: int) -> tuple[Step, ...] | None:
        """Steps that evict these, bind the target to the node and them elsewhere."""
        state, target = self._state, self._subject.pod
        origins = {pod: int(state.node_of[pod]) for pod in pods}
        for pod in pods:
            state.remove(pod)
        landed: list[Step] = []
        if node in feasible_nodes(self._scheduler, target):
            for pod in (target, *pods):
                nodes = [node] if pod == target else feasible_nodes(self._scheduler, pod)
                if not nodes:
                    break
                state.place(pod, nodes[0])
                landed.append(Step.place(pod, nodes[0]))
        for step in landed:
            state.remove(step.pod)
        for pod in pods:
            state.place(pod, origins[pod])
        if len(landed) <= len(pods):
            return None
        return (*(Step.evict(pod, origin) for pod, origin in origins.items()), *landed)

    def _landings(self, pod: int, origin: int) -> tuple[Step, ...] | None:
        target, state = self._subject.pod, self._state
        for first, second in ((target, pod), (pod, target)):
            nodes = self._unlike(feasible_nodes(self._scheduler, first), first, second)
            for node in nodes[:SECOND]:
                state.place(first, node)
                landing = feasible_nodes(self._scheduler, second)
                state.remove(first)
                if landing:
                    return (
                        Step.evict(pod, origin),
                        Step.place(first, node),
                        Step.place(second, landing[0]),
                    )
            self.complete &= len(nodes) <= SECOND
        return None

    def _unlike(self, nodes: list[int], first: int, second: int) -> list[int]:
        """Two nodes of each kind: where the first lands matters to the second by its domains only.

        Beside that it takes room on its own node, and one of two nodes is not the second's only
        one. Rules by node and volumes tell all nodes apart.
        """
        places, cluster = self._subject.nodes, self._subject.cluster
        groups = [cluster.groups[int(cluster.group_of[pod])] for pod in (first, second)]
        keys = sorted({key for group in groups for key in topology_keys(group.spec)})
        if any(group.volumes for group in groups) or any(map(places.per_node, keys)):
            return nodes
        chosen = np.array(nodes, np.int64)
        domains = [cluster.topology(key).domain_of[chosen] for key in keys]
        kinds = np.column_stack(domains) if domains else np.empty((len(chosen), 0), np.int64)
        found: list[int] = _two_of_each(chosen, kinds).tolist()
        return found


def topology_keys(spec: PodSpec) -> Iterator[str]:
    """The keys of every hard rule about other pods."""
    yield from (c.topology_key for c in spec.topology_spread_constraints if c.hard)
    yield from (t.topology_key for t in spec.affinity.pod_anti_affinity.required)
    yield from (t.topology_key for t in spec.affinity.pod_affinity.required)
