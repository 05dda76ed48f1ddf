"""Diagnoses that need no conflict: pods that a node takes, and pods nobody looks at."""

from __future__ import annotations

import numpy as np

from planner.explain.conflicts.classes import nodes_table
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject
from planner.explain.wording.hints import bypassed, hints
from planner.scheduler.cycle import Evaluation
from planner.words import count_of
from planner_models.diagnosis import Diagnosis
from planner_models.pod import DEFAULT_SCHEDULER


def aside(subject: Subject) -> Diagnosis | None:
    """Pods that kube-scheduler does not look at."""
    spec, node = subject.record.spec, int(subject.cluster.node_of[subject.pod])
    if node >= 0:
        name = subject.cluster.nodes[node].name
        return Diagnosis(
            targets=(subject.key,),
            workloads=(subject.workload.short,),
            verdict="schedulable",
            headline=f"{subject.headline} runs on {name}",
            feasible_nodes=(name,),
            short=f"runs on {name}",
            remedy="-",
        )
    if spec.scheduling_gates:
        names = ", ".join(gate.name for gate in spec.scheduling_gates)
        one = len(spec.scheduling_gates) == 1
        return Diagnosis(
            targets=(subject.key,),
            workloads=(subject.workload.short,),
            verdict="gated",
            headline=f"schedulingGates keep {subject.headline} out of the queue: {names}",
            where=(f"{subject.key} spec.schedulingGates",),
            narrative=(
                f"kube-scheduler looks at {subject.name} as soon as the "
                f"{'gate is' if one else 'gates are'} removed; nothing else is judged before.",
            ),
            short=f"schedulingGates: {names}",
            remedy="remove gate" if one else "remove gates",
        )
    if spec.scheduler_name != DEFAULT_SCHEDULER and not _ours(subject):
        return Diagnosis(
            targets=(subject.key,),
            workloads=(subject.workload.short,),
            verdict="undecided",
            headline=f"{subject.headline} waits for another scheduler, {spec.scheduler_name}",
            where=(f"{subject.key} spec.schedulerName",),
            short=f"schedulerName {spec.scheduler_name}",
            remedy="-",
        )
    return None


def _ours(subject: Subject) -> bool:
    return subject.profile.resolved.scheduler_name == subject.record.spec.scheduler_name


def schedulable(subject: Subject, evaluation: Evaluation, rules: tuple[Rule, ...]) -> Diagnosis:
    places = subject.places
    mask = np.zeros(places.total, np.bool_)
    mask[evaluation.feasible] = True
    best = places.names_at(evaluation.best)
    number = int(mask.sum())
    if number == 1:
        text = f"{best[0]} takes {subject.headline}"
    elif number == places.total:
        text = f"every node takes {subject.headline}"
    else:
        text = f"{places.describe(mask)} take {subject.headline}"
    refused = tuple(rule.sentence(np.ones_like(mask), first=True) for rule in rules)
    score = ""
    if number > 1:
        shown = np.zeros_like(mask)
        shown[evaluation.best] = True
        verb = "scores best" if len(best) == 1 else "score best"
        score = f"{places.describe(shown)} {verb}."
    found = hints(subject, rules)
    spreads = [r for r in rules if isinstance(r, SpreadRule) and r.missing.any()]
    told = tuple(bypassed(rule) for rule in spreads)
    return Diagnosis(
        targets=(subject.key,),
        workloads=(subject.workload.short,),
        verdict="schedulable",
        headline=text,
        narrative=(*told, *refused, *((score,) if score else ())),
        feasible_nodes=places.names_at(evaluation.feasible),
        hints=found,
        short="every node has room"
        if number == places.total
        else f"{count_of(number, 'node')} {'passes' if number == 1 else 'pass'}",
        remedy="-",
        nodes_table=nodes_table(subject, rules),
    )
