"""Which groups' pods decide where a group may go, and which groups can be planned on their own.

Besides NodeResourcesFit other plugins look at other pods, too, but each group's rules are about few
of them. Whatever else changes, the group's answers stay the same, apart from the room on a node,
which all share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.spread import effective_selector
from planner.cluster.topology import IntArray
from planner.scheduler.framework.default_selector import default_selector
from planner.scheduler.profile import Profile
from planner.solver.problem.problem import Problem
from planner_models.affinity import PodAffinityTerm
from planner_models.selectors import LabelSelector


class GroupDependencies:
    """`of(g)`: the groups whose pods decide where a pod of group g may go."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        defaults = profile.resolved.args.pod_topology_spread.effective_constraints
        self._hard_defaults = any(constraint.hard for constraint in defaults)
        self.rivals: dict[int, tuple[list[int], ...]] = {
            group.index: tuple(self._about(term, group) for term in terms)
            for group in cluster.groups
            if (terms := group.spec.affinity.pod_anti_affinity.required)
        }
        """For each group with required anti-affinity, the groups that each term is about."""
        self._avoided_by: dict[int, set[int]] = defaultdict(set)
        for carrier, rivals in self.rivals.items():
            for other in chain.from_iterable(rivals):
                self._avoided_by[other].add(carrier)
        self._found: dict[int, frozenset[int]] = {}

    @cached_property
    def _exclusive(self) -> list[int]:
        return [group.index for group in self._cluster.groups if group.spec.exclusive_on_node]

    @cached_property
    def _with_volumes(self) -> list[int]:
        return [group.index for group in self._cluster.groups if _has_storage(group)]

    def of(self, group: int) -> frozenset[int]:
        """The group itself is always one of them."""
        found = self._found.get(group)
        if found is None:
            found = self._found[group] = frozenset(self._found_for(self._cluster.groups[group]))
        return found

    def needs_filters(self, group: int) -> bool:
        """Whether more about other pods than room and the group's own spread decides."""
        spec = self._cluster.groups[group].spec
        affinity = spec.affinity
        return bool(
            affinity.pod_affinity.required
            or affinity.pod_anti_affinity.required
            or self._avoided_by.get(group)
            or spec.exclusive_on_node
            or _has_storage(self._cluster.groups[group])
            or (self._hard_defaults and not spec.topology_spread_constraints)
        )

    def _about(self, term: PodAffinityTerm, carrier: PodGroup) -> list[int]:
        """The groups that a pod affinity term of a group is about."""
        about: list[int] = self._cluster.groups_about(term, carrier.namespace).tolist()
        return about

    def by_rules(self, group: int) -> frozenset[int]:
        """The same without those that only use up something: room on a node, ports, volumes."""
        return frozenset(self._by_rules(self._cluster.groups[group]))

    def _found_for(self, group: PodGroup) -> Iterator[int]:
        yield from self._by_rules(group)
        if group.spec.exclusive_on_node:
            yield from self._exclusive
        if _has_storage(group):
            yield from self._with_volumes

    def _by_rules(self, group: PodGroup) -> Iterator[int]:
        yield group.index
        for term in group.spec.affinity.pod_affinity.required:
            yield from self._about(term, group)
        yield from chain.from_iterable(self.rivals.get(group.index, ()))
        yield from self._avoided_by.get(group.index, ())
        for selector in self._spread_selectors(group):
            yield from self._cluster.group_index.matching(selector, (group.namespace,)).tolist()

    def _spread_selectors(self, group: PodGroup) -> Iterator[LabelSelector | None]:
        own = group.spec.topology_spread_constraints
        for constraint in own:
            if constraint.hard:
                yield effective_selector(constraint, group)
        if not own and self._hard_defaults:
            yield default_selector(self._cluster, group)


def _has_storage(group: PodGroup) -> bool:
    """Whether a volume plugin has a say: claims and disks, but neither config maps nor scratch."""
    return any(
        source is not None
        for volume in group.volumes
        for source in (
            volume.persistent_volume_claim,
            volume.ephemeral,
            volume.gce_persistent_disk,
            volume.aws_elastic_block_store,
            volume.iscsi,
            volume.rbd,
        )
    )


def independent_parts(
    problem: Problem, dependencies: GroupDependencies, together: Iterable[Iterable[int]] = ()
) -> tuple[tuple[int, ...], ...]:
    """The groups to decide about, in parts that can be planned one after the other.

    Beside those that are connected, groups belong together if they may run short of room on a node
    that both can use.
    """
    return _joined(problem, dependencies, (*together, *_short_of_room(problem))).parts()


def connected_parts(
    problem: Problem, dependencies: GroupDependencies, together: Iterable[Iterable[int]] = ()
) -> tuple[tuple[int, ...], ...]:
    """Groups of which one decides where the other may go, or whose violations one rule counts.

    Groups that the caller has another reason to keep `together` are in one part, too.
    """
    return _joined(problem, dependencies, together).parts()


def _joined(
    problem: Problem, dependencies: GroupDependencies, together: Iterable[Iterable[int]]
) -> _DisjointSets:
    joined = _DisjointSets(problem.groups)
    for group in problem.groups:
        joined.join((group, *dependencies.of(group)))
    for spread in problem.spreads:
        joined.join(spread.matching.tolist())
    for carrier, terms in dependencies.rivals.items():
        joined.join((carrier, *chain.from_iterable(terms)))
    for groups in together:
        joined.join(groups)
    return joined


def _short_of_room(problem: Problem) -> Iterable[list[int]]:
    """For each node that would be overfilled if every pod that may come came: their groups."""
    demand = problem.fixed_used.copy()
    users: list[list[int]] = [[] for _ in problem.cluster.nodes]
    for group in problem.groups:
        allowed = problem.allowed(group).copy()
        here = [node for g, node in problem.movable if g == group]
        allowed[here] = True
        nodes = np.flatnonzero(allowed)
        demand[nodes] += pods_to_decide(problem, group) * problem.requests[group]
        for node in nodes.tolist():
            users[node].append(group)
    tight: IntArray = np.flatnonzero((demand > problem.allocatable).any(axis=1))
    return [users[node] for node in tight.tolist()]


def pods_to_decide(problem: Problem, group: int) -> int:
    """How many pods of the group wait or may move."""
    moving = sum(len(pods) for (g, _), pods in problem.movable.items() if g == group)
    return moving + len(problem.waiting.get(group, ()))


class _DisjointSets:
    """Groups that were joined, directly or through others; unknown ones are ignored."""

    def __init__(self, groups: Iterable[int]) -> None:
        self._parent = {group: group for group in groups}

    def join(self, groups: Iterable[int]) -> None:
        known = [self._root(group) for group in groups if group in self._parent]
        for root in known:
            self._parent[root] = min(known)

    def _root(self, group: int) -> int:
        while self._parent[group] != group:
            group = self._parent[group]
        return group

    def parts(self) -> tuple[tuple[int, ...], ...]:
        found: dict[int, list[int]] = {}
        for group in sorted(self._parent):
            found.setdefault(self._root(group), []).append(group)
        return tuple(tuple(part) for part in found.values())
