"""relaxAffinity of pods and relaxAntiAffinity: other company, or none in particular.

Running replicas carry the same anti-affinity against the pod, so changing the pod alone helps only
if they don't; the change is judged for all replicas then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from planner.cluster.node_rules import BoolArray
from planner.cluster.owners import WorkloadRef
from planner.explain.repairs.commands import Op, target_of
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.repairs.unknown_makers import unknown_maker
from planner.explain.rules.inter_pod_affinity import (
    ANTI_FIELD,
    NEAR_FIELD,
    AntiAffinityRule,
    NearRule,
    OthersRule,
    selector_words,
)
from planner.explain.rules.rule import of_type
from planner.explain.situation.lookalikes import meant_key
from planner.explain.situation.overlay import Overlay, SpecEdit, feasible
from planner.words import count_of, short_key
from planner_models.affinity import REQUIRED, PodAffinityTerm
from planner_models.node import HOSTNAME
from planner_models.pod import PodSpec

MOST_WORKLOADS = 6
_NEAR = ("affinity", "podAffinity", REQUIRED)
_APART = ("affinity", "podAntiAffinity", REQUIRED)

Terms = tuple[PodAffinityTerm, ...]


def correct_affinity_key(case: Case, rule: NearRule, nodes: BoolArray) -> Iterator[Proposal]:
    """A mistyped topologyKey of a required term becomes the one that nodes have."""
    for index, term in enumerate(rule.terms):
        have = term.topology_key
        wanted = meant_key(case.subject.cluster.nodes, have)
        if wanted is not None:
            yield case.spec_change(
                "topologyKey",
                f"{NEAR_FIELD}[{index}].topologyKey",
                f"topologyKey {have} -> {wanted}",
                [_near(_by_key(index, wanted))],
                [Op("replace", (*_NEAR, index, "topologyKey"), wanted, have)],
                before=have,
                after=wanted,
            )


def drop_pod_affinity(case: Case, rule: NearRule) -> Iterator[Proposal]:
    """All terms, and each of them by itself."""
    text, op = "drop required pod affinity", Op("remove", _NEAR, None, "...")
    everything = _near(lambda terms: ())
    yield case.spec_change("relaxAffinity", NEAR_FIELD, text, [everything], [op], before="required")
    for index, term in enumerate(rule.terms if len(rule.terms) > 1 else ()):
        asked = f"{selector_words(term.label_selector)} by {short_key(term.topology_key)}"
        yield case.spec_change(
            "relaxAffinity",
            f"{NEAR_FIELD}[{index}]",
            f"pod affinity: drop {asked}",
            [_near(_without(index))],
            [Op("remove", (*_NEAR, index), None, {"topologyKey": term.topology_key})],
            before=asked,
        )


def _near(change: Callable[[Terms], Terms]) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        near = spec.affinity.pod_affinity
        changed = near.replace(required=change(near.required))
        return spec.replace(affinity=spec.affinity.replace(pod_affinity=changed))

    return edit


def _apart(change: Callable[[Terms], Terms]) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        apart = spec.affinity.pod_anti_affinity
        changed = apart.replace(required=change(apart.required))
        return spec.replace(affinity=spec.affinity.replace(pod_anti_affinity=changed))

    return edit


def _without(index: int) -> Callable[[Terms], Terms]:
    return lambda terms: tuple(term for i, term in enumerate(terms) if i != index)


def _by_key(index: int, key: str) -> Callable[[Terms], Terms]:
    return lambda terms: tuple(
        term.replace(topology_key=key) if i == index else term for i, term in enumerate(terms)
    )


def relax_anti_affinity(case: Case, rule: AntiAffinityRule) -> Iterator[Proposal]:
    """The term by hostname, then dropped."""
    have, path = rule.terms[0].topology_key, (*_APART, rule.index)
    for_all = f" for all {case.restarts} pods" if rule.to_itself and case.restarts > 1 else ""
    by_host = case.spec_change(
        "relaxAntiAffinity",
        f"{rule.field}.topologyKey",
        f"anti-affinity by {HOSTNAME}{for_all}",
        [_apart(_by_key(rule.index, HOSTNAME))],
        [Op("replace", (*path, "topologyKey"), HOSTNAME, have)],
        before=have,
        after=HOSTNAME,
    )
    dropped = case.spec_change(
        "relaxAntiAffinity",
        rule.field,
        f"drop {rule.name}{for_all}",
        [_apart(_without(rule.index))],
        [Op("remove", path, None, {"topologyKey": have})],
        before="required",
        extra=10,
    )
    for proposal in (by_host, dropped) if have != HOSTNAME else (dropped,):
        yield _for_all_replicas(case, proposal) if rule.to_itself else proposal


def _for_all_replicas(case: Case, proposal: Proposal) -> Proposal:
    """With how they get there: old pods keep new ones out by the rule that they still carry.

    A rollout goes on only if the first new pod finds a node beside all the old ones.
    """
    alone = proposal.overlay
    rolled = replace(proposal, overlay=replace(alone, rollout=True), judged_for="rollout")
    kind = target_of(case.subject.workload, case.subject.record)[0]
    if kind in ("pod", "job") or feasible(case.subject, alone).any():
        return rolled
    pods = count_of(case.restarts, "pod")
    note = (
        f"strategy Recreate: {pods} stop before the new ones start"
        if kind == "deploy"
        else f"delete all {pods}: the old ones keep the new ones out"
    )
    return replace(rolled, all_at_once=True, notes=(note,))


def alone_is_not_enough(case: Case) -> Iterator[str]:
    """Running replicas carry the same rule against the pod."""
    for rule in of_type(case.rules, AntiAffinityRule):
        edits = (_apart(_without(rule.index)),)
        if not rule.to_itself or feasible(case.subject, Overlay(edits=edits)).any():
            continue
        if feasible(case.subject, Overlay(edits=edits, rollout=True)).any():
            number = case.restarts - 1
            yield (
                f"Changing the pending pod alone does not help: the "
                f"{count_of(number, 'running pod')} {'carries' if number == 1 else 'carry'} the "
                "same rule against it."
            )


def relax_anti_affinity_of_others(case: Case, rule: OthersRule) -> Iterator[Proposal]:
    """The terms of one other workload against the pod, dropped for all its pods."""
    cluster = case.subject.cluster
    dropped = {id(term) for term in rule.terms}
    edit = _apart(lambda terms: tuple(term for term in terms if id(term) not in dropped))
    carriers: dict[WorkloadRef, list[int]] = defaultdict(list)
    for group in rule.groups:
        carriers[cluster.workloads[group]].append(group)
    for workload, groups in sorted(carriers.items()):
        example = cluster.groups[groups[0]].example
        if workload == case.subject.workload or len(carriers) > MOST_WORKLOADS:
            continue
        if unknown_maker(cluster, workload, example) is not None:
            continue
        running = np.flatnonzero(case.subject.running_of(groups)).tolist()
        pods, kind = count_of(len(running), "pod"), target_of(workload, example)[0]
        stay = kind in ("rs", "rc")
        yield Proposal(
            kind="relaxAntiAffinity",
            object=workload.short,
            field=ANTI_FIELD,
            before="required",
            text=f"drop the anti-affinity of {workload.name}",
            cost=case.costs["relaxAntiAffinity"] + 15,
            overlay=Overlay(others=dict.fromkeys(groups, edit)),
            restarts=len(running),
            notes=(f"delete its {pods}" if stay else f"rolls out {pods}",),
            delete=tuple(cluster.pods[i].name for i in running) if stay else (),
            judged_for="rollout",
            ops=_ops_of(case, workload, groups, rule.terms),
            owner=(workload, example),
        )


def _ops_of(
    case: Case, workload: WorkloadRef, groups: Sequence[int], terms: Terms
) -> tuple[Op, ...]:
    """Against the other workload's template, if that has the terms of its pods."""
    cluster = case.subject.cluster
    have = cluster.groups[groups[0]].spec.affinity
    controller = cluster.owners.controllers.get(workload)
    if controller is not None and controller.spec.template.spec.affinity != have:
        return ()
    return tuple(
        Op("remove", (*_APART, index), None, {"topologyKey": term.topology_key})
        for index, term in enumerate(have.pod_anti_affinity.required)
        if any(term is other for other in terms)
    )
