"""Which of many spread constraints may be broken, found for all of them at once.

Large clusters have thousands of workloads with a constraint of their own over the same few zones.
Their counts are one table, by group and domain; only those that are too far apart in it are worth
a closer look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster.snapshot import Cluster
from planner.cluster.spread import CountedPods, Scope, SpreadConstraint
from planner.cluster.topology import IntArray

_FEW_DOMAINS = 32
MANY = 16
"""So many constraints over the same nodes are worth a table."""


@dataclass(frozen=True, eq=False)
class _Table:
    """Constraints over the same nodes that count one group each."""

    scope: Scope
    numbers: IntArray
    """Their places among all constraints."""
    groups: IntArray
    max_skews: IntArray


def may_be_broken(
    cluster: Cluster, pods: CountedPods, constraints: Sequence[SpreadConstraint]
) -> list[SpreadConstraint]:
    """All but those that are surely kept, in the same order; tables are laid out once."""
    key = ("tables of constraints", str(id(constraints)).encode())
    if key not in cluster.memo:
        cluster.memo[key] = constraints, _tables(constraints)
    tables: list[_Table] = cluster.memo[key][1]
    open_ = np.ones(len(constraints), np.bool_)
    if tables:
        of = np.repeat(np.arange(len(pods.first) - 1), np.diff(pods.first))
        for table in tables:
            counts = _counts(table.scope, pods.nodes, of, len(pods.first) - 1)[table.groups]
            counts = counts[:, table.scope.domains]
            open_[table.numbers] = counts.max(axis=1) > counts.min(axis=1) + table.max_skews
    return [constraints[number] for number in np.flatnonzero(open_).tolist()]


def _counts(scope: Scope, nodes: IntArray, of: IntArray, groups: int) -> IntArray:
    """By group and domain: pods on nodes that take part."""
    width = len(scope.topology.domains)
    domains = scope.topology.domain_of[nodes]
    places = (of * width + domains)[scope.eligible[nodes]]
    return np.bincount(places, minlength=groups * width).reshape(groups, width)


def _tables(constraints: Sequence[SpreadConstraint]) -> list[_Table]:
    by_scope: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(constraints):
        few = len(each.scope.topology.domains) <= _FEW_DOMAINS
        if few and len(each.matching) == 1 and not each.too_few_domains:
            by_scope[id(each.scope)].append(number)
    return [
        _Table(
            constraints[numbers[0]].scope,
            np.array(numbers),
            np.array([int(constraints[number].matching[0]) for number in numbers]),
            np.array([constraints[number].constraint.max_skew for number in numbers]),
        )
        for numbers in by_scope.values()
        if len(numbers) >= MANY
    ]
