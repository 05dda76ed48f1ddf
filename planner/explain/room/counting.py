"""Counting arguments: why no sequence of evictions and placements can make room.

Every argument bounds what can be on the nodes at any time, given the pods that stay whatever
happens. It is computed, and only if the numbers contradict each other it becomes a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.topology import IntArray
from planner.explain.room.certificates import holds
from planner.explain.room.stage import Stage
from planner.explain.room.staying import holders, who_stays
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups
from planner.words import amount_of, conjoined
from planner_models.diagnosis import Counting, RuleKind

_STATIC: frozenset[RuleKind] = frozenset(
    ("nodeAffinity", "taints", "unschedulable", "nodeName", "declaredFeatures")
)


def certificate(stage: Stage) -> Counting | None:
    """The first argument that holds, when it is checked again without these rules."""
    for argue in (_static, _domains, _apart, _pinned, _capacity):
        found = argue(stage)
        if found is not None and holds(stage.subject, stage.movable, found):
            return found
    return None


def _static(stage: Stage) -> Counting | None:
    """Every node is refused by rules that don't look at other pods."""
    refused = np.zeros(stage.subject.places.total, np.bool_)
    for rule in stage.rules:
        if rule.kind in _STATIC:
            refused |= rule.blocked
        if isinstance(rule, CapacityRule):
            refused |= rule.hopeless
    if not refused.all():
        return None
    return Counting(kind="static", text="No eviction helps: these rules don't look at other pods.")


def _pinned(stage: Stage) -> Counting | None:
    if not stage.never.all():
        return None
    return Counting(
        kind="pinned",
        text=f"No eviction helps: {who_stays(stage)}.",
        numbers={"nodes": stage.subject.places.total, "movable": int(stage.movable.sum())},
    )


def _domains(stage: Stage) -> Counting | None:
    """More pods than the domains of a spread constraint can ever hold together.

    A domain ends with no more than it has now, or with what a last landing allowed: the highest
    possible minimum and maxSkew. It holds if all pods that count carry the constraint themselves.
    """
    for rule in stage.rules:
        if not isinstance(rule, SpreadRule) or not rule.self_match or not rule.eligible.any():
            continue
        groups = matching_groups(stage.subject, rule.constraint)
        cluster = stage.subject.cluster
        own = stage.subject.group.spec
        mine = stage.subject.group.index in groups  # an empty selector counts nobody
        if not mine or any(cluster.groups[g].spec != own for g in groups.tolist()):
            continue
        most = stage.most(rule, with_pod=True)
        lowest = stage.lowest(rule, with_pod=True)
        limit = lowest + rule.constraint.max_skew
        ceiling = np.minimum(np.maximum(rule.counts, limit), np.maximum(most, rule.counts))
        at_most = int(ceiling[rule.eligible].sum())
        wanted = int(rule.counts[rule.eligible].sum()) + 1
        if wanted > at_most and rule.field.startswith("spec."):
            return _domain_argument(stage, rule, most, at_most, wanted)
    return None


def _domain_argument(
    stage: Stage, rule: SpreadRule, most: IntArray, at_most: int, wanted: int
) -> Counting:
    number = int(rule.eligible.sum())
    skew = rule.constraint.max_skew
    who = stage.subject.workload.name if not stage.subject.bare else "matching"
    numbers = {
        "wanted": wanted,
        "atMost": at_most,
        "domains": number,
        "maxSkew": skew,
        "index": rule.index,
    }
    if rule.few_domains and at_most == number * skew:
        text = (
            f"No rearrangement helps: {number} {rule.key}s x maxSkew {skew} = {at_most} {who} pods "
            f"at most, {wanted} wanted."
        )
        return Counting(kind="domains", text=text, numbers=dict(numbers))
    lowest = stage.lowest(rule, with_pod=True)
    least = rule.names_of(rule.eligible & (most == lowest))
    place = conjoined(least[:2])
    if lowest == 0:
        text = (
            f"No rearrangement helps: while {place} stays at 0, no other {rule.key} may go above "
            f"{skew}."
        )
    else:
        text = (
            f"No rearrangement helps: {place} has room for {lowest} at most, so no other "
            f"{rule.key} may go above {lowest + skew}: {at_most} {who} pods in all, {wanted} "
            f"wanted.{holders(stage, rule, least)}"
        )
    return Counting(kind="domains", text=text, numbers=dict(numbers))


def _apart(stage: Stage) -> Counting | None:
    """More pods that keep out of each other's domain than there are domains."""
    subject = stage.subject
    cluster = subject.cluster
    for rule in stage.rules:
        if not isinstance(rule, AntiAffinityRule) or not rule.to_itself:
            continue
        topology = cluster.topology(rule.terms[0].topology_key)
        same = [g for g in rule.groups if cluster.groups[g].spec == subject.group.spec]
        if len(same) < len(rule.groups) or (topology.domain_of < 0).any():
            continue
        counts = rule.counts
        most = int(np.maximum(counts, 1).sum())
        wanted = int(counts.sum()) + 1
        if wanted > most:
            number = len(topology.domains)
            return Counting(
                kind="pigeonhole",
                text=f"No rearrangement helps: wherever the {wanted} pods go, two share a "
                f"{rule.keys}.",
                numbers={
                    "pods": wanted,
                    "domains": number,
                    "atMost": most,
                    "key": rule.keys,
                    "index": rule.index,
                },
            )
    return None


def _capacity(stage: Stage) -> Counting | None:
    """Less is free in the whole cluster than the pod asks for."""
    rules: Sequence[CapacityRule] = [r for r in stage.rules if isinstance(r, CapacityRule)]
    for rule in rules:
        for column, name in enumerate(rule.names):
            free = int(np.maximum(rule.free[:, column], 0).sum())
            wanted = int(rule.request[column])
            if free < wanted:
                return Counting(
                    kind="capacity",
                    text=f"No rearrangement helps: {amount_of(name, free)} are free in the whole "
                    f"cluster.",
                    numbers={"free": free, "wanted": wanted, "resource": name},
                )
    return None
