"""relaxAntiAffinity: keep apart by node instead of by zone, or not at all.

Running replicas carry the same rule against the pod, so changing the pod alone helps only if they
don't; the change is judged for all replicas then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from planner.cluster.owners import WorkloadRef
from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.inter_pod_affinity import ANTI_FIELD, AntiAffinityRule, OthersRule
from planner.explain.situation.overlay import Overlay, SpecEdit, feasible
from planner_models.affinity import REQUIRED, PodAffinityTerm
from planner_models.node import HOSTNAME
from planner_models.pod import PodSpec

MOST_WORKLOADS = 6


def propose(case: Case) -> Iterator[Proposal]:
    """Each term of the pod: by hostname, then dropped."""
    for rule in case.rules:
        if not isinstance(rule, AntiAffinityRule):
            continue
        if rule.terms[0].topology_key != HOSTNAME:
            yield _proposal(case, rule, by_host=True)
        yield _proposal(case, rule, by_host=False)


def propose_of_others(case: Case) -> Iterator[Proposal]:
    """The terms of one other workload against the pod, dropped for all its pods."""
    cluster = case.subject.cluster
    for rule in case.rules:
        if not isinstance(rule, OthersRule):
            continue
        carriers: dict[WorkloadRef, list[int]] = defaultdict(list)
        for group in rule.groups:
            carriers[cluster.workloads[group]].append(group)
        for workload, groups in sorted(carriers.items()):
            if workload == case.subject.workload or len(carriers) > MOST_WORKLOADS:
                continue
            chosen = np.isin(cluster.group_of, groups) & (case.subject.state.node_of >= 0)
            number = int(chosen.sum())
            yield Proposal(
                kind="relaxAntiAffinity",
                object=workload.short,
                field=ANTI_FIELD,
                before="required",
                after=None,
                text=f"drop the anti-affinity of {workload.name}",
                cost=case.costs["relaxAntiAffinity"] + 15,
                overlay=Overlay(others=dict.fromkeys(groups, _without(rule.terms))),
                restarts=number,
                notes=(f"rolls out {number} pod{'' if number == 1 else 's'}",),
                judged_for="rollout",
                ops=_ops_of(case, workload, groups, rule.terms),
                owner=(workload, cluster.groups[groups[0]].example),
            )


def _ops_of(
    case: Case, workload: WorkloadRef, groups: list[int], terms: tuple[PodAffinityTerm, ...]
) -> tuple[Op, ...]:
    """Against the other workload's template, if that has the terms of its pods."""
    cluster = case.subject.cluster
    have = cluster.groups[groups[0]].spec.affinity
    controller = cluster.owners.controllers.get(workload)
    if controller is not None and controller.spec.template.spec.affinity != have:
        return ()
    path = ("affinity", "podAntiAffinity", REQUIRED)
    return tuple(
        Op("remove", (*path, index), None, {"topologyKey": term.topology_key})
        for index, term in enumerate(have.pod_anti_affinity.required)
        if any(term is other for other in terms)
    )


def _without(terms: tuple[PodAffinityTerm, ...]) -> SpecEdit:
    dropped = {id(term) for term in terms}

    def edit(spec: PodSpec) -> PodSpec:
        anti = spec.affinity.pod_anti_affinity
        kept = tuple(term for term in anti.required if id(term) not in dropped)
        changed = spec.affinity.replace(pod_anti_affinity=anti.replace(required=kept))
        return spec.replace(affinity=changed)

    return edit


def alone_is_not_enough(case: Case) -> Iterator[str]:
    """Running replicas carry the same rule against the pod."""
    for rule in case.rules:
        if not isinstance(rule, AntiAffinityRule) or not rule.to_itself:
            continue
        alone = feasible(case.subject, Overlay(edits=(_edit(rule.index, by_host=False),)))
        together = feasible(
            case.subject, Overlay(edits=(_edit(rule.index, by_host=False),), rollout=True)
        )
        if not alone.any() and together.any():
            number = case.restarts - 1
            yield (
                f"Changing the pending pod alone does not help: the {number} running "
                f"pod{'' if number == 1 else 's'} carry the same rule against it."
            )


def _proposal(case: Case, rule: AntiAffinityRule, *, by_host: bool) -> Proposal:
    rollout = rule.to_itself
    for_all = f" for all {case.restarts} pods" if rollout and case.restarts > 1 else ""
    index = rule.index
    have = rule.terms[0].topology_key
    path = ("affinity", "podAntiAffinity", REQUIRED, index)
    op = (
        Op("replace", (*path, "topologyKey"), HOSTNAME, have)
        if by_host
        else Op("remove", path, None, {"topologyKey": have})
    )
    text = f"anti-affinity by {HOSTNAME}" if by_host else f"drop {rule.name}"
    return Proposal(
        kind="relaxAntiAffinity",
        object=case.owner,
        field=f"{rule.field}{'.topologyKey' if by_host else ''}",
        before=rule.terms[0].topology_key if by_host else "required",
        after=HOSTNAME if by_host else None,
        text=f"{text}{for_all}",
        cost=case.costs["relaxAntiAffinity"] + (0 if by_host else 10),
        overlay=Overlay(edits=(_edit(index, by_host),), rollout=rollout),
        restarts=case.restarts,
        notes=(case.rollout,),
        judged_for="rollout" if rollout else "pod",
        ops=case.ops(op),
    )


def _edit(index: int, by_host: bool) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        anti = spec.affinity.pod_anti_affinity
        terms: list[PodAffinityTerm] = list(anti.required)
        if by_host:
            terms[index] = terms[index].replace(topology_key=HOSTNAME)
        else:
            del terms[index]
        changed = spec.affinity.replace(pod_anti_affinity=anti.replace(required=tuple(terms)))
        return spec.replace(affinity=changed)

    return edit
