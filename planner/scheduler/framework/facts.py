"""What the scheduler knows from nodes and groups alone, wherever pods run.

A plan is looked at by many schedulers in turn: one orders it, one checks it step by step, one looks
at its end. They share what no placement changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import NodeRules, node_rules_of
from planner.cluster.topology import IntArray
from planner.scheduler.framework.carried_terms import CarriedTerms, terms_of
from planner_models.taints import Taint

T = TypeVar("T")
TaintSets: TypeAlias = tuple[tuple[tuple[Taint, ...], ...], IntArray]
_MEMO = ("scheduler_facts", b"")


class ImageState(NamedTuple):
    """An image by one of its names: its size and the nodes that have it."""

    size_bytes: int
    nodes: IntArray


class ImageIndex:
    """Size (that of the first node that reported it) and nodes of every image name."""

    def __init__(self, cluster: Cluster) -> None:
        self._images, self._ghosts = cluster.node_images, cluster.ghosts

    def get(self, name: str) -> ImageState:
        """What is known of a name; nothing where no node has it."""
        pairs = self._images.reported.get(name, ())
        there = [each for each in pairs if each[0] not in self._ghosts]
        if not there:
            return NOWHERE
        return ImageState(there[0][1], np.array([node for node, _ in there], np.int64))


NOWHERE = ImageState(0, np.empty(0, np.int64))


class Facts:
    """Facts about one set of nodes and groups, each found when it is first asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._found: dict[Hashable, Any] = {}

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """What `find` finds, which depends on nothing but the key; it is not to be changed."""
        if key not in self._found:
            self._found[key] = find()
        found: T = self._found[key]
        return found

    @cached_property
    def all_nodes(self) -> IntArray:
        """The index of every node; those that were removed are none."""
        nodes = np.arange(len(self._cluster.nodes))
        ghosts = self._cluster.ghosts
        return np.delete(nodes, sorted(ghosts)) if ghosts else nodes

    @cached_property
    def node_rules(self) -> NodeRules:
        """Node affinity and hard taints, judged once per distinct rule."""
        return node_rules_of(self._cluster)

    @cached_property
    def cordoned(self) -> IntArray:
        """1 for nodes with `spec.unschedulable`."""
        nodes = self._cluster.nodes
        return np.fromiter((node.spec.unschedulable for node in nodes), np.int64, len(nodes))

    @cached_property
    def taint_sets(self) -> TaintSets:
        """The distinct sets of taints, of which there are few, and which of them a node has."""
        numbers: dict[tuple[Taint, ...], int] = {}
        of = [numbers.setdefault(node.spec.taints, len(numbers)) for node in self._cluster.nodes]
        return tuple(numbers), np.array(of, np.int64)

    @cached_property
    def images(self) -> ImageIndex:
        """Which nodes have which images."""
        return ImageIndex(self._cluster)

    @cached_property
    def carried_terms(self) -> CarriedTerms:
        """The rules of all groups about other pods."""
        terms = of_each_group(self._cluster, "terms", terms_of)
        return self._of_groups("carried terms", lambda: CarriedTerms(terms))

    @cached_property
    def priorities(self) -> IntArray:
        """The priority of each group."""
        each = of_each_group(self._cluster, "priorities", attrgetter("priority"))
        return np.array(each, np.int64)

    @cached_property
    def non_zero_requests(self) -> IntArray:
        """Cpu and memory of each group's pods, silent containers with their defaults."""
        return self._of_groups("non-zero requests", self._non_zero_requests)

    def _non_zero_requests(self) -> IntArray:
        asked = of_each_group(
            self._cluster, "non-zero requests", attrgetter("spec.non_zero_requests")
        )
        return np.array(asked, np.int64).reshape(-1, 2)

    def _of_groups(self, name: str, find: Callable[[], T]) -> T:
        """What depends on groups alone is found once for all sets of nodes."""
        memo = self._cluster.group_memo
        if name not in memo:
            memo[name] = find()
        found: T = memo[name]
        return found


def of_each_group(cluster: Cluster, name: str, find: Callable[[PodGroup], T]) -> tuple[T, ...]:
    """What `find` says of each group; those that are known already are not asked again."""
    known: tuple[T, ...] = cluster.each_group.get(name, ())
    if len(known) < len(cluster.groups):
        known = (*known, *map(find, cluster.groups[len(known) :]))
        cluster.each_group[name] = known
    return known


def facts_of(cluster: Cluster) -> Facts:
    """The facts of a snapshot, which all snapshots that differ in placement share."""
    if _MEMO not in cluster.memo:
        cluster.memo[_MEMO] = Facts(cluster)
    found: Facts = cluster.memo[_MEMO]
    return found
