"""Workloads that each fit alone and don't fit together.

The facts are the demands of the workloads and the rules of the pods that are left over. A conflict
is shrunk by leaving one demand after the other out, and confirmed by judging what is left again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from models.diagnosis import (
    Change,
    Conflict,
    ConflictFact,
    Counting,
    Diagnosis,
    Repair,
    Verdict,
    WorkloadShare,
)
from planner.cluster.owners import WorkloadRef
from planner.explain.greedy import Turn, place_in_turn
from planner.explain.moves import rearranged
from planner.explain.rearrange import Room, room_for
from planner.explain.repairs import Case, repairs_for
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.subject import Subject
from planner.explain.words import amount, conjoined, count_of, resource_word

if TYPE_CHECKING:
    from planner.explain.many import Explainer

Demands = dict[WorkloadRef, list[int]]


def compete(explainer: Explainer, pods: Sequence[int], turn: Turn, room: Room) -> Diagnosis:
    """Why not all of them fit, who gets what, and what would let all run."""
    demands = explainer.by_workload(pods)
    needed = _shrunk(explainer, demands)
    left = turn.subject(explainer.subject(pods[0]))
    rules = rules_of(left)
    capacity = next((r for r in rules if isinstance(r, CapacityRule)), None)
    verdict: Verdict = "undecided"
    if room.steps is not None:
        verdict = "stuck"
    elif room.counting is not None:
        verdict = "impossible"
    names = conjoined([ref.name for ref in needed])
    counting, argument = _argument(explainer, pods, capacity, room)
    best = room.placed or len(turn.placed)
    minimal = (
        counting is not None
        and counting.kind == "capacity"
        and len(turn.left) == 1
        and [rule.kind for rule in rules] == ["capacity"]
    )
    rules_text = f"{names} need {count_of(len(pods), 'place')}, and there are {best}"
    return Diagnosis(
        targets=tuple(explainer.cluster.pods[pod].key for pod in pods),
        workloads=tuple(ref.short for ref in demands),
        verdict=verdict,
        headline=rules_text,
        where=(_where(demands, capacity, left),),
        narrative=(_narrative(explainer, demands, capacity, argument, best, len(pods)),),
        counting=counting,
        rearrangement=rearranged(explainer.subject(pods[0]), room) if room.steps else None,
        conflicts=(_conflict(needed, left, minimal=minimal),),
        repairs=_repairs(explainer, demands, best, left if len(turn.left) == 1 else None),
        shares=_shares(explainer, demands),
        message=left.scheduler.evaluate(left.pod).message(),
        proof=(_proof(needed, left, minimal=minimal),),
        short=rules_text,
        remedy="scale",
    )


def _fits(explainer: Explainer, pods: Sequence[int]) -> bool:
    first = explainer.subject(pods[0])
    if not place_in_turn(first, pods).left:
        return True
    room = room_for(first, pods, explainer.options.limits)
    return room.steps is not None and not room.evictions


def _shrunk(explainer: Explainer, demands: Demands) -> Demands:
    """Demands none of which can be left out: without any one of them the others fit."""
    kept = dict(demands)
    for ref in list(demands):
        rest = {other: pods for other, pods in kept.items() if other != ref}
        if len(rest) > 1 and not _fits(explainer, [p for pods in rest.values() for p in pods]):
            kept = rest
    return kept


def _where(demands: Demands, capacity: CapacityRule | None, left: Subject) -> str:
    texts = [f"{r.namespace}/{r.name} ({count_of(len(p), 'pod')})" for r, p in demands.items()]
    if capacity is not None and capacity.blocked.any():
        return f"{', '.join(texts)}; {capacity.where(capacity.blocked)}"
    return ", ".join(texts)


def _argument(
    explainer: Explainer, pods: Sequence[int], capacity: CapacityRule | None, room: Room
) -> tuple[Counting | None, str]:
    """More is asked for than the whole cluster has free; else what the search found."""
    cluster = explainer.cluster
    table = cluster.resources
    if capacity is not None:
        for name in capacity.names:
            column = table.column(name)
            wanted = int(table.requests[cluster.group_of[list(pods)], column].sum())
            free = table.allocatable[:, column] - cluster.used[:, column]
            have = int(np.maximum(free, 0).sum())
            if wanted > have:
                text = (
                    f"{count_of(len(pods), 'pod')} need {amount(name, wanted)} "
                    f"{resource_word(name)}, {amount(name, have)} are free in the whole cluster: "
                    "no rearrangement helps."
                )
                numbers = {"wanted": wanted, "free": have}
                return Counting(kind="capacity", text=text, numbers=dict(numbers)), text
    return room.counting, room.counting.text if room.counting is not None else ""


def _narrative(
    explainer: Explainer,
    demands: Demands,
    capacity: CapacityRule | None,
    argument: str,
    best: int,
    wanted: int,
) -> str:
    kinds = {ref.kind for ref in demands}
    noun = next(iter(kinds)) if len(kinds) == 1 else "workload"
    not_all = "Not both." if len(demands) == 2 else "Not all of them."
    room = _room(explainer, capacity) if capacity is not None else ""
    priorities = {explainer.cluster.pods[p].priority for pods in demands.values() for p in pods}
    first = (
        "Equal priority: whoever comes first wins."
        if len(priorities) == 1
        else "The higher priority comes first."
    )
    sentences = (
        f"Each pod is schedulable alone, and so is each {noun}. {not_all}",
        room,
        argument,
        f"At most {best} of the {wanted} fit together.",
        first,
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _room(explainer: Explainer, rule: CapacityRule) -> str:
    """`n1, n2 and n3 have 1500m CPU free each`: before any of these pods is placed."""
    cluster = explainer.cluster
    lacking = rule.lacking(rule.blocked)
    if len(lacking) != 1:
        return ""
    name = rule.names[lacking[0]]
    column = cluster.resources.column(name)
    free = np.maximum(cluster.resources.allocatable[:, column] - cluster.used[:, column], 0)
    places = rule.subject.places.describe(rule.blocked)
    low, high = int(free[rule.blocked].min()), int(free[rule.blocked].max())
    span = amount(name, low) if low == high else f"{amount(name, low)} to {amount(name, high)}"
    each = " each" if low == high and int(rule.blocked.sum()) > 1 else ""
    verb = "has" if int(rule.blocked.sum()) == 1 else "have"
    return f"{places} {verb} {span} {resource_word(name)} free{each}."


def _conflict(needed: Demands, left: Subject, *, minimal: bool) -> Conflict:
    """Demands none of which can be spared, and the rules that the pod left over meets."""
    facts = [
        ConflictFact(
            kind="capacity",
            object=ref.key,
            field="spec.replicas",
            name=ref.name,
            text=f"{ref.name} wants {count_of(len(pods), 'more pod')}.",
            facts={"pending": len(pods)},
        )
        for ref, pods in needed.items()
    ]
    everything = np.ones(left.places.total, np.bool_)
    facts += [rule.fact(everything) for rule in rules_of(left)]
    return Conflict(constraints=tuple(facts), minimal=minimal)


def _proof(needed: Demands, left: Subject, *, minimal: bool) -> str:
    names = [ref.name for ref in needed] + [rule.name for rule in rules_of(left)]
    listed = f"{{{', '.join(names)}}}"
    return f"the conflict {listed} is {'' if minimal else 'not proven '}minimal"


def _shares(explainer: Explainer, demands: Demands) -> tuple[WorkloadShare, ...]:
    """Who runs if it comes alone, and who if another one comes first."""
    cluster, found = explainer.cluster, []
    for ref, pods in demands.items():
        subject = explainer.subject(pods[0])
        alone = len(place_in_turn(subject, pods).placed)
        first: dict[str, int] = {}
        for other, others in demands.items():
            rest = [p for r, each in demands.items() if r != other for p in each]
            placed = place_in_turn(subject, [*others, *rest]).placed
            first[other.short] = sum(pod in placed for pod in pods)
        priority = cluster.pods[pods[0]].priority
        found.append(
            WorkloadShare(
                workload=ref.short,
                pending=len(pods),
                priority=priority,
                alone=alone,
                if_first=first,
            )
        )
    return tuple(found)


def _repairs(
    explainer: Explainer, demands: Demands, best: int, left: Subject | None
) -> tuple[Repair, ...]:
    """Fewer replicas of one of them; or, if one pod is left over, what lets that one run, too."""
    found: list[Repair] = []
    missing = sum(map(len, demands.values())) - best
    for ref, pods in demands.items():
        fewer = len(pods) - missing
        kept = [p for r, each in demands.items() for p in (each if r != ref else each[:fewer])]
        if fewer >= 0 and _fits(explainer, kept):
            found.append(_scaled(explainer, ref, len(pods), missing))
    if left is not None:
        case = Case(left, rules_of(left), explainer.options.costs)
        found += [
            repair.model_copy(update={"then": "then all run"})
            for repair in repairs_for(case)
            if repair.kind in ("addNode", "scale") and repair.object not in _names(demands)
        ]
    return tuple(sorted(found, key=lambda repair: (repair.cost, repair.text)))


def _names(demands: Demands) -> frozenset[str]:
    return frozenset(ref.short for ref in demands)


def _scaled(explainer: Explainer, ref: WorkloadRef, pending: int, missing: int) -> Repair:
    desired = explainer.cluster.owners.desired(ref) or pending
    return Repair(
        kind="scale",
        object=ref.short,
        field="spec.replicas",
        change=Change(from_=desired, to=desired - missing),
        cost=explainer.options.costs["scale"] - 5,
        text=f"scale {ref.name} {desired} -> {desired - missing}",
        then="then all run",
        command=f"kubectl -n {ref.namespace} scale {ref.short} --replicas={desired - missing}",
    )
