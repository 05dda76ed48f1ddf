"""Changes on a copy: what the scheduler would say if a rule, a node or a pod were different.

A copy shares every array that a change leaves alone, so that a trial costs milliseconds in a
cluster of thousands of nodes. The state of the subject is never touched.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from planner.cluster import GONE, Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.resources import ResourceTable
from planner.cluster.snapshot import WHATEVER_SPECS_SAY
from planner.cluster.storage import Storage
from planner.explain.situation.subject import Subject
from planner.scheduler.cycle import Evaluation
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.group_cycle import GroupCycle
from planner.scheduler.volumes.state import VolumeState
from planner_models.node import UNSCHEDULABLE_TAINT, Node
from planner_models.pod import PodSpec

SpecEdit = Callable[[PodSpec], PodSpec]

_ABOUT_NODES = frozenset(("node_rules", "cordoned", "taint_sets", "images", "all_nodes"))
_ABOUT_GROUPS = frozenset(("carried_terms", "priorities"))
_DERIVED = frozenset(
    name for name, value in vars(SchedulingState).items() if isinstance(value, cached_property)
)
"""What a state computes once; whatever is not known to hold is computed again."""


@dataclass(frozen=True, eq=False)
class Overlay:
    """What differs from the cluster; overlays add up.

    `edits` change the pod's spec: for this pod alone, or with `rollout` for every replica of its
    workload that has the same spec.
    """

    edits: tuple[SpecEdit, ...] = ()
    rollout: bool = False
    nodes: Mapping[int, Node] = field(default_factory=dict)
    added: tuple[Node, ...] = ()
    without: frozenset[int] = frozenset()
    freed: Mapping[tuple[int, str], int] = field(default_factory=dict)
    storage: Storage | None = None
    others: Mapping[int, SpecEdit] = field(default_factory=dict)
    """Edits of the specs of other groups."""

    @property
    def only_edits(self) -> bool:
        """Whether nothing but the pod's own spec is changed."""
        others = (self.nodes, self.added, self.without, self.freed, self.storage, self.others)
        return bool(self.edits) and not any(others)

    def __or__(self, other: Overlay) -> Overlay:
        return Overlay(
            self.edits + other.edits,
            self.rollout or other.rollout,
            {**self.nodes, **other.nodes},
            self.added + other.added,
            self.without | other.without,
            {**self.freed, **other.freed},
            other.storage or self.storage,
            {**self.others, **other.others},
        )


def feasible(subject: Subject, overlay: Overlay) -> BoolArray:
    """The nodes that pass every filter under the overlay; added nodes come last."""
    state = state_under(subject, overlay)
    group = state.cluster.groups[subject.group.index]
    if not overlay.rollout:
        group = _edited(group, overlay)
    cycle = GroupCycle(state, subject.profile, group)
    found = Evaluation(state, subject.pod, cycle).feasible
    mask = np.zeros(len(state.cluster.nodes), np.bool_)
    mask[found] = True
    return mask


def _edited(group: PodGroup, overlay: Overlay) -> PodGroup:
    spec = group.spec
    for edit in overlay.edits:
        spec = edit(spec)
    return group if spec is group.spec else replace(group, spec=spec)


def edited_spec(subject: Subject, overlay: Overlay) -> PodSpec:
    """The pod's spec with the edits."""
    return _edited(subject.group, overlay).spec


def state_under(subject: Subject, overlay: Overlay) -> SchedulingState:
    """A state that shares with the subject's what the overlay leaves alone."""
    state = copy.copy(subject.state)
    state.begin_log()
    _change_groups(subject, state, overlay)
    if overlay.nodes or overlay.added:
        _change_nodes(state, overlay)
    if overlay.without:
        _take_away(state, overlay.without)
    if overlay.freed:
        state.used = state.used.copy()
        for (node, resource), amount in overlay.freed.items():
            state.used[node, state.cluster.resources.column(resource)] -= amount
    if overlay.storage is not None:
        state.cluster = replace(state.cluster, storage=overlay.storage)
    if _volumes_differ(subject, overlay):
        state.volumes = VolumeState(state.snapshot())
    return state


def _volumes_differ(subject: Subject, overlay: Overlay) -> bool:
    if overlay.storage is not None:
        return True
    mine = subject.state.volumes.of(subject.group) is not None
    return mine and bool(overlay.nodes or overlay.added or overlay.without)


def _change_groups(subject: Subject, state: SchedulingState, overlay: Overlay) -> None:
    """Specs of whole groups, and what the pod itself requests."""
    cluster, group = state.cluster, subject.group
    spec = edited_spec(subject, overlay)
    specs = {i: edit(cluster.groups[i].spec) for i, edit in overlay.others.items()}
    if overlay.edits and overlay.rollout:
        for other in cluster.groups:
            if cluster.workloads[other.index] == subject.workload and other.spec == group.spec:
                specs[other.index] = spec
    if specs:
        groups = list(cluster.groups)
        for index, changed in specs.items():
            groups[index] = replace(groups[index], spec=changed)
        state.cluster = sharing(cluster, replace(cluster, groups=tuple(groups)), nodes=False)
        _forget(state, _DERIVED - _ABOUT_NODES)
    if spec.requests != group.spec.requests:
        state.requests = state.requests.copy()
        for name, column in cluster.resources.index.items():
            if name != "pods":
                state.requests[group.index, column] = spec.requests.get(name, 0)


def _change_nodes(state: SchedulingState, overlay: Overlay) -> None:
    cluster = state.cluster
    nodes = list(cluster.nodes)
    for index, node in overlay.nodes.items():
        nodes[index] = node
    nodes += overlay.added
    table = cluster.resources
    if overlay.added:
        rows = np.array(
            [[node.allocatable.get(name, 0) for name in table.names] for node in overlay.added],
            np.int64,
        )
        table = ResourceTable(
            table.names, np.concatenate((table.allocatable, rows)), table.requests
        )
        empty = np.zeros_like(rows)
        state.used = np.concatenate((state.used, empty))
        state.non_zero_used = np.concatenate((state.non_zero_used, empty[:, :2]))
    changed = replace(cluster, nodes=tuple(nodes), resources=table)
    state.cluster = sharing(cluster, changed, nodes=True)
    _forget(state, _DERIVED - _ABOUT_GROUPS)


def _forget(state: SchedulingState, names: frozenset[str]) -> None:
    for name in names:
        state.__dict__.pop(name, None)


def sharing(old: Cluster, new: Cluster, *, nodes: bool) -> Cluster:
    """What was computed for the old snapshot and still holds for the new one."""
    kept = ["pending", "running", "pod_memo"]
    if not nodes:
        kept += ["node_index", "_topologies", "node_images"]
    for name in kept:
        if name in old.__dict__:
            new.__dict__[name] = old.__dict__[name]
    known = old.group_memo
    names = known if new.groups is old.groups else WHATEVER_SPECS_SAY & known.keys()
    new.group_memo.update({name: known[name] for name in names})
    return new


def _take_away(state: SchedulingState, pods: frozenset[int]) -> None:
    state.node_of = state.node_of.copy()
    state.used = state.used.copy()
    for pod in pods:
        node = int(state.node_of[pod])
        if node >= 0:
            state.used[node] -= state.requests[state.cluster.group_of[pod]]
        state.node_of[pod] = GONE


def uncordoned(node: Node) -> Node:
    """Without the cordon and the taint that it brought."""
    taints = tuple(t for t in node.spec.taints if t.key != UNSCHEDULABLE_TAINT)
    return node.replace(spec=node.spec.replace(unschedulable=False, taints=taints))
