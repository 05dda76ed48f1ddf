"""ScheduleAnyway constraints: the pods' own, or the profile's defaults for pods without any.

Each is counted like a hard one, and costs its excess: max(0, count - minimum - maxSkew) per domain.
Defaults take their selector from the Services that select the pod and from its controlling
ReplicaSet, StatefulSet or ReplicationController; pods that nothing selects have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray, NodeRules
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import Carrier, Scope, SpreadConstraint, effective_selector
from planner.solver.problem.problem import Problem
from planner_models.node import HOSTNAME
from planner_models.selectors import LabelSelector, LabelSelectorRequirement
from planner_models.topology_spread import TopologySpreadConstraint
from planner_models.workload import ReplicaSet, ReplicationController, StatefulSet


def soft_constraints(problem: Problem) -> list[SpreadConstraint]:
    """The distinct soft constraints of the groups that a plan decides about."""
    cluster, rules = problem.cluster, problem.static.nodes
    found: dict[tuple[object, ...], SpreadConstraint] = {}
    for g in problem.groups:
        group = cluster.groups[g]
        wishes = list(_wishes(problem, group))
        keys = _needed_keys(problem, group, wishes)
        for constraint, selector in wishes:
            eligible = _eligible(rules, group, constraint, keys)
            meaning = (
                group.namespace,
                selector.canonical(),
                constraint.topology_key,
                constraint.max_skew,
                eligible.tobytes(),
            )
            if meaning not in found:
                scope = Scope(cluster.topology(constraint.topology_key), eligible)
                matching = cluster.group_index.matching(selector, (group.namespace,))
                carrier = Carrier(g, 0, g in matching)
                found[meaning] = SpreadConstraint(constraint, (carrier,), scope, matching)
    return list(found.values())


def has_soft_constraints(problem: Problem, group: PodGroup) -> bool:
    """Whether a group has any, of its own or by default."""
    return next(_wishes(problem, group), None) is not None


def _wishes(
    problem: Problem, group: PodGroup
) -> Iterator[tuple[TopologySpreadConstraint, LabelSelector]]:
    """Constraints with their selectors; those that count nobody are left out."""
    own = group.spec.topology_spread_constraints
    for constraint in own:
        selector = effective_selector(constraint, group)
        if not constraint.hard and selector is not None and not selector.is_empty:
            yield constraint, selector
    if not own:
        selector = default_selector(problem.cluster, group)
        for constraint in problem.options.scheduler.pod_topology_spread.effective_constraints:
            if not constraint.hard and selector is not None:
                yield constraint, selector


def _needed_keys(
    problem: Problem,
    group: PodGroup,
    wishes: Iterable[tuple[TopologySpreadConstraint, LabelSelector]],
) -> list[str]:
    """A node needs the keys of all soft constraints, except under the system's own defaults."""
    args = problem.options.scheduler.pod_topology_spread
    if not group.spec.topology_spread_constraints and args.defaulting_type == "System":
        return []
    return sorted({constraint.topology_key for constraint, _ in wishes})


def _eligible(
    rules: NodeRules, group: PodGroup, constraint: TopologySpreadConstraint, keys: list[str]
) -> BoolArray:
    """The policies decide who takes part; counts by hostname skip them, as kube-scheduler does."""
    masks = [rules.labelled(key) for key in (constraint.topology_key, *keys)]
    if constraint.topology_key != HOSTNAME:
        if constraint.node_affinity_policy == "Honor":
            masks.append(rules.affinity(group.spec))
        if constraint.node_taints_policy == "Honor":
            masks.append(rules.taints(group.spec.tolerations))
    eligible: BoolArray = np.logical_and.reduce(masks)
    return eligible


def default_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    """The joint selector of Services and owner, or None if nothing selects the pod."""
    labels: dict[str, str] = {}
    for service in cluster.services:
        wanted = service.spec.selector
        if service.namespace == group.namespace and wanted.items() <= group.labels.items():
            labels.update(wanted)
    asked: tuple[LabelSelectorRequirement, ...] = ()
    owner = _owner_selector(cluster, group)
    if owner is not None:
        equal = (
            LabelSelectorRequirement(key=key, operator="In", values=(value,))
            for key, value in owner.match_labels.items()
        )
        asked = (*owner.match_expressions, *equal)
    selector = LabelSelector(match_labels=labels, match_expressions=asked)
    return None if selector.is_empty else selector


def _owner_selector(cluster: Cluster, group: PodGroup) -> LabelSelector | None:
    if group.owner is None:
        return None
    reference = WorkloadRef(group.namespace, group.owner.kind, group.owner.name)
    found = cluster.owners.controllers.get(reference)
    if isinstance(found, ReplicationController):
        return LabelSelector(match_labels=found.spec.selector)
    return found.spec.selector if isinstance(found, ReplicaSet | StatefulSet) else None
