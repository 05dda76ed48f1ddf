"""What is optimised, level by level.

1. `placed PRIORITY`   pending pods placed, one level per priority from the top; with --preempt
                       together with the running pods that are decided about
2. `broken`            with --relax: excess of landing domains, and pods that land against an
                       inter-pod rule, one for each rule
3. `excess`            with --rebalance: sum of max(0, count - minimum - maxSkew) over distinct hard
                       spread constraints and eligible domains, plus running pods that break node
                       affinity, taints or their own anti-affinity, one for each kind
4. `moves`             running pods that leave their node, each 1, or 1 + the rank of its priority
5. `preferences`       points of unmet wishes: 2 x weight for preferred node affinity and pod
                       (anti-)affinity, 300 for each PreferNoSchedule taint, 200 for each pod of
                       excess over a ScheduleAnyway constraint
6. `balance`, `pack`   per mille above the mean utilisation, summed over nodes, cpu and memory; or
                       nodes with pods other than those of a DaemonSet

Each level is fixed before the next one begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.topology import IntArray
from planner.disruption.movability import goes_with_node
from planner.solver.model.constraints import (
    inter_pod_affinity_cost,
    inter_pod_affinity_excess,
    node_affinity,
    pod_topology_spread,
    taint_toleration,
)
from planner.solver.model.linear import Linear, total
from planner.solver.model.model import Model
from planner.solver.model.rules import Rules
from planner.solver.problem.cells import NONE
from planner.solver.problem.moves import move_weights, placeable
from planner.solver.problem.problem import Problem
from planner.solver.problem.soft_spread import has_soft_constraints, soft_constraints
from planner_models.resources import CPU, MEMORY

Kind = Literal["placed", "broken", "excess", "moves", "preferences", "balance", "pack"]
WISHES = frozenset(("preferences", "balance", "pack"))
SPREAD_WEIGHT = 2
_WHOLE = 1000


@dataclass(frozen=True, eq=False)
class Objective:
    """One level. `build` adds the variables that only this level needs, when its turn comes."""

    name: str
    kind: Kind
    maximise: bool
    build: Callable[[], Linear]
    bound: int | None = None
    """What can't be exceeded, where more is known than the variables' ranges say."""

    @property
    def soft(self) -> bool:
        """Whether it is about wishes and not about rules."""
        return self.kind in WISHES


def objectives(model: Model, rules: Rules) -> list[Objective]:
    """The levels that the options ask for."""
    options = model.problem.options
    levels = placed(model)
    if options.relax:
        levels.append(Objective("broken", "broken", False, lambda: broken(rules)))
    if options.rebalance:
        levels.append(Objective("excess", "excess", False, lambda: excess(model, rules)))
    if options.rebalance or options.preempt:
        levels.append(Objective("moves", "moves", False, lambda: moves(model)))
    levels.append(Objective("preferences", "preferences", False, lambda: preferences(model)))
    if options.prefer == "balance":
        levels.append(Objective("balance", "balance", False, lambda: balance(model)))
    if options.prefer == "pack":
        levels.append(Objective("pack", "pack", False, lambda: pack(model)))
    return levels


def placed(model: Model) -> list[Objective]:
    """One level per priority, the highest first."""
    problem = model.problem
    by_priority: dict[int, Linear] = defaultdict(Linear)
    bounds: dict[int, int] = defaultdict(int)
    room = placeable(problem)
    for group in problem.groups if problem.options.preempt else sorted(problem.waiting):
        priority = problem.cluster.groups[group].priority
        running = int(model.of(group).now.sum()) if problem.options.preempt else 0
        expression = model.placed[group].plus(Linear(constant=running))
        by_priority[priority] = by_priority[priority].plus(expression)
        bounds[priority] += running + room.get(group, 0)
    return [
        Objective(f"placed {priority}", "placed", True, partial(_same, part), bounds[priority])
        for priority, part in sorted(by_priority.items(), reverse=True)
    ]


def _same(expression: Linear) -> Linear:
    return expression


def broken(rules: Rules) -> Linear:
    """The weight of everything that --relax breaks."""
    variables = [each.excess for each in rules.broken_spreads]
    variables += [each.pods for each in rules.broken_affinities]
    return Linear(variables, [1] * len(variables))


def excess(model: Model, rules: Rules) -> Linear:
    """Excess of spread constraints, and running pods that could not be placed where they are."""
    return total(
        (
            pod_topology_spread.excess(model, rules.spreads),
            inter_pod_affinity_excess.excess(model),
            *_misplaced(model),
        )
    )


def _misplaced(model: Model) -> list[Linear]:
    """Pods on nodes that node affinity or taints would refuse now; terminating ones are gone."""
    static, groups = model.problem.static, model.problem.cluster.groups
    found: list[Linear] = []
    for g in sorted({*model.cells, *model.counted}):
        rules = static.standing(groups[g].spec)
        found += [_pods_on(model, g, ~admitted) for admitted in rules if not admitted.all()]
    return found


def _pods_on(model: Model, group: int, nodes: BoolArray) -> Linear:
    cells, fixed = model.of(group), model.fixed_of(group, terminating=False)
    variables = cells.y[nodes[cells.nodes]].tolist()
    return Linear(variables, [1] * len(variables), int(fixed.counts[nodes[fixed.nodes]].sum()))


def moves(model: Model) -> Linear:
    """Departures, m - y + arrivals, weighted by the move cost."""
    weights = move_weights(model.problem)
    return total(departures(model, group, weights[group]) for group in model.cells)


def departures(model: Model, group: int, weight: int = 1) -> Linear:
    """The pods of a group that leave their node."""
    cells = model.of(group)
    result = Linear()
    here = cells.now > 0
    columns = (cells.y[here], cells.arrivals[here], cells.now[here])
    for y, arrived, now in np.column_stack(columns).tolist():
        result.constant += weight * now
        result.add(y, -weight)
        if arrived != NONE:
            result.add(arrived, weight)
    return result


def has_wishes(problem: Problem) -> bool:
    """Whether anything is asked for beyond the rules; True where that is not clear at once."""
    cluster = problem.cluster
    if problem.options.prefer != "none" or any(map(taint_toleration.prefers, cluster.nodes)):
        return True
    near = (group.spec.affinity for group in cluster.groups)
    if any(each.pod_affinity.preferred or each.pod_anti_affinity.preferred for each in near):
        return True
    groups = [cluster.groups[g] for g in problem.groups]
    return any(
        group.spec.affinity.node_affinity.preferred or has_soft_constraints(problem, group)
        for group in groups
    )


def preferences(model: Model) -> Linear:
    """Points of unmet wishes of the pods that a plan decides about."""
    soft = [pod_topology_spread.count(model, each) for each in soft_constraints(model.problem)]
    spread = pod_topology_spread.excess(model, soft)
    points = Linear().plus(spread, SPREAD_WEIGHT * 100)
    return total((points, inter_pod_affinity_cost.cost(model), *_node_wishes(model)))


def _node_wishes(model: Model) -> list[Linear]:
    cluster = model.problem.cluster
    found: list[Linear] = []
    for g, cells in model.cells.items():
        spec = cluster.groups[g].spec
        for cost in (node_affinity.cost(cluster, spec), taint_toleration.cost(cluster, spec)):
            if cost is not None:
                paid = cost[cells.nodes] > 0
                prices = cost[cells.nodes][paid].tolist()
                found.append(Linear(cells.y[paid].tolist(), prices))
    return found


def balance(model: Model) -> Linear:
    """Per mille of each node above what all would have if everything were spread evenly."""
    problem = model.problem
    result = Linear()
    for name in (CPU, MEMORY):
        column = problem.cluster.resources.column(name)
        offered = problem.allocatable[:, column]
        wanted = int(problem.fixed_used[:, column].sum())
        for g, cells in model.cells.items():
            many = int(cells.now.sum()) + len(problem.waiting.get(g, ()))
            wanted += int(problem.requests[g, column]) * many
        mean = wanted * _WHOLE // max(1, int(offered.sum()))
        _above(model, column, offered, mean, result)
    return result


def _above(model: Model, column: int, offered: IntArray, mean: int, result: Linear) -> None:
    shares: dict[int, Linear] = defaultdict(Linear)
    fixed = model.problem.fixed_used[:, column].tolist()
    room = offered.tolist()
    for g, cells in model.cells.items():
        request = int(model.problem.requests[g, column])
        if request:
            for node, y in zip(cells.nodes.tolist(), cells.y.tolist(), strict=True):
                shares[node].add(y, request * _WHOLE // max(1, room[node]))
    for node, share in shares.items():
        share.constant = fixed[node] * _WHOLE // max(1, room[node]) - mean
        top = model.highest(share)
        if top > 0:
            over = model.integer(0, top)
            model.at_most(share.plus(Linear([over], [-1])))
            result.add(over)


def pack(model: Model) -> Linear:
    """Nodes that run anything but what a DaemonSet or the kubelet runs everywhere."""
    groups = model.problem.cluster.groups
    used = np.zeros(len(model.problem.cluster.nodes), np.bool_)
    for g, fixed in model.everyone.items():
        if not goes_with_node(groups[g]):
            used[fixed.nodes] = True
    by_node: dict[int, Linear] = defaultdict(Linear)
    for cells in model.cells.values():
        for node, y in zip(cells.nodes.tolist(), cells.y.tolist(), strict=True):
            by_node[node].add(y)
    opened = [model.lands(pods) for node, pods in sorted(by_node.items()) if not used[node]]
    return Linear(opened, [1] * len(opened), int(used.sum()))
