"""Counting arguments: why no sequence of evictions and placements can make room.

Every argument bounds what can be on the nodes at any time, given the pods that stay whatever
happens. It is computed, and only if the numbers contradict each other it becomes a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.cluster.topology import IntArray
from planner.disruption.movability import Immovable, Movability, Stay
from planner.explain.room.certificates import holds
from planner.explain.room.setting import Setting
from planner.explain.rules.inter_pod_affinity import AntiAffinityRule
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import of_type
from planner.words import NAMED, amount, amount_of, conjoined, count_of, free_of
from planner_models.diagnosis import Counting


def certificate(setting: Setting) -> Counting | None:
    """The first argument that holds, when it is checked again without these rules."""
    for argue in (_static, _domains, _apart, _pinned, _capacity):
        found = argue(setting)
        if found is not None and holds(setting.subject, setting.movable, found):
            return found
    return None


def _static(setting: Setting) -> Counting | None:
    """Every node is refused by rules that don't look at other pods."""
    refused = np.zeros(setting.subject.nodes.total, np.bool_)
    for rule in setting.rules:
        refused |= rule.hopeless
    if not refused.all():
        return None
    return Counting(kind="static", text="No eviction helps: these rules don't look at other pods.")


def _pinned(setting: Setting) -> Counting | None:
    if not setting.never.all():
        return None
    return Counting(
        kind="pinned",
        text=f"No eviction helps: {_who_stays(setting)}.",
        numbers={"nodes": setting.subject.nodes.total, "movable": int(setting.movable.sum())},
    )


def _domains(setting: Setting) -> Counting | None:
    """More pods than the domains of a spread constraint can ever hold together.

    A domain ends with no more than it has now, or with what a last landing allowed: the highest
    possible minimum and maxSkew. It holds if all pods that count carry the constraint themselves.
    """
    for rule in of_type(setting.rules, SpreadRule):
        if not rule.self_match or not rule.eligible.any() or not rule.in_spec:
            continue
        if not setting.all_alike(rule.counted_groups):  # an empty selector counts nobody
            continue
        most = setting.most(rule, with_pod=True)
        lowest = setting.lowest(rule, with_pod=True)
        limit = lowest + rule.constraint.max_skew
        ceiling = np.minimum(np.maximum(rule.counts, limit), np.maximum(most, rule.counts))
        at_most = int(ceiling[rule.eligible].sum())
        wanted = int(rule.counts[rule.eligible].sum()) + 1
        if wanted > at_most:
            return _domain_argument(setting, rule, most, at_most, wanted)
    return None


def _domain_argument(
    setting: Setting, rule: SpreadRule, most: IntArray, at_most: int, wanted: int
) -> Counting:
    number = int(rule.eligible.sum())
    skew = rule.constraint.max_skew
    who = setting.subject.workload.name if not setting.subject.bare else "matching"
    numbers = {
        "wanted": wanted,
        "atMost": at_most,
        "domains": number,
        "maxSkew": skew,
        "index": rule.index,
    }
    if rule.few_domains and at_most == number * skew:
        text = (
            f"No rearrangement helps: {count_of(number, rule.key)} x maxSkew {skew} = "
            f"{count_of(at_most, f'{who} pod')} at most, {wanted} wanted."
        )
        return Counting(kind="domains", text=text, numbers=dict(numbers))
    lowest = setting.lowest(rule, with_pod=True)
    least = rule.names_of(rule.eligible & (most == lowest))
    place, one = conjoined(least[:2]), len(least) == 1
    if lowest == 0:
        text = (
            f"No rearrangement helps: while {place} {'stays' if one else 'stay'} at 0, no other "
            f"{rule.key} may go above {skew}."
        )
    else:
        text = (
            f"No rearrangement helps: {place} {'has' if one else 'have'} room for {lowest} at most"
            f"{'' if one else ' each'}, so no other {rule.key} may go above {lowest + skew}: "
            f"{count_of(at_most, f'{who} pod')} in all, {wanted} wanted."
            f"{_holders(setting, rule, least)}"
        )
    return Counting(kind="domains", text=text, numbers=dict(numbers))


def _apart(setting: Setting) -> Counting | None:
    """More pods that keep out of each other's domain than there are domains."""
    for rule in of_type(setting.rules, AntiAffinityRule):
        if not setting.all_alike(rule.groups) or (rule.topology.domain_of < 0).any():
            continue
        counts = rule.counts
        most = int(np.maximum(counts, 1).sum())
        wanted = int(counts.sum()) + 1
        if wanted > most:
            return Counting(
                kind="pigeonhole",
                text=f"No rearrangement helps: wherever the {wanted} pods go, two share a "
                f"{rule.keys}.",
                numbers={
                    "pods": wanted,
                    "domains": len(counts),
                    "atMost": most,
                    "key": rule.keys,
                    "index": rule.index,
                },
            )
    return None


def _capacity(setting: Setting) -> Counting | None:
    """Less is free in the whole cluster than the pod asks for."""
    for rule in of_type(setting.rules, CapacityRule):
        for column, name in enumerate(rule.names):
            free = int(np.maximum(rule.free[:, column], 0).sum())
            wanted = int(rule.request[column])
            if free < wanted:
                return Counting(
                    kind="capacity",
                    text=f"No rearrangement helps: {free_of(name, free)} in the whole cluster.",
                    numbers={"free": free, "wanted": wanted, "resource": name},
                )
    return None


def _who_stays(setting: Setting) -> str:
    """Why the pods that decide can't move, if they have the reason in common."""
    subject = setting.subject
    spreads = of_type(setting.rules, SpreadRule)
    chosen = subject.running_of(sorted({g for rule in spreads for g in rule.counted_groups}))
    pods = np.flatnonzero(chosen & ~setting.movable).tolist()
    reasons = _reasons(setting, pods)
    if not pods or chosen[setting.movable].any() or len(reasons) != 1:
        return "the pods that stay where they are leave no node whatever is evicted"
    (reason,) = reasons
    number = count_of(len(pods), "matching pod")
    if reason is not None and reason.kind not in _STAYING:
        return f"the {number} {'stays' if len(pods) == 1 else 'stay'}: {reason.text}"
    words = ("has", "it", "it is", "is", "s") if len(pods) == 1 else _SEVERAL
    return _STAYING[_kind(reason)].format(number, *words)


def _kind(reason: Stay | None) -> Immovable | None:
    return None if reason is None else reason.kind


def _reasons(setting: Setting, pods: Sequence[int]) -> set[Stay | None]:
    movability = Movability(setting.subject.cluster, setting.policy)
    return {movability.why(pod) for pod in pods}


_SEVERAL = ("have", "them", "they are", "are", "")
_STAYING: dict[Immovable | None, str] = {
    "noController": (
        "the {0} {1} no controller that would bring {2} back, so planner does not move {2}"
    ),
    "volume": "the {0} {1} volume claims that hold {2} where {3}",
    "localStorage": "the {0} {1} local storage that would be lost",
    "daemonSet": "the {0} belong{5} to a DaemonSet",
    "mirror": "the {0} {4} static on the node",
    "systemCritical": "the {0} {1} a system-critical priority",
    "annotation": "the {0} {1} an annotation that asks to leave {2} alone",
    "terminating": "the {0} {4} terminating already",
    None: "the {0} stay{5}",
}


def _holders(setting: Setting, rule: SpreadRule, domains: Sequence[str]) -> str:
    """` db-0 and db-1 hold 5750m of its 8 CPU, pinned by their volumes.`: why there is no more."""
    rooms = of_type(setting.rules, CapacityRule)
    if not rooms or len(domains) != 1:
        return ""
    cluster, state = setting.subject.cluster, setting.subject.state
    here = rule.topology.domain_of == rule.topology.domains.index(domains[0])
    lacking = rooms[0].only_lacking(here)
    pods = np.flatnonzero((state.node_of >= 0) & ~setting.movable)
    pods = pods[here[state.node_of[pods]]]
    if lacking is None or not 0 < len(pods) <= NAMED:
        return ""
    name = rooms[0].names[lacking]
    column = cluster.resources.column(name)
    held = int(state.requests[cluster.group_of[pods], column].sum())
    offered = int(cluster.resources.allocatable[here, column].sum())
    names = conjoined([cluster.pods[i].name for i in pods.tolist()])
    kinds = {_kind(reason) for reason in _reasons(setting, pods.tolist())}
    one = len(pods) == 1
    words = ("its", "it", "s") if one else ("their", "them", "")
    why = _WHY.get(next(iter(kinds)), "").format(*words) * (len(kinds) == 1)
    return (
        f" {names} {'holds' if one else 'hold'} {amount(name, held)} of its "
        f"{amount_of(name, offered)}{why}."
    )


_WHY: dict[Immovable | None, str] = {
    "noController": ", and no controller would bring {1} back",
    "volume": ", pinned by {0} volumes",
    "localStorage": ", pinned by {0} local storage",
    "daemonSet": ", one per node",
    "mirror": ", static on {0} nodes",
    "systemCritical": ", with a system-critical priority",
    "annotation": ", and {0} annotations ask to leave {1} alone",
    "terminating": ", and terminate{2}",
    None: "",
}
