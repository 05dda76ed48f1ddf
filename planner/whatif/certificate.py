"""How many pods wait when a single node fails, whatever the ties: counted, not simulated.

Let P pods leave with a node. One of them finds a place, in any order and whatever kube-scheduler
prefers, if nobody else waits and the other P - 1 can't close all the nodes that

- are in its own domains: those of the lost node, for every hard spread key but the hostname,
- pass every filter right after the loss, where spread over hostnames counts the node as empty.

A pod closes at most the node that it lands on; and it takes more than the room beside the pod in
question, of some resource, to close a node by room: with all that the others request together, only
so many of the fullest nodes can be closed. A node that is not closed keeps its ports and its own
pods, and the minimum over hostnames can only rise. And no domain of the lost node can get more pods
than it had, which was within its limit, while all others only gain: so it is within its limit with
the pod, too.

A pod waits for sure if no other node passes the filters beside spread: no landing opens one.

Nothing is said of pods with required affinity, with anti-affinity wider than a node, with volumes,
of controllers other than ReplicaSets, or whose domains have too many pods already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    too_few_domains,
)
from planner.cluster.topology import IntArray, Topology
from planner.disruption.replacement import known_controller, replacements_of
from planner.scenario import Manner
from planner.scenario.lost_pods import OF_NODES
from planner.scenario.unreachable import UNREACHABLE, emptied_alone, toleration_seconds
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.profile import Profile
from planner_models.pod import DEFAULT_SCHEDULER
from planner_models.taints import Taint

SPREAD = "PodTopologySpread"
SILENT = (Taint(key=UNREACHABLE, effect="NoExecute"),)
CLOSED = Taint(key=UNREACHABLE, effect="NoSchedule")
"""Who tolerates it may be put on the silent node again."""
REPLICATED = frozenset(("ReplicaSet", "ReplicationController"))


Fate = Literal["again", "missing", "unknown"]
"""Another pod takes its place at once; it is down, and nothing comes; not for us to say."""


@dataclass(frozen=True, eq=False)
class Certified:
    """By node: whether everything is known, and how many of its pods do not run then.

    `hurt` has the groups of the latter.
    """

    known: BoolArray
    missing: IntArray
    hurt: Mapping[int, Sequence[int]]


class Certificates:
    """One filter of all nodes for each group of pods; both manners share it."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        self._profile = profile
        self._state = SchedulingState(cluster)
        self._replacements = replacements_of(cluster)
        self._counted = counted_pods(cluster)
        self._passing: dict[int, BoolArray | None] = {}
        self._classes: dict[tuple[str, ...], tuple[IntArray, Sequence[IntArray]]] = {}
        self._places: dict[int, BoolArray] = {}

    def of(self, manner: Manner) -> Certified:
        """What is known of each node that fails in this manner."""
        size = len(self._cluster.nodes)
        known, missing = np.ones(size, np.bool_), np.zeros(size, np.int64)
        if len(self._cluster.pending):
            return Certified(~known, missing, {})
        hurt: dict[int, list[int]] = defaultdict(list)
        if manner == "unreachable":
            known = np.fromiter(emptied_alone(self._cluster), np.bool_, size)
            known |= self._leaving == 0
        for index, (nodes, pods) in self._groups.items():
            group = self._cluster.groups[index]
            fate = self._fate(group, manner)
            passing = self._filtered(group) if fate == "again" else None
            never = np.full(len(nodes), fate == "missing")
            if passing is not None:
                never = int(passing.sum()) - passing[nodes] == 0
                known[nodes] &= never | self._finds_place(group, nodes, passing, manner)
            elif fate != "missing":
                known[nodes] = False
            missing[nodes] += np.where(never, pods, 0)
            for node in nodes[never].tolist():
                hurt[node].append(index)
        return Certified(known, missing, hurt)

    @cached_property
    def _leaving(self) -> IntArray:
        """How many pods leave each node at most."""
        nodes = self._cluster.node_of[self._leaving_pods]
        return np.bincount(nodes, minlength=len(self._cluster.nodes))

    @cached_property
    def _groups(self) -> Mapping[int, tuple[IntArray, IntArray]]:
        """Of each group the nodes that have its pods, and how many of them."""
        cluster, there = self._cluster, self._leaving_pods
        cells = cluster.group_of[there] * len(cluster.nodes) + cluster.node_of[there]
        different, counts = np.unique(cells, return_counts=True)
        group, node = np.divmod(different, len(cluster.nodes))
        first = np.flatnonzero(np.diff(group, prepend=-1)).tolist()
        parts = pairwise((*first, len(group)))
        return {int(group[a]): (node[a:b], counts[a:b]) for a, b in parts}

    @cached_property
    def _leaving_pods(self) -> BoolArray:
        """Pods that run and do not belong to their node."""
        cluster = self._cluster
        stay = np.fromiter(map(_of_node, cluster.groups), np.bool_, len(cluster.groups))
        found: BoolArray = (cluster.node_of >= 0) & ~cluster.terminating & ~stay[cluster.group_of]
        return found

    def _finds_place(
        self, group: PodGroup, nodes: IntArray, passing: BoolArray, manner: Manner
    ) -> BoolArray:
        """By lost node, whether the group's pods on it surely find another one."""
        if group.index in self._places:
            return self._places[group.index]
        sound = np.ones(len(nodes), np.bool_)
        wide: list[str] = []
        apart: list[tuple[SpreadConstraint, bool]] = []
        for spread, counts_itself in self._constraints.get(group.index, ()):
            topology = spread.scope.topology
            passing = passing & (topology.domain_of >= 0)
            sound &= spread.scope.eligible[nodes]
            if _single_nodes(topology):
                apart.append((spread, counts_itself))
            else:
                sound &= ~self._over(spread)[topology.domain_of[nodes]]
                wide.append(topology.key)
        own, members = self._own_domains(tuple(wide))
        least = [self._least(spread, manner)[nodes] for spread, _ in apart]
        for case in sorted(set(zip(own[nodes].tolist(), *map(_listed, least), strict=True))):
            there = members[case[0]]
            there = there[passing[there]]
            mine = own[nodes] == case[0]
            for (spread, counts_itself), lows, low in zip(apart, least, case[1:], strict=True):
                counts = self._counts(spread)[spread.scope.topology.domain_of[there]]
                there = there[counts + counts_itself - low <= spread.constraint.max_skew]
                mine &= lows == low
            sound[mine] &= self._enough(group, nodes[mine], there, apart)
        if not apart:
            self._places[group.index] = sound
        return sound

    def _enough(
        self,
        group: PodGroup,
        nodes: IntArray,
        there: IntArray,
        apart: Sequence[tuple[SpreadConstraint, bool]],
    ) -> BoolArray:
        """Whether the other pods of a lost node can't close all of these places."""
        inside = np.zeros(len(self._cluster.nodes), np.bool_)
        inside[there] = True
        rooms = len(there) - inside[nodes]
        enough: BoolArray = rooms >= self._leaving[nodes]
        apart_by_name = group.spec.affinity.pod_anti_affinity.required or group.spec.host_ports
        if not apart_by_name and not enough.all():
            enough |= rooms > self._closed(group, nodes, there, apart)
        return enough

    def _closed(
        self,
        group: PodGroup,
        nodes: IntArray,
        there: IntArray,
        apart: Sequence[tuple[SpreadConstraint, bool]],
    ) -> IntArray:
        """How many places the others can close by room, and by counting for the same rules."""
        closed = np.zeros(len(nodes), np.int64)
        for spread, _ in apart:
            every = self._counted.of(spread.matching)
            closed += np.bincount(every, minlength=len(self._cluster.nodes))[nodes]
        request = self._state.requests[group.index]
        free = self._cluster.resources.allocatable[there] - self._state.used[there]
        for column in np.flatnonzero(request).tolist():
            beside = np.sort(free[:, column] - request[column]) + 1
            taken = self._leaving_requests[nodes, column] - request[column]
            closed += np.searchsorted(np.cumsum(beside), taken, side="right")
        return closed

    @cached_property
    def _leaving_requests(self) -> IntArray:
        """What the pods of each node request together, as far as they leave."""
        cluster = self._cluster
        there = self._leaving_pods
        total = np.zeros_like(self._state.used)
        np.add.at(total, cluster.node_of[there], self._state.requests[cluster.group_of[there]])
        return total

    def _own_domains(self, keys: tuple[str, ...]) -> tuple[IntArray, Sequence[IntArray]]:
        """Nodes that share the domains of all these keys: the class of each, and their members."""
        if keys not in self._classes:
            columns = [self._cluster.topology(key).domain_of for key in keys]
            table = np.stack(columns or [np.zeros(len(self._cluster.nodes), np.int64)], axis=1)
            classes, of = np.unique(table, axis=0, return_inverse=True)
            of = of.reshape(-1)
            order, first = np.argsort(of, kind="stable"), np.arange(len(classes) + 1)
            starts = np.searchsorted(of[order], first)
            members = [order[begin:end] for begin, end in pairwise(starts.tolist())]
            self._classes[keys] = of, members
        return self._classes[keys]

    def _counts(self, spread: SpreadConstraint) -> IntArray:
        return domain_counts(self._counted, spread)

    def _least(self, spread: SpreadConstraint, manner: Manner) -> IntArray:
        """The minimum over hostnames when a node is lost, by node."""
        topology, eligible = spread.scope.topology, spread.scope.eligible
        counts = self._counts(spread)[topology.domain_of]
        if manner == "unreachable" and spread.constraint.node_taints_policy != "Honor":
            return np.zeros(len(counts), np.int64)
        inside = np.sort(counts[eligible])
        if too_few_domains(spread.constraint, len(inside) - 1) or len(inside) < 2:
            return np.zeros(len(counts), np.int64)
        found: IntArray = np.where(counts == inside[0], inside[1], inside[0])
        return found

    def _over(self, spread: SpreadConstraint) -> BoolArray:
        """Domains with too many pods; nodes without the key count as such."""
        over = excess(self._counts(spread), spread) > 0
        return np.append(over, True)

    @cached_property
    def _constraints(self) -> Mapping[int, list[tuple[SpreadConstraint, bool]]]:
        """Hard constraints by group, and whether the group's pods count for them."""
        found: dict[int, list[tuple[SpreadConstraint, bool]]] = defaultdict(list)
        for spread in hard_constraints(self._cluster):
            for carrier in spread.carriers:
                found[carrier.group].append((spread, carrier.self_match))
        return found

    def _fate(self, group: PodGroup, manner: Manner) -> Fate:
        """What comes after the group's pods when their node fails."""
        pod, owner = group.example, group.example.owner
        silent = manner == "unreachable"
        if silent and toleration_seconds(pod, SILENT) is None:
            return "missing"
        if owner is None or not known_controller(owner):
            return "missing"
        if silent and any(each.tolerates(CLOSED) for each in pod.spec.tolerations):
            return "unknown"
        ref = WorkloadRef(pod.namespace, owner.kind, owner.name)
        if owner.kind == "StatefulSet" and silent:
            return "missing"
        if owner.kind not in REPLICATED or self._replacements.surplus(ref):
            return "unknown"
        found = self._replacements.of(self._cluster.pod_index[pod.key])
        return "again" if found.fate in ("equal", "assumed", "other") else "missing"

    def _filtered(self, group: PodGroup) -> BoolArray | None:
        """Nodes that pass all filters but spread; None for pods that nothing is said of."""
        if group.index not in self._passing:
            self._passing[group.index] = self._filtered_now(group)
        return self._passing[group.index]

    def _filtered_now(self, group: PodGroup) -> BoolArray | None:
        if not self._simple(group):
            return None
        cycle = GroupCycle(self._state, self._profile, group)
        if cycle.rejection is not None or cycle.limit is not None:
            return None
        refused = np.zeros(len(self._cluster.nodes), np.bool_)
        for name, each in cycle.filters:
            if name != SPREAD:
                refused |= each.refused()
        return ~refused

    def _simple(self, group: PodGroup) -> bool:
        spec = group.spec
        affinity = spec.affinity
        near, apart = affinity.pod_affinity.required, affinity.pod_anti_affinity.required
        wide = any(not _single_nodes(self._cluster.topology(t.topology_key)) for t in apart)
        defaults = self._profile.resolved.args.pod_topology_spread.effective_constraints
        by_default = any(each.hard for each in defaults) and not spec.topology_spread_constraints
        own = not spec.scheduling_gates and spec.scheduler_name == DEFAULT_SCHEDULER
        claims = self._state.volumes.of(group) is not None
        claims = claims or bool(spec.resource_claims)
        return own and not near and not wide and not by_default and not claims


def _listed(values: IntArray) -> list[int]:
    found: list[int] = values.tolist()
    return found


def _of_node(group: PodGroup) -> bool:
    owner = group.example.owner
    return owner is not None and owner.kind in OF_NODES


def _single_nodes(topology: Topology) -> bool:
    """Whether every domain of the key is a single node."""
    inside = topology.domain_of[topology.domain_of >= 0]
    return len(inside) == len(topology.domains)
