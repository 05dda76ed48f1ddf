"""PodTopologySpread: keep the pods that a selector matches even over the domains of a topology.

Hard constraints judge the domain that receives the pod:

    count(domain) + self - minimum <= maxSkew

where `self` is 1 if the pod matches its own selector and `minimum` is the smallest count over the
eligible domains, or 0 if there are fewer of them than minDomains. Soft constraints cost points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from planner.cluster.groups import PodGroup
from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray, Topology
from planner.scheduler.framework.changes import Changes
from planner.scheduler.framework.default_selector import default_selector
from planner.scheduler.framework.node_table import NodeTable
from planner.scheduler.framework.plugin import (
    MAX_NODE_SCORE,
    PASS,
    SKIP,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Change,
    Filter,
    PreFilterResult,
    Score,
    Status,
)
from planner.scheduler.framework.spread_counts import CountedSpread, nodes_with_keys
from planner.scheduler.framework.state import SchedulingState
from planner_models.node import HOSTNAME
from planner_models.scheduler_args import PodTopologySpreadArgs
from planner_models.selectors import with_match_label_keys
from planner_models.topology_spread import TopologySpreadConstraint, WhenUnsatisfiable

REASON_SKEW = "node(s) didn't match pod topology spread constraints"
REASON_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"

_SKEW, _LABEL = 1, 2


class PodTopologySpread:
    """`topologySpreadConstraints`, or the profile's defaults for pods without any."""

    name: ClassVar[str] = "PodTopologySpread"
    reasons: ClassVar[tuple[str, ...]] = (REASON_SKEW, REASON_LABEL)

    def __init__(self, args: PodTopologySpreadArgs) -> None:
        self._defaults = args.effective_constraints
        self._system_defaults = args.defaulting_type == "System"

    def pre_filter(self, state: SchedulingState, group: PodGroup) -> PreFilterResult:
        """Refuse nodes whose domain would get too far ahead of the least filled one."""
        constraints = self._constraints(state, group, "DoNotSchedule")
        if not constraints:
            return SKIP
        keys = frozenset(each.topology_key for each in constraints)
        counted = [CountedSpread(state, group, each, keys) for each in constraints]
        return PreFilterResult(SpreadFilter(counted))

    def pre_score(self, state: SchedulingState, group: PodGroup) -> SpreadScore | None:
        """Prefer nodes whose domains have few matching pods.

        The system's own defaults don't ask for all keys, so that nodes without a zone label are
        still spread by hostname.
        """
        constraints = self._constraints(state, group, "ScheduleAnyway")
        if not constraints or not state.cluster.nodes:
            return None
        own = bool(group.spec.topology_spread_constraints)
        asked = own or not self._system_defaults
        keys = frozenset(each.topology_key for each in constraints if asked)
        counted = [
            CountedSpread(state, group, each, keys, by_node=each.topology_key == HOSTNAME)
            for each in constraints
        ]
        return SpreadScore(counted, nodes_with_keys(state, keys))

    def _constraints(
        self, state: SchedulingState, group: PodGroup, action: WhenUnsatisfiable
    ) -> list[TopologySpreadConstraint]:
        own = group.spec.topology_spread_constraints
        if own:
            return [_with_keys(c, group) for c in own if c.when_unsatisfiable == action]
        defaults = [c for c in self._defaults if c.when_unsatisfiable == action]
        selector = default_selector(state.cluster, group) if defaults else None
        if selector is None:
            return []
        return [c.replace(label_selector=selector) for c in defaults]


def _with_keys(constraint: TopologySpreadConstraint, group: PodGroup) -> TopologySpreadConstraint:
    """matchLabelKeys: also ask for the incoming pod's own values."""
    selector = constraint.label_selector
    if selector is None or not constraint.match_label_keys:
        return constraint
    merged = with_match_label_keys(selector, constraint.match_label_keys, group.labels)
    return constraint.replace(label_selector=merged)


class SpreadFilter(Filter):
    """Domains that are too far ahead."""

    def __init__(self, constraints: list[CountedSpread]) -> None:
        self.constraints = constraints
        self._coarse = next((each for each in constraints if each.coarse), None)
        self._others = [each for each in constraints if each is not self._coarse]

    def leaves(self) -> tuple[Topology, tuple[int, ...]] | None:
        """By the first constraint over few domains."""
        if self._coarse is None:
            return None
        return self._coarse.topology, self._coarse.open_domains()

    def passing_in(self, table: NodeTable) -> BoolArray | None:
        """By the other constraints."""
        passing: BoolArray | None = None
        for each in self._others:
            found = ~each.over_at(table.nodes)
            passing = found if passing is None else passing & found
        return passing

    def verdicts(self) -> IntArray:
        """The first constraint that refuses a node decides the reason."""
        verdicts: IntArray = np.zeros(1, np.int64)
        for each in reversed(self.constraints):
            reason = np.where(each.topology.domain_of < 0, _LABEL, _SKEW)
            verdicts = np.where(each.over(), reason, verdicts)
        return verdicts

    def refused(self) -> BoolArray:
        """By any constraint."""
        refused = self.constraints[0].over()
        for each in self.constraints[1:]:
            refused |= each.over()
        return refused

    def verdict_at(self, node: int) -> int:
        """The same for one node."""
        for each in self.constraints:
            domain = each.topology.domain_of[node]
            if domain < 0:
                return _LABEL
            if each.per_domain[domain] > each.limit():
                return _SKEW
        return PASS

    def refused_at(self, nodes: IntArray) -> BoolArray:
        """Likewise of a few nodes."""
        refused = self.constraints[0].over_at(nodes)
        for each in self.constraints[1:]:
            refused |= each.over_at(nodes)
        return refused

    def kinds(self, nodes: IntArray) -> list[IntArray]:
        """By each constraint."""
        return [each.kinds(nodes) for each in self.constraints]

    def status(self, verdict: int) -> Status:
        """A node without the label can't be helped by preemption."""
        if verdict == _LABEL:
            return Status(PodTopologySpread.name, UNRESOLVABLE, (REASON_LABEL,))
        return Status(PodTopologySpread.name, UNSCHEDULABLE, (REASON_SKEW,))

    def numbers(self, nodes: IntArray) -> Sequence[str]:
        """The topology key, and `count + self - minimum > maxSkew` for the node's domain."""
        texts = [""] * len(nodes)
        for each in reversed(self.constraints):
            domains = each.topology.domain_of[nodes]
            refused = np.flatnonzero(each.over()[nodes] & (domains >= 0))
            limit = f"- {each.minimum()} > {each.constraint.max_skew}"
            landing = each.per_domain[domains[refused]] + each.self_match
            for place, count in zip(refused.tolist(), landing.tolist(), strict=True):
                texts[place] = f"{each.constraint.topology_key}: {count} {limit}"
        return texts

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for each in self.constraints:
            each.add(changes)

    def dry_run(self, change: Change) -> None:
        """Count along as preemption does."""
        for each in self.constraints:
            each.add_for_preemption(change)


def _rounded(number: float) -> int:
    """Halves away from zero, as Go rounds."""
    whole = math.trunc(number)
    return whole + (number - whole >= 0.5)


class SpreadScore(Score):
    """Domains with few pods get more points."""

    def __init__(self, constraints: list[CountedSpread], takes_part: BoolArray) -> None:
        self.constraints = constraints
        self.takes_part = takes_part

    def scores(self, feasible: IntArray) -> IntArray:
        """round(sum of count x ln(domains + 2) + maxSkew - 1); ignored nodes 0."""
        scored = self.takes_part[feasible]
        total = np.zeros(len(feasible))
        for each in self.constraints:
            domain = each.topology.domain_of[feasible]
            if each.constraint.topology_key == HOSTNAME:
                size = int(scored.sum())
                count = each.per_node[feasible]
            else:
                size = len(np.unique(domain[scored]))
                count = each.per_domain[domain] if len(each.per_domain) else np.zeros_like(domain)
            score = count * math.log(size + 2) + (each.constraint.max_skew - 1)
            total += np.where(domain >= 0, score, 0.0)
        rounded = np.trunc(total)
        rounded += total - rounded >= 0.5
        return np.where(scored, rounded, 0).astype(np.int64)

    def scores_of(self, examples: IntArray, sizes: IntArray) -> IntArray:
        """The same in plain numbers, of a few nodes that stand for so many each."""
        scored: list[bool] = self.takes_part[examples].tolist()
        total = [0.0] * len(scored)
        for each in self.constraints:
            domains: list[int] = each.topology.domain_of[examples].tolist()
            if each.constraint.topology_key == HOSTNAME:
                size = sum(n for n, on in zip(sizes.tolist(), scored, strict=True) if on)
                counts = each.per_node[examples].tolist()
            else:
                size = len({d for d, on in zip(domains, scored, strict=True) if on})
                counts = [int(each.per_domain[d]) if d >= 0 else 0 for d in domains]
            weight, more = math.log(size + 2), each.constraint.max_skew - 1
            total = [
                so_far + (count * weight + more) if domain >= 0 else so_far
                for so_far, count, domain in zip(total, counts, domains, strict=True)
            ]
        rounded = [_rounded(t) if s else 0 for t, s in zip(total, scored, strict=True)]
        return np.array(rounded, np.int64)

    def kinds(self, nodes: IntArray) -> list[IntArray]:
        """By the pods on a node where hosts are counted, and by the domain for other keys."""
        found = []
        for each in self.constraints:
            domains = each.topology.domain_of[nodes]
            hosts = each.constraint.topology_key == HOSTNAME
            found.append(np.where(domains < 0, -1, each.per_node[nodes]) if hosts else domains)
        return found

    def normalise(self, raw: IntArray, feasible: IntArray) -> IntArray:
        """100 x (max + min - score) // max; nodes that take no part get 0."""
        scored = self.takes_part[feasible]
        if not scored.any():
            return np.zeros_like(raw)
        highest, lowest = int(raw[scored].max()), int(raw[scored].min())
        if highest == 0:
            return np.where(scored, MAX_NODE_SCORE, 0)
        return np.where(scored, MAX_NODE_SCORE * (highest + lowest - raw) // highest, 0)

    def apply(self, changes: Changes) -> None:
        """Count along."""
        for each in self.constraints:
            each.add(changes)
