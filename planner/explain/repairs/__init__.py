"""Changes that let a pod run: proposed by kind, tried on a copy, shown only if they work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from models.diagnosis import Change, Repair
from planner.cluster.node_rules import BoolArray
from planner.explain.overlay import feasible
from planner.explain.repairs import (
    add_node,
    add_toleration,
    combined,
    delete_pod,
    free_capacity,
    inclusion_policies,
    label_node,
    lower_min_domains,
    lower_request,
    preemption_policy,
    raise_max_skew,
    recreate_volume,
    relax_affinity,
    relax_anti_affinity,
    scale,
    schedule_anyway,
    uncordon,
)
from planner.explain.repairs.proposal import COSTS, Case, Proposal
from planner.explain.rules.rule import Rule

__all__ = ["COSTS", "Case", "not_listed", "repairs_for"]

PER_RULE: tuple[combined.PerRule, ...] = (
    raise_max_skew.propose,
    lower_min_domains.propose,
    add_toleration.propose,
    uncordon.propose,
    free_capacity.propose,
    lower_request.propose,
    recreate_volume.propose,
)
"""Changes to one rule, proposed for the nodes that it alone refuses."""

GENERAL = (
    schedule_anyway.propose,
    inclusion_policies.propose,
    relax_affinity.propose,
    relax_anti_affinity.propose,
    relax_anti_affinity.propose_of_others,
    label_node.propose,
    delete_pod.propose,
    scale.propose,
    add_node.propose,
)
"""Changes that may help by what else depends on them; they are simply tried."""


def repairs_for(case: Case) -> tuple[Repair, ...]:
    """Cheapest first; changes that lose data last."""
    found = [repair for p in _singles(case) if (repair := _judged(case, p)) is not None]
    found += preemption_policy.judged(case)
    found += [_repair(case, proposal, None) for proposal in scale.propose_own(case)]
    if not any(_changes_a_field(repair) for repair in found):
        pairs = combined.propose(case, PER_RULE)
        found += [repair for p in pairs if (repair := _judged(case, p)) is not None]
    unique = {(r.kind, r.object, r.field, r.text): r for r in found}
    return tuple(sorted(unique.values(), key=_rank))


def not_listed(case: Case, *, searched: bool) -> tuple[str, ...]:
    """Changes that suggest themselves, tried, and why they are no repairs."""
    found = [*relax_anti_affinity.alone_is_not_enough(case)]
    if searched:
        found += delete_pod.replacement_waits(case)
    return tuple(found)


def _changes_a_field(repair: Repair) -> bool:
    return repair.kind not in ("addNode", "deletePod", "recreateVolume", "scale")


def _rank(repair: Repair) -> tuple[object, ...]:
    return repair.data_loss, repair.cost, repair.kind, repair.field, repair.object, repair.text


def _singles(case: Case) -> Iterator[Proposal]:
    for rule in case.rules:
        nodes = case.refused_by((rule,))
        if nodes.any():
            yield from _for_rule(case, rule, nodes)
    for propose in GENERAL:
        yield from propose(case)


def _for_rule(case: Case, rule: Rule, nodes: BoolArray) -> Iterable[Proposal]:
    for propose in PER_RULE:
        yield from propose(case, rule, nodes)


def _judged(case: Case, proposal: Proposal) -> Repair | None:
    """The repair, if the scheduler lets a node pass with the change."""
    passing = feasible(case.subject, proposal.overlay)
    return _repair(case, proposal, passing) if passing.any() else None


def _repair(case: Case, proposal: Proposal, passing: BoolArray | None) -> Repair:
    subject = case.subject
    then = proposal.then
    names: tuple[str, ...] = ()
    if passing is not None:
        known = passing[: subject.places.total]
        names = subject.places.names_at(np.flatnonzero(known))
        names = names or (add_node.NAME,) * int(passing[subject.places.total :].any())
        then = then or _then(case, known)
    changed = proposal.before is not None or proposal.after is not None
    return Repair(
        kind=proposal.kind,
        object=proposal.object,
        field=proposal.field,
        change=Change(from_=proposal.before, to=proposal.after) if changed else None,
        cost=proposal.cost,
        restarts=proposal.restarts,
        data_loss=proposal.data_loss,
        then_nodes=names,
        judged_for=proposal.judged_for,
        text=proposal.text,
        then=then,
        notes=proposal.notes,
        command=proposal.command,
        parts=tuple(_repair(case, part, None) for part in proposal.parts),
    )


def _then(case: Case, passing: BoolArray) -> str:
    if int(passing.sum()) == 1 and case.subject.bare:
        return f"then {case.subject.places.listed(passing)} takes it"
    return f"then {case.subject.places.listed(passing)}"
