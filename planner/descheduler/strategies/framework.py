"""What strategies see and do: a view of the cluster, and an evictor that they ask.

A strategy looks at the cluster as it is when it starts. Nothing is simulated after an eviction: the
evicted pod still counts everywhere, which is why the descheduler may evict in circles.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from planner.cluster import ELSEWHERE, Cluster
from planner.cluster.topology import IntArray
from planner.descheduler.strategies.limits import EvictionCount, EvictionResult
from planner_models.descheduler_args import IncludeExclude
from planner_models.node import Node
from planner_models.pod import ContainerState, Pod
from planner_models.selectors import LabelSelector

T = TypeVar("T")


@dataclass(frozen=True)
class Eviction:
    """A pod that a strategy had evicted, where it was, and why."""

    pod: Pod
    node: str
    strategy: str
    reason: str


@dataclass(frozen=True)
class RefusedEviction:
    """An eviction that the Eviction API would have refused."""

    pod: Pod
    strategy: str
    reason: str


@dataclass(frozen=True, eq=False)
class View:
    """The cluster as the descheduler sees it when a strategy starts.

    `nodes` are those that it works on: ready, and selected by the policy. `terminating` are pods
    that earlier strategies of the same run have evicted. Where the descheduler iterates over a Go
    map, seed 0 takes the order of names and any other seed draws one.
    """

    cluster: Cluster
    nodes: tuple[int, ...]
    now: int
    terminating: frozenset[Pod] = frozenset()
    seed: int = 0

    @cached_property
    def node_array(self) -> IntArray:
        """The nodes that the strategies work on, as an index."""
        return np.array(self.nodes, np.int64)

    @cached_property
    def _node_of(self) -> Mapping[Pod, int]:
        index = self.cluster.node_index
        running = {
            self.cluster.pods[i]: int(self.cluster.node_of[i])
            for i in self.cluster.running.tolist()
        }
        return running | {
            pod: index.get(pod.node_name, ELSEWHERE) for pod in self.cluster.finished_pods
        }

    def node_of(self, pod: Pod) -> int:
        """The index of the node that a bound pod is on."""
        return self._node_of[pod]

    @cached_property
    def group_of(self) -> Mapping[Pod, int]:
        """The group of each running pod."""
        groups = self.cluster.group_of
        return {self.cluster.pods[i]: int(groups[i]) for i in self.cluster.running.tolist()}

    def node(self, pod: Pod) -> Node:
        """The node that a bound pod is on."""
        return self.cluster.nodes[self.node_of(pod)]

    @cached_property
    def _by_node(self) -> Sequence[Sequence[Pod]]:
        found: list[list[Pod]] = [[] for _ in self.cluster.nodes]
        for pod, node in self._node_of.items():
            if node >= 0:
                found[node].append(pod)
        for pods in found:
            pods.sort(key=lambda pod: (pod.namespace, pod.name))
        return found

    def all_pods_on(self, node: int) -> Sequence[Pod]:
        """The pods of a node by namespace and name, finished ones too."""
        return self._by_node[node]

    def pods_on(self, node: int) -> Sequence[Pod]:
        """The pods of a node that use something, by namespace and name."""
        return [pod for pod in self._by_node[node] if not pod.finished]

    def is_terminating(self, pod: Pod) -> bool:
        """Whether the pod is on its way out."""
        return pod.terminating or pod in self.terminating

    def in_any_order(self, items: Iterable[T]) -> list[T]:
        """Items that the descheduler goes through in no particular order."""
        found = list(items)
        if self.seed:
            random.Random(self.seed).shuffle(found)
        return found


class Guard(Protocol):
    """Who may be evicted: DefaultEvictor's two extension points."""

    def filter(self, pod: Pod) -> bool:
        """Whether the pod may be evicted at all."""
        ...

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Whether it may be evicted now, asked right before."""
        ...


EvictionApi = Callable[[Pod], str | None]
"""Asks the API server to evict a pod; the answer is why not, or None."""


class Evictor:
    """What a strategy asks, and the record of what it got."""

    def __init__(
        self, strategy: str, view: View, guard: Guard, count: EvictionCount, api: EvictionApi
    ) -> None:
        self.evictions: list[Eviction] = []
        self.refusals: list[RefusedEviction] = []
        self._strategy = strategy
        self._view = view
        self._guard = guard
        self._count = count
        self._api = api

    def filter(self, pod: Pod) -> bool:
        """Whether the pod may be evicted at all."""
        return self._guard.filter(pod)

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Whether it may be evicted now."""
        return self._guard.pre_eviction_filter(pod)

    def evictable(self, pod: Pod) -> bool:
        """Both filters, for strategies to which it does not matter when the second one is asked."""
        return self._guard.filter(pod) and self._guard.pre_eviction_filter(pod)

    def evict(self, pod: Pod, reason: str) -> EvictionResult:
        """Evict within the limits, if the API server lets us."""
        node = self._view.node(pod).name
        exceeded = self._count.exceeded(pod.namespace, node)
        if exceeded is not None:
            return exceeded
        refused = self._api(pod)
        if refused is not None:
            self.refusals.append(RefusedEviction(pod, self._strategy, refused))
            return EvictionResult.REFUSED
        self._count.add(pod.namespace, node)
        self.evictions.append(Eviction(pod, node, self._strategy, reason))
        return EvictionResult.EVICTED

    def evict_each(self, pods: Iterable[tuple[Pod, str]]) -> EvictionResult:
        """Evict pods of a node, with the reason, until it or the run has had enough."""
        result = EvictionResult.EVICTED
        for pod, reason in pods:
            result = self.evict(pod, reason)
            if result in (EvictionResult.NODE_LIMIT, EvictionResult.TOTAL_LIMIT):
                break
        return result

    def evict_by_node(self, on_node: Callable[[int], Iterable[tuple[Pod, str]]]) -> None:
        """Node by node, those of its pods that a strategy names, until the run has had enough."""
        for node in self._view.nodes:
            if self.evict_each(on_node(node)) is EvictionResult.TOTAL_LIMIT:
                return


Strategy = Callable[[View, Any, Evictor], None]
"""A strategy with arguments of its own type."""


def states_of(pod: Pod, *, init: bool, ephemeral: bool = False) -> Iterator[ContainerState]:
    """The states of a pod's containers; init and ephemeral ones only on request."""
    for state in pod.container_states:
        if (
            state.kind == "main"
            or (init and state.kind == "init")
            or (ephemeral and state.kind == "ephemeral")
        ):
            yield state


def selecting(
    namespaces: IncludeExclude | None, selector: LabelSelector | None = None
) -> Callable[[Pod], bool]:
    """The pods that a strategy's arguments are about."""
    included = frozenset(namespaces.include) if namespaces is not None else frozenset()
    excluded = frozenset(namespaces.exclude) if namespaces is not None else frozenset()

    def selected(pod: Pod) -> bool:
        if (included and pod.namespace not in included) or pod.namespace in excluded:
            return False
        return selector is None or selector.matches(pod.labels)

    return selected
