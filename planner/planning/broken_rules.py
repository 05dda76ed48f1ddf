"""Broken hard rules in words and numbers: what stays broken, and what a relaxed plan breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from models.affinity import REQUIRED
from models.node import HOSTNAME
from models.plan import HardRule, PlanViolation
from planner.cluster import Cluster
from planner.scheduler.plugins.inter_pod_affinity import REASON_AFFINITY
from planner.verify.final import Landing
from planner.verify.violations import Violation

_FIELDS: Mapping[HardRule, str] = {
    "topologySpread": "spec.topologySpreadConstraints[{}]",
    "nodeAffinity": "spec.affinity.nodeAffinity",
    "taints": "spec.tolerations",
    "podAffinity": f"spec.affinity.podAffinity.{REQUIRED}",
    "podAntiAffinity": f"spec.affinity.podAntiAffinity.{REQUIRED}[{{}}]",
}
_NAMES: Mapping[HardRule, str] = {
    "topologySpread": "spread",
    "nodeAffinity": "node affinity",
    "taints": "tolerations",
    "podAffinity": "affinity",
    "podAntiAffinity": "anti-affinity",
}


@dataclass(frozen=True)
class Broken:
    """A rule that landings break (`name` follows "breaks"), and the pods that do."""

    document: PlanViolation
    name: str
    pods: tuple[int, ...]


def describe(cluster: Cluster, violation: Violation) -> PlanViolation:
    """A rule that running pods break where they are."""
    workload = cluster.workloads[violation.group]
    skew = _max_skew(cluster, violation)
    minimum = None if skew is None else violation.allowed - skew
    return PlanViolation(
        constraint=f"{workload.name} {_rule_name(violation)}",
        rule=violation.rule,
        workload=workload.short,
        field=_FIELDS[violation.rule].format(violation.index),
        domain=violation.domain,
        count=violation.count,
        allowed=violation.allowed,
        minimum=minimum,
        remedy=None if minimum is None else f"maxSkew {skew} -> {violation.count - minimum}",
        pods=tuple(cluster.pods[pod].key for pod in violation.pods),
    )


def broken_by(
    before: Iterable[Violation],
    after: Iterable[Violation],
    refused: Iterable[Landing],
    landed: Iterable[int],
    cluster: Cluster,
) -> list[Broken]:
    """The rules that the landings of a relaxed plan break; `cluster` is the final state.

    A spread constraint is broken by its excess in the domains that receive, a rule about other pods
    by the pods that landed against it.
    """
    landings = [each for landing in refused for each in _alike(cluster, landing, landed)]
    blamed = {landing.pod for landing in landings}
    known = {_place(violation): violation.count for violation in before}
    found = [
        _broken(cluster, violation, blamed)
        for violation in after
        if violation.count > known.get(_place(violation), 0)
    ]
    return [*found, *_lonely(cluster, landings)]


def _alike(cluster: Cluster, landing: Landing, landed: Iterable[int]) -> Iterator[Landing]:
    """All pods of a group that landed on a node are refused if the one that was asked for is."""
    group = cluster.group_of[landing.pod]
    for pod in landed:
        if cluster.group_of[pod] == group and cluster.node_of[pod] == landing.node:
            yield replace(landing, pod=pod)


def _place(violation: Violation) -> tuple[object, ...]:
    return (violation.rule, violation.group, violation.index, violation.domain)


def _broken(cluster: Cluster, violation: Violation, blamed: Collection[int]) -> Broken:
    document = describe(cluster, violation)
    pods = tuple(pod for pod in violation.pods if pod in blamed)
    if violation.rule == "podAntiAffinity":
        over = max(1, len(pods))
        document = document.model_copy(
            update={
                "allowed": max(0, violation.count - over),
                "remedy": _apart(cluster, violation),
            }
        )
    name = f"{_rule_name(violation)} of {cluster.workloads[violation.group].name}"
    return Broken(document, name, pods)


def _apart(cluster: Cluster, violation: Violation) -> str | None:
    """By hostname is enough where the pods are on different nodes."""
    nodes = {int(cluster.node_of[pod]) for pod in violation.pods}
    wider = violation.topology_key != HOSTNAME and len(nodes) == len(violation.pods) > 1
    return "by hostname" if wider else None


def _lonely(cluster: Cluster, landings: Iterable[Landing]) -> Iterator[Broken]:
    """Landings beside nobody that their required affinity asks for, by workload and node."""
    cells: dict[tuple[int, int], list[int]] = {}
    for landing in landings:
        if REASON_AFFINITY in landing.status.reasons:
            cell = (int(cluster.group_of[landing.pod]), landing.node)
            cells.setdefault(cell, []).append(landing.pod)
    for (group, node), pods in sorted(cells.items()):
        workload = cluster.workloads[group]
        document = PlanViolation(
            constraint=f"{workload.name} {_NAMES['podAffinity']}",
            rule="podAffinity",
            workload=workload.short,
            field=_FIELDS["podAffinity"],
            domain=cluster.nodes[node].name,
            count=len(pods),
            allowed=0,
            pods=tuple(cluster.pods[pod].key for pod in pods),
        )
        name = f"{_NAMES['podAffinity']} of {workload.name}"
        yield Broken(document, name, tuple(pods))


def _max_skew(cluster: Cluster, violation: Violation) -> int | None:
    if violation.rule != "topologySpread":
        return None
    constraints = cluster.groups[violation.group].spec.topology_spread_constraints
    return constraints[violation.index].max_skew


def _rule_name(violation: Violation) -> str:
    name = _NAMES[violation.rule]
    if violation.rule != "topologySpread":
        return name
    return f"{violation.topology_key.rpartition('/')[2]} {name}"


def reasons(cluster: Cluster, before: Iterable[Violation]) -> dict[int, str]:
    """For each pod that breaks a rule where it runs, which one; the first rule is enough."""
    found: dict[int, str] = {}
    for violation in before:
        reason = _reason(cluster, violation)
        for pod in violation.pods:
            found.setdefault(pod, reason)
    return found


def _reason(cluster: Cluster, violation: Violation) -> str:
    place = violation.domain
    match violation.rule:
        case "topologySpread":
            return f"{place} has {violation.count} of them, above the limit of {violation.allowed}"
        case "nodeAffinity":
            return f"{place} does not match its node affinity"
        case "taints":
            return f"it does not tolerate a taint of {place}"
        case "podAntiAffinity":
            return f"anti-affinity to another pod in {place}"
