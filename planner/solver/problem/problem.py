"""The placement problem in counts: how many pods of each group may be on each node.

Pods of a group are interchangeable, so a placement is a sparse table of counts. Three kinds of pods
are told apart: those that wait, running ones that may move, and running ones that stay and only use
up room and count in domains. Pods are looked up again when a solution becomes a plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from planner.cluster import Cluster
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import sum_by
from planner.cluster.spread import SpreadConstraint, hard_constraints, terminating
from planner.cluster.topology import IntArray
from planner.disruption.movability import Movability, immovable
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.static_rules import StaticRules
from planner_models.pod import DEFAULT_SCHEDULER, Pod

Cell = tuple[int, int]
"""(group, node)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What may be decided, and everything that is given.

    `waiting[g]` are the pods of group g to place, in queue order; `movable[g, n]` the running ones
    that may move, sorted by name; every other running pod is fixed: `fixed_used` is what those
    request per node, `fixed_counts[g, n]` how many count for spread, `fixed_all[g, n]` how many
    there are, terminating ones included.
    """

    cluster: Cluster
    options: SolveOptions
    waiting: Mapping[int, tuple[int, ...]]
    movable: Mapping[Cell, tuple[int, ...]]
    fixed_used: IntArray
    fixed_counts: Mapping[Cell, int]
    fixed_all: Mapping[Cell, int]
    spreads: tuple[SpreadConstraint, ...]
    static: StaticRules
    left_aside: Mapping[int, str] = field(default_factory=dict)
    """Pending pods that are not for us to place, with the reason."""
    left_alone: Mapping[int, str] = field(default_factory=dict)
    """With --rebalance: running pods that nobody may move, with the reason."""
    displaceable: Mapping[int, int] = field(default_factory=dict)
    """With --preempt: how many of a group's running pods may end without a node."""
    no_return: frozenset[int] = frozenset()
    """Groups whose pods no controller brings back: once displaced, they land nowhere."""

    @property
    def requests(self) -> IntArray:
        """`requests[g, r]`."""
        return self.cluster.resources.requests

    @property
    def allocatable(self) -> IntArray:
        """`allocatable[n, r]`."""
        return self.cluster.resources.allocatable

    def allowed(self, group: int) -> BoolArray:
        """The nodes that static rules admit for a group: affinity, taints, cordon, volumes."""
        return self.static.allowed(group)

    def landing(self, group: int) -> BoolArray:
        """The allowed nodes that have the labels which its hard spread and affinity rules need.

        Where no pod comes back and none waits, nothing lands. With --relax the others have a price.
        """
        if group in self.no_return and group not in self.waiting:
            return np.zeros(len(self.cluster.nodes), np.bool_)
        return self.allowed(group) if self.options.relax else self.static.landing(group)

    @property
    def current(self) -> dict[Cell, int]:
        """The counts of the state as it is."""
        return {cell: len(pods) for cell, pods in self.movable.items()}

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The groups that have anything to decide."""
        return tuple(sorted({*self.waiting, *(g for g, _ in self.movable)}))

    @cached_property
    def cell_count(self) -> int:
        """How many group-node pairs there are to decide about."""
        return sum(int(np.count_nonzero(self.landing(group))) for group in self.groups)

    @property
    def priorities(self) -> tuple[int, ...]:
        """Priorities of waiting pods, highest first."""
        groups = self.cluster.groups
        return tuple(sorted({groups[g].priority for g in self.waiting}, reverse=True))

    def restricted(self, active: Collection[int]) -> Problem:
        """The same problem with the running pods of all other groups fixed where they are."""
        return self._with_fixed(active, self.current)

    def part(self, groups: Collection[int], state: Mapping[Cell, int]) -> Problem:
        """What is to be decided about some groups while all others are as `state` has them."""
        waiting = {g: pods for g, pods in self.waiting.items() if g in groups}
        return replace(self._with_fixed(groups, state), waiting=waiting)

    def _with_fixed(self, active: Collection[int], state: Mapping[Cell, int]) -> Problem:
        staying = {cell: pods for cell, pods in state.items() if cell[0] not in active}
        counts, everyone = dict(self.fixed_counts), dict(self.fixed_all)
        for cell, pods in staying.items():
            counts[cell] = counts.get(cell, 0) + pods
            everyone[cell] = everyone.get(cell, 0) + pods
        groups, nodes = np.array(list(staying), np.int64).reshape(-1, 2).T
        pods_there = np.fromiter(staying.values(), np.int64, len(staying))
        used = self.fixed_used.copy()
        np.add.at(used, nodes, self.requests[groups] * pods_there[:, None])
        return replace(
            self,
            movable={cell: pods for cell, pods in self.movable.items() if cell[0] in active},
            fixed_used=used,
            fixed_counts=counts,
            fixed_all=everyone,
            displaceable={g: count for g, count in self.displaceable.items() if g in active},
        )


def build_problem(cluster: Cluster, options: SolveOptions) -> Problem:
    """The problem that the options pose over a snapshot."""
    waiting, aside = _waiting(cluster)
    may_go = _may_go(cluster, options, waiting)
    left_alone = _left_alone(cluster, options)
    may_move = _may_move(cluster, options, left_alone) | may_go
    leaving = terminating(cluster)
    running = cluster.running
    fixed = running[~may_move[running]]
    return Problem(
        cluster=cluster,
        options=options,
        waiting=waiting,
        movable=_cells(cluster, np.flatnonzero(may_move)),
        fixed_used=sum_by(
            cluster.node_of[fixed],
            cluster.resources.requests[cluster.group_of[fixed]],
            len(cluster.nodes),
        ),
        fixed_counts=_counts(cluster, fixed[~leaving[fixed]]),
        fixed_all=_counts(cluster, fixed),
        spreads=hard_constraints(cluster),
        static=StaticRules(cluster),
        left_aside=aside,
        left_alone=left_alone,
        displaceable=_by_group(cluster, np.flatnonzero(may_go)),
        no_return=_no_return(cluster, options, np.flatnonzero(may_go)),
    )


def _waiting(cluster: Cluster) -> tuple[dict[int, tuple[int, ...]], dict[int, str]]:
    waiting: dict[int, list[int]] = defaultdict(list)
    aside: dict[int, str] = {}
    for pod in cluster.pending.tolist():
        spec = cluster.pods[pod].spec
        if cluster.pods[pod].terminating:
            aside[pod] = "it is terminating"
        elif spec.scheduling_gates:
            names = ", ".join(gate.name for gate in spec.scheduling_gates)
            aside[pod] = f"schedulingGates: {names}"
        elif spec.scheduler_name != DEFAULT_SCHEDULER:
            aside[pod] = f"schedulerName is {spec.scheduler_name}"
        else:
            waiting[int(cluster.group_of[pod])].append(pod)
    return {g: tuple(pods) for g, pods in waiting.items()}, aside


def _left_alone(cluster: Cluster, options: SolveOptions) -> dict[int, str]:
    if not options.rebalance:
        return {}
    movability = Movability(cluster, options.policy)
    reasons = ((pod, movability.why(pod)) for pod in cluster.running.tolist())
    return {pod: stay.text for pod, stay in reasons if stay is not None}


def _may_move(cluster: Cluster, options: SolveOptions, left_alone: Mapping[int, str]) -> BoolArray:
    may_move = np.zeros(len(cluster.pods), np.bool_)
    if options.rebalance:
        may_move[cluster.running] = True
        may_move[[*left_alone, *options.spared]] = False
        if options.movable is not None or options.immovable is not None:
            for pod in np.flatnonzero(may_move).tolist():
                may_move[pod] = _chosen(cluster.pods[pod], options)
    return may_move


def _may_go(
    cluster: Cluster, options: SolveOptions, waiting: Mapping[int, tuple[int, ...]]
) -> BoolArray:
    """Who may lose the place with --preempt: pods of a lower priority than one that waits.

    kube-scheduler spares nobody else; pods that are leaving and static pods of a node can't be
    preempted, and what --movable, --immovable and `unyielding` say is respected.
    """
    may_go = np.zeros(len(cluster.pods), np.bool_)
    if options.preempt and waiting:
        highest = max(cluster.groups[g].priority for g in waiting)
        for pod in cluster.running.tolist():
            found = cluster.pods[pod]
            may_go[pod] = (
                found.priority < highest
                and pod not in options.unyielding
                and immovable(found, options.policy) not in ("terminating", "mirror")
                and _chosen(found, options)
            )
    return may_go


def _no_return(cluster: Cluster, options: SolveOptions, pods: IntArray) -> frozenset[int]:
    if options.policy.bare_pods:
        return frozenset()
    bare = (pod for pod in pods.tolist() if cluster.pods[pod].owner is None)
    return frozenset(int(cluster.group_of[pod]) for pod in bare)


def _by_group(cluster: Cluster, pods: IntArray) -> dict[int, int]:
    groups, counts = np.unique(cluster.group_of[pods], return_counts=True)
    return dict(zip(groups.tolist(), counts.tolist(), strict=True))


def _chosen(pod: Pod, options: SolveOptions) -> bool:
    only, never = options.movable, options.immovable
    return (only is None or only.matches(pod.labels)) and not (
        never is not None and never.matches(pod.labels)
    )


def _cells(cluster: Cluster, pods: IntArray) -> dict[Cell, tuple[int, ...]]:
    """The pods of each group and node by name; most cells have one alone."""
    order = pods[np.lexsort((cluster.node_of[pods], cluster.group_of[pods]))]
    groups, nodes = cluster.group_of[order], cluster.node_of[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (groups[1:] != groups[:-1]) | (nodes[1:] != nodes[:-1])
    first = np.flatnonzero(new)
    found, ends = order.tolist(), np.append(first, len(order))[1:].tolist()
    cells: dict[Cell, tuple[int, ...]] = {}
    for cell, begin, end in zip(
        zip(groups[first].tolist(), nodes[first].tolist(), strict=True),
        first.tolist(),
        ends,
        strict=True,
    ):
        there = found[begin:end]
        if len(there) > 1:
            there.sort(key=lambda pod: cluster.pods[pod].key)
        cells[cell] = tuple(there)
    return cells


def _counts(cluster: Cluster, pods: IntArray) -> dict[Cell, int]:
    counts: dict[Cell, int] = defaultdict(int)
    for group, node in zip(
        cluster.group_of[pods].tolist(), cluster.node_of[pods].tolist(), strict=True
    ):
        counts[group, node] += 1
    return dict(counts)
