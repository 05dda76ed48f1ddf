"""From the values of a model's variables to a solution."""

from __future__ import annotations

from collections.abc import Iterator

from planner.cluster.topology import NO_DOMAIN, Topology
from planner.solver.model.constraints import inter_pod_affinity, pod_topology_spread
from planner.solver.model.model import Model
from planner.solver.model.rules import Rules
from planner.solver.problem.notes import notes_on
from planner.solver.problem.solution import BrokenRule, Level, Solution, Statistics


def solution_of(
    model: Model,
    rules: Rules,
    values: list[int],
    *,
    levels: tuple[Level, ...],
    statistics: Statistics,
    interrupted: bool,
) -> Solution:
    """Counts, what is missing, and what is broken."""
    counts = {cell: values[v] for cell, v in sorted(model.cell_vars.items()) if values[v]}
    unplaced, displaced = _missing(model, values)
    return Solution(
        status="optimal" if all(level.proven for level in levels) else "feasible",
        counts=counts,
        unplaced=unplaced,
        displaced=displaced,
        levels=levels,
        broken=tuple(_broken(model, rules, values)),
        notes=notes_on(model.problem, displaced),
        statistics=statistics,
        interrupted=interrupted,
    )


def _missing(model: Model, values: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Pods without a node, per group; pending ones are left before running ones are displaced."""
    unplaced: dict[int, int] = {}
    displaced: dict[int, int] = {}
    for group, placed in model.placed.items():
        waiting = len(model.problem.waiting.get(group, ()))
        missing = waiting - placed.value(values)
        if missing and waiting:
            unplaced[group] = min(missing, waiting)
        if missing > waiting:
            displaced[group] = missing - waiting
    return unplaced, displaced


def _broken(model: Model, rules: Rules, values: list[int]) -> Iterator[BrokenRule]:
    for spread in rules.broken_spreads:
        if values[spread.excess]:
            yield _broken_spread(spread, values)
    for each in rules.broken_affinities:
        if values[each.pods]:
            yield _broken_affinity(model, each, values)


def _broken_spread(broken: pod_topology_spread.Broken, values: list[int]) -> BrokenRule:
    constraint = broken.spread.constraint
    topology = constraint.scope.topology
    count = values[broken.excess]
    if broken.domain != NO_DOMAIN:
        count = broken.spread.counts[broken.domain].value(values)
    return BrokenRule(
        rule="topologySpread",
        group=constraint.carriers[0].group,
        index=constraint.carriers[0].index,
        topology_key=topology.key,
        domain=_domain(topology, broken.domain),
        count=count,
        allowed=count - values[broken.excess],
    )


def _domain(topology: Topology, domain: int) -> str | None:
    return None if domain == NO_DOMAIN else topology.domains[domain]


def _broken_affinity(
    model: Model, broken: inter_pod_affinity.Broken, values: list[int]
) -> BrokenRule:
    return BrokenRule(
        rule="podAffinity" if broken.kind == "podAffinity" else "podAntiAffinity",
        group=broken.group,
        index=broken.index,
        topology_key=broken.key,
        domain=_domain(model.problem.cluster.topology(broken.key), broken.domain),
        count=values[broken.pods],
        allowed=0,
    )
