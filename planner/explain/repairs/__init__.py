"""Changes that let a pod run: proposed by kind, tried on a copy, shown only if they work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.explain.repairs import (
    add_node,
    delete_pod,
    inter_pod_affinity,
    label_node,
    pod_topology_spread,
    scale,
)
from planner.explain.repairs.changes import changes_for, combined, giving_up
from planner.explain.repairs.preemption import preempting
from planner.explain.repairs.proposal import MOST_BESIDE, Case, Proposal
from planner.explain.repairs.rollout_trials import with_rollout
from planner.explain.repairs.unknown_makers import spec_changes_not_known, unknown_maker_of
from planner.explain.situation.overlay import feasible
from planner.repair_costs import COSTS
from planner_models.diagnosis import Change, Repair

__all__ = ["COSTS", "MOST_BESIDE", "Case", "not_listed", "repairs_for", "spec_changes"]

Propose = Callable[[Case], Iterator[Proposal]]
OF_SPREAD = (pod_topology_spread.inclusion_policies, pod_topology_spread.add_node_affinity)
"""Changes of all spread constraints together."""
GENERAL = (
    *OF_SPREAD,
    label_node.propose,
    delete_pod.propose,
    scale.propose,
    add_node.propose,
)
"""Changes that belong to no single rule; they are simply tried."""


def repairs_for(case: Case) -> tuple[Repair, ...]:
    """Cheapest first; changes that lose data last."""
    found = [repair for p in _singles(case) if (repair := _judged(case, p)) is not None]
    found += preempting(case)
    found += [_repair(case, proposal, None) for proposal in scale.propose_own(case)]
    cheapest = min((r.cost for r in found if _changes_a_field(r)), default=None)
    for proposal in combined(case):
        if cheapest is None or proposal.cost < cheapest:
            repair = _judged(case, proposal)
            found += [repair] if repair is not None else []
    unique = {(r.kind, r.object, r.field, r.text): r for r in found}
    return tuple(sorted(unique.values(), key=_rank))


def spec_changes(case: Case) -> Iterator[Proposal]:
    """Single changes of the pod's own rules that let a node pass; what it requests is no rule."""
    for proposal in _singles(case, OF_SPREAD):
        overlay = proposal.overlay
        if proposal.kind == "lowerRequest" or not overlay.only_edits:
            continue
        if unknown_maker_of(case) is None and feasible(case.subject, overlay).any():
            yield proposal


def not_listed(case: Case, *, impossible: bool) -> tuple[str, ...]:
    """Changes that suggest themselves, tried, and why they are no repairs."""
    found = [
        *spec_changes_not_known(case),
        *inter_pod_affinity.alone_is_not_enough(case),
        *label_node.of_no_help(case),
    ]
    if impossible:
        found += delete_pod.replacement_waits(case)
    return tuple(found)


def _changes_a_field(repair: Repair) -> bool:
    others = ("addNode", "deletePod", "nodeCondition", "recreateVolume", "scale")
    return repair.kind not in others


def _rank(repair: Repair) -> tuple[object, ...]:
    return repair.data_loss, repair.cost, repair.kind, repair.field, repair.object, repair.text


def _singles(case: Case, general: Iterable[Propose] = GENERAL) -> Iterator[Proposal]:
    for rule in case.rules:
        nodes = case.refused_only_by(rule)
        if nodes.any():
            yield from changes_for(case, rule, nodes)
        yield from giving_up(case, rule)
    for propose in general:
        yield from propose(case)


def _judged(case: Case, proposal: Proposal) -> Repair | None:
    """The repair, if the scheduler lets a node pass with the change.

    Where others wait beside the pod, the change is taken as far as they all need it, if it can be.
    """
    if proposal.overlay.edits and unknown_maker_of(case) is not None:
        return None
    passing = feasible(case.subject, proposal.overlay)
    if not passing.any():
        return None
    if not case.beside:
        return _repair(case, with_rollout(case, proposal), passing)
    waiting = len(case.beside) + 1
    running = case.running_with(proposal.overlay)
    steps = range(1, waiting if proposal.grown is not None and running < waiting else 0)
    for further in steps:
        assert proposal.grown is not None
        grown = proposal.grown(further)
        if case.running_with(grown.overlay) == waiting:
            proposal, running = grown, waiting
            passing = feasible(case.subject, grown.overlay)
            break
    repair = _repair(case, with_rollout(case, proposal), passing)
    if running == waiting:
        return repair
    note = f"for {running} of {waiting} pods"
    return repair.model_copy(update={"for_all": False, "notes": (note, *repair.notes)})


def _repair(case: Case, proposal: Proposal, passing: BoolArray | None) -> Repair:
    subject = case.subject
    then = proposal.then
    names: tuple[str, ...] = ()
    if passing is not None:
        known = passing[: subject.nodes.total]
        names = subject.nodes.names_at(np.flatnonzero(known))
        names = names or (add_node.NAME,) * int(passing[subject.nodes.total :].any())
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
        command=proposal.command_for(case),
        diff=proposal.diff_for(case),
        parts=tuple(_repair(case, part, None) for part in proposal.parts),
    )


def _then(case: Case, passing: BoolArray) -> str:
    if int(passing.sum()) == 1 and case.subject.bare:
        return f"then {case.subject.nodes.listed(passing)} takes it"
    return f"then {case.subject.nodes.listed(passing)}"
