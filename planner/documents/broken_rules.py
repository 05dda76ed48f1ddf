"""Broken hard rules in words and numbers: what stays broken, and what a relaxed plan breaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.replay.landings import BrokenLanding
from planner.replay.violations import BrokenRule, Violation
from planner.rules import card_of
from planner_models.node import HOSTNAME
from planner_models.plan import HardRule, PlanViolation


@dataclass(frozen=True)
class Broken:
    """A rule that landings break (`name` follows "breaks"), and the pods that do."""

    document: PlanViolation
    name: str
    pods: tuple[int, ...]


def describe(cluster: Cluster, violation: Violation) -> PlanViolation:
    """A rule that running pods break where they are."""
    workload = cluster.workloads[violation.group]
    spread = violation.rule == "topologySpread"
    minimum = violation.allowed - _max_skew(cluster, violation) if spread else None
    return PlanViolation(
        constraint=f"{workload.name} {_named(violation.rule, violation.topology_key)}",
        rule=violation.rule,
        workload=workload.short,
        field=card_of(violation.rule).field(violation.index),
        domain=violation.domain,
        count=violation.count,
        allowed=violation.allowed,
        minimum=minimum,
        remedy=None if minimum is None else _raised(cluster, violation),
        pods=tuple(cluster.pods[pod].key for pod in violation.pods),
    )


def broken_by(cluster: Cluster, landings: Iterable[BrokenLanding]) -> list[Broken]:
    """The rules that the landings of a relaxed plan break; `cluster` is the final state."""
    return [_broken(cluster, landing) for landing in landings]


def _broken(cluster: Cluster, landing: BrokenLanding) -> Broken:
    workload = cluster.workloads[landing.group]
    name = _named(landing.rule, landing.topology_key)
    domain = landing.domain
    if domain is None:
        domain = f"no {landing.topology_key.rpartition('/')[2]} label"
    within = landing.domain is not None and landing.rule == "topologySpread"
    document = PlanViolation(
        constraint=f"{workload.name} {name}",
        rule=landing.rule,
        workload=workload.short,
        field=card_of(landing.rule).field(landing.index),
        domain=domain,
        count=landing.count,
        allowed=landing.allowed,
        minimum=landing.allowed - _max_skew(cluster, landing) if within else None,
        remedy=_remedy(cluster, landing),
        pods=tuple(cluster.pods[pod].key for pod in landing.pods),
    )
    return Broken(document, f"{name} of {workload.name}", landing.pods)


def _remedy(cluster: Cluster, landing: BrokenLanding) -> str | None:
    """What would make it legal, if that is a small change."""
    nodes = {cluster.nodes[cluster.node_of[pod]].name for pod in landing.pods}
    if landing.domain is None:
        return f"label {min(nodes) if len(nodes) == 1 else 'the nodes'}"
    match landing.rule:
        case "topologySpread":
            return _raised(cluster, landing)
        case "podAntiAffinity":
            return _apart(cluster, landing)
        case "podAffinity":
            return None


def _apart(cluster: Cluster, landing: BrokenLanding) -> str | None:
    """By hostname is enough where the pods of the group are on different nodes."""
    if landing.topology_key == HOSTNAME:
        return None
    running = np.flatnonzero((cluster.group_of == landing.group) & (cluster.node_of >= 0)).tolist()
    nodes_of = {pod: cluster.nodes[cluster.node_of[pod]] for pod in (*running, *landing.pods)}
    key = landing.topology_key
    involved = [p for p, node in nodes_of.items() if node.labels.get(key) == landing.domain]
    nodes = {nodes_of[pod].name for pod in involved}
    return "by hostname" if len(nodes) == len(involved) > 1 else None


def _raised(cluster: Cluster, rule: BrokenRule) -> str:
    skew = _max_skew(cluster, rule)
    return f"maxSkew {skew} -> {skew + rule.excess}"


def _max_skew(cluster: Cluster, rule: BrokenRule) -> int:
    constraints = cluster.groups[rule.group].spec.topology_spread_constraints
    return constraints[rule.index].max_skew


def _named(rule: HardRule, key: str) -> str:
    name = card_of(rule).broken_name
    return f"{key.rpartition('/')[2]} {name}" if rule == "topologySpread" else name


def reasons(before: Iterable[Violation]) -> dict[int, str]:
    """For each pod that breaks a rule where it runs, which one; the first rule is enough."""
    found: dict[int, str] = {}
    for violation in before:
        why = reason(violation)
        for pod in violation.pods:
            found.setdefault(pod, why)
    return found


def reason(violation: Violation) -> str:
    """Why a pod that breaks the rule should not be where it is."""
    place = violation.domain
    if violation.rule == "topologySpread":
        return f"{place} has {violation.count} of them, above the limit of {violation.allowed}"
    return card_of(violation.rule).breach.format(place)
