"""Workloads that each fit alone and don't fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from planner.cluster.owners import WorkloadRef
from planner.explain.conflicts.batches import conflicts_of, most_of
from planner.explain.conflicts.facts import Demands
from planner.explain.diagnose import WAITING, Explainer
from planner.explain.repairs import Case, repairs_for
from planner.explain.repairs.commands import scale_command
from planner.explain.room.ending import waiting_sentence
from planner.explain.room.moves import landing_nodes, rearranged
from planner.explain.room.rearrange import Room
from planner.explain.rules import rules_of
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.subject import Subject
from planner.explain.situation.trial_state import Turn, place_in_turn
from planner.words import amount, amount_of, conjoined, count_of, is_free, resource_word
from planner_models.diagnosis import (
    Change,
    Counting,
    Diagnosis,
    Repair,
    WorkloadShare,
)

FIRST = 15
"""What asking for less is cheaper than scaling somebody else."""
MOST_SHARES = 12
"""Ways to divide the places among workloads that are tried."""


def compete(explainer: Explainer, pods: Sequence[int], turn: Turn, room: Room) -> Diagnosis:
    """Why not all of them fit, who gets what, and what would let all run."""
    demands, first = explainer.by_workload(pods), explainer.subject(pods[0])
    left = turn.subject(first)
    rules = rules_of(left)
    capacity = next(iter(of_type(rules, CapacityRule)), None)
    counting = None if room.ending else _argument(explainer, pods, capacity) or room.counting
    room = replace(room, counting=counting)
    best, bound = most_of(first, demands)
    fitting = _fitting(explainer, demands, best, bound)
    are, were = ("is", "was") if best == 1 else ("are", "were")
    known = f"there {are} {best}" if best == bound else f"{best} {were} found"
    found = conflicts_of(first, demands)
    needed = [f.workload for f in found.sets[0][0] if f.workload] if found else list(demands)
    names = conjoined([ref.name for ref in needed])
    rules_text = f"{names} need {count_of(len(pods), 'place')}, and {known}"
    return Diagnosis(
        targets=tuple(explainer.cluster.pods[pod].key for pod in pods),
        workloads=tuple(ref.short for ref in demands),
        verdict=room.verdict,
        headline=rules_text,
        where=(_where(demands, capacity, left),),
        narrative=(_narrative(explainer, demands, capacity, counting, fitting),),
        rearranging=_rearranging(first, room),
        counting=counting,
        rearrangement=rearranged(first, room, landing_nodes(first, room.steps or ())),
        conflicts=found.documents() if found else (),
        more_conflicts=found is not None and not found.complete,
        repairs=_repairs(explainer, demands, best, left, turn.left),
        shares=_shares(explainer, demands),
        message=left.scheduler.evaluate(left.pod).message(),
        proof=(found.proof,) if found else (),
        short=rules_text,
        remedy=WAITING if room.ending else "scale",
    )


def _rearranging(first: Subject, room: Room) -> tuple[str, ...]:
    if room.ending:
        return (waiting_sentence(first, room.ending, room.evictions_then),)
    if room.limit and room.verdict == "undecided":
        return (f"Whether evictions help is not known: {room.limit}.",)
    return ()


def _fits(explainer: Explainer, pods: Sequence[int]) -> bool:
    if not pods:
        return True
    return most_of(explainer.subject(pods[0]), explainer.by_workload(pods))[0] == len(pods)


def _where(demands: Demands, capacity: CapacityRule | None, left: Subject) -> str:
    texts = [f"{r.namespace}/{r.name} ({count_of(len(p), 'pod')})" for r, p in demands.items()]
    if capacity is not None and capacity.blocked.any():
        return f"{', '.join(texts)}; {capacity.where(capacity.blocked)}"
    return ", ".join(texts)


def _argument(
    explainer: Explainer, pods: Sequence[int], capacity: CapacityRule | None
) -> Counting | None:
    """More is asked for than the whole cluster has free."""
    cluster, table = explainer.cluster, explainer.cluster.resources
    for name in capacity.names if capacity is not None else ():
        column = table.column(name)
        wanted = int(table.requests[cluster.group_of[list(pods)], column].sum())
        have = int(np.maximum(table.allocatable[:, column] - cluster.used[:, column], 0).sum())
        if wanted > have:
            text = (
                f"{count_of(len(pods), 'pod')} need {amount_of(name, wanted)}, "
                f"{amount(name, have)} {is_free(name, have)} in the whole cluster: no "
                "rearrangement helps."
            )
            return Counting(kind="capacity", text=text, numbers={"wanted": wanted, "free": have})
    return None


def _narrative(
    explainer: Explainer,
    demands: Demands,
    capacity: CapacityRule | None,
    counting: Counting | None,
    fitting: str,
) -> str:
    kinds = {ref.kind for ref in demands}
    noun = next(iter(kinds)) if len(kinds) == 1 else "workload"
    not_all = "Not both." if len(demands) == 2 else "Not all of them."
    room = _room(explainer, demands, capacity) if capacity is not None else ""
    priorities = {explainer.cluster.pods[p].priority for pods in demands.values() for p in pods}
    first = (
        "Equal priority: whoever comes first wins."
        if len(priorities) == 1
        else "The higher priority comes first."
    )
    sentences = (
        f"Each pod is schedulable alone, and so is each {noun}. {not_all}",
        room,
        counting.text if counting is not None else "",
        fitting,
        first,
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _fitting(explainer: Explainer, demands: Demands, best: int, bound: int | None) -> str:
    """How many fit together; only with a bound it is said that there are no more."""
    wanted = sum(map(len, demands.values()))
    if best != bound:
        return f"{best} of the {wanted} fit together; whether more do is not known."
    if _any_of(explainer, demands, best):
        return f"Any {best} of the {wanted} fit."
    return f"At most {best} of the {wanted} fit together."


def _any_of(explainer: Explainer, demands: Demands, best: int) -> bool:
    """Whether it does not matter whose pods stay out: every way to share the places was tried."""
    pools = list(demands.values())
    ways = [w for w in product(*(range(len(p) + 1) for p in pools)) if sum(w) == best]
    if len(ways) > MOST_SHARES:
        return False
    chosen = ([p for n, pool in zip(w, pools, strict=True) for p in pool[:n]] for w in ways)
    return all(_fits(explainer, pods) for pods in chosen)


def _room(explainer: Explainer, demands: Demands, rule: CapacityRule) -> str:
    """`n1, n2 and n3 have 1500m CPU free each, room for 1 of these pods per node`, at first."""
    cluster = explainer.cluster
    lacking = rule.only_lacking(rule.blocked)
    if lacking is None:
        return ""
    name = rule.names[lacking]
    column = cluster.resources.column(name)
    free = np.maximum(cluster.resources.allocatable[:, column] - cluster.used[:, column], 0)
    places = rule.subject.nodes.describe(rule.blocked)
    low, high = int(free[rule.blocked].min()), int(free[rule.blocked].max())
    span = amount(name, low) if low == high else f"{amount(name, low)} to {amount(name, high)}"
    each = " each" if low == high and int(rule.blocked.sum()) > 1 else ""
    verb = "has" if int(rule.blocked.sum()) == 1 else "have"
    asked = {
        int(cluster.resources.requests[cluster.group_of[p], column])
        for each in demands.values()
        for p in each
    }
    slots = {int(n) // need for n in free[rule.blocked].tolist() for need in asked if need}
    per_node = f", room for {slots.pop()} of these pods per node" if len(slots) == 1 else ""
    return f"{places} {verb} {span} {resource_word(name)} free{each}{per_node}."


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
    explainer: Explainer, demands: Demands, best: int, left: Subject, waiting: Sequence[int]
) -> tuple[Repair, ...]:
    """Fewer replicas of one of them, or what lets every pod that is left over run as well."""
    found: list[Repair] = []
    missing = sum(map(len, demands.values())) - best
    for ref, pods in demands.items():
        fewer = len(pods) - missing
        kept = [p for r, each in demands.items() for p in (each if r != ref else each[:fewer])]
        if fewer >= 0 and _fits(explainer, kept):
            found.append(_scaled(explainer, ref, len(pods), missing))
    case = Case(left, rules_of(left), explainer.options.costs, tuple(waiting[1:]))
    own = frozenset(ref.short for ref in demands)
    found += [
        repair.model_copy(update={"then": "then all run"})
        for repair in repairs_for(case)
        if repair.for_all and not (repair.kind == "scale" and repair.object in own)
    ]
    return tuple(sorted(found, key=lambda repair: (repair.cost, repair.text)))


def _scaled(explainer: Explainer, ref: WorkloadRef, pending: int, missing: int) -> Repair:
    desired = explainer.cluster.owners.desired(ref) or pending
    return Repair(
        kind="scale",
        object=ref.short,
        field="spec.replicas",
        change=Change(from_=desired, to=desired - missing),
        cost=explainer.options.costs["scale"] - FIRST,
        text=f"scale {ref.name} {desired} -> {desired - missing}",
        then="then all run",
        command=scale_command(ref, desired - missing),
    )
