"""Why pods stay where they are, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.disruption.movability import Immovable, Movability, Stay
from planner.explain.room.stage import Stage
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.pod_topology_spread import SpreadRule, matching_groups
from planner.words import NAMED, amount, amount_of, conjoined, count_of


def who_stays(stage: Stage) -> str:
    """Why the pods that decide can't move, if they have the reason in common."""
    subject = stage.subject
    deciding = [rule for rule in stage.rules if isinstance(rule, SpreadRule)]
    groups: set[int] = set()
    for rule in deciding:
        groups.update(matching_groups(subject, rule.constraint).tolist())
    chosen = np.isin(subject.cluster.group_of, sorted(groups)) & (subject.state.node_of >= 0)
    pods = np.flatnonzero(chosen & ~stage.movable).tolist()
    reasons = _reasons(stage, pods)
    if not pods or chosen[stage.movable].any() or len(reasons) != 1:
        return "the pods that stay where they are leave no node whatever is evicted"
    (reason,) = reasons
    number = count_of(len(pods), "matching pod")
    if reason is not None and reason.kind not in _STAYING:
        return f"the {number} {'stays' if len(pods) == 1 else 'stay'}: {reason.text}"
    return _STAYING[_kind(reason)].format(
        number, _has(len(pods)), "it" if len(pods) == 1 else "them"
    )


def _kind(reason: Stay | None) -> Immovable | None:
    return None if reason is None else reason.kind


def _reasons(stage: Stage, pods: Sequence[int]) -> set[Stay | None]:
    movability = Movability(stage.subject.cluster, stage.policy)
    return {movability.why(pod) for pod in pods}


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


_STAYING: dict[Immovable | None, str] = {
    "noController": (
        "the {0} {1} no controller that would bring {2} back, so planner does not move {2}"
    ),
    "volume": "the {0} {1} volume claims that hold {2} where they are",
    "localStorage": "the {0} {1} local storage that would be lost",
    "daemonSet": "the {0} belong to a DaemonSet",
    "mirror": "the {0} are static pods of their nodes",
    "systemCritical": "the {0} {1} a system-critical priority",
    "annotation": "the {0} {1} an annotation that asks to leave {2} alone",
    "terminating": "the {0} are terminating already",
    None: "the {0} stay",
}


def holders(stage: Stage, rule: SpreadRule, domains: Sequence[str]) -> str:
    """` db-0 and db-1 hold 5750m of its 8 CPU, pinned by their volumes.`: why there is no more."""
    room = next((r for r in stage.rules if isinstance(r, CapacityRule)), None)
    if room is None or len(domains) != 1:
        return ""
    cluster, state = stage.subject.cluster, stage.subject.state
    here = rule.topology.domain_of == rule.topology.domains.index(domains[0])
    lacking = room.lacking(here)
    pods = np.flatnonzero((state.node_of >= 0) & ~stage.movable)
    pods = pods[here[state.node_of[pods]]]
    if len(lacking) != 1 or not 0 < len(pods) <= NAMED:
        return ""
    name = room.names[lacking[0]]
    column = cluster.resources.column(name)
    held = int(state.requests[cluster.group_of[pods], column].sum())
    offered = int(cluster.resources.allocatable[here, column].sum())
    names = conjoined([cluster.pods[i].name for i in pods.tolist()])
    kinds = {_kind(reason) for reason in _reasons(stage, pods.tolist())}
    one = len(pods) == 1
    why = _WHY.get(next(iter(kinds)), "").format("its" if one else "their") * (len(kinds) == 1)
    return (
        f" {names} {'holds' if one else 'hold'} {amount(name, held)} of its "
        f"{amount_of(name, offered)}{why}."
    )


_WHY: dict[Immovable | None, str] = {
    "noController": ", and no controller would bring them back",
    "volume": ", pinned by {0} volumes",
    "localStorage": ", pinned by {0} local storage",
    "daemonSet": ", one per node",
    "mirror": ", static on {0} nodes",
    "systemCritical": ", with a system-critical priority",
    "annotation": ", and {0} annotations ask to leave them alone",
    "terminating": ", and terminate",
    None: "",
}
