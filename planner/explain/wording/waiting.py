"""Diagnoses that need no conflict: pods that a node takes, and pods nobody looks at."""

from __future__ import annotations

from functools import partial

import numpy as np

from planner.explain.conflicts.classes import nodes_table
from planner.explain.rules.pod_topology_spread import SpreadRule
from planner.explain.rules.rule import Rule, of_type
from planner.explain.situation.subject import Subject
from planner.explain.wording.hints import hints
from planner.scheduler.cycle import Evaluation
from planner.words import count_of
from planner_models.diagnosis import Diagnosis
from planner_models.pod import DEFAULT_SCHEDULER


def out_of_queue(subject: Subject) -> Diagnosis | None:
    """Pods that kube-scheduler does not look at."""
    spec, node = subject.record.spec, int(subject.cluster.node_of[subject.pod])
    diagnosis = partial(
        Diagnosis, targets=(subject.key,), workloads=(subject.workload.short,), remedy="-"
    )
    if node >= 0:
        name = subject.cluster.nodes[node].name
        return diagnosis(
            verdict="schedulable",
            headline=f"{subject.headline} runs on {name}",
            feasible_nodes=(name,),
            short=f"runs on {name}",
        )
    if spec.scheduling_gates:
        names = ", ".join(gate.name for gate in spec.scheduling_gates)
        one = len(spec.scheduling_gates) == 1
        return diagnosis(
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
    if spec.scheduler_name not in (DEFAULT_SCHEDULER, subject.profile.resolved.scheduler_name):
        return diagnosis(
            verdict="undecided",
            headline=f"{subject.headline} waits for another scheduler, {spec.scheduler_name}",
            where=(f"{subject.key} spec.schedulerName",),
            short=f"schedulerName {spec.scheduler_name}",
        )
    return None


def schedulable(subject: Subject, evaluation: Evaluation, rules: tuple[Rule, ...]) -> Diagnosis:
    """A pod that some node takes, with what refuses the others."""
    nodes = subject.nodes
    mask = np.zeros(nodes.total, np.bool_)
    mask[evaluation.feasible] = True
    best = np.zeros_like(mask)
    best[evaluation.best] = True
    number = int(mask.sum())
    if number == 1:
        text = f"{nodes.describe(best)} takes {subject.headline}"
    elif number == nodes.total:
        text = f"every node takes {subject.headline}"
    else:
        text = f"{nodes.describe(mask)} take {subject.headline}"
    told = [spread.bypassed() for spread in of_type(rules, SpreadRule)]
    told += [rule.sentence(np.ones_like(mask), first=True) for rule in rules]
    if number > 1:
        verb = "scores best" if int(best.sum()) == 1 else "score best"
        told.append(f"{nodes.describe(best)} {verb}.")
    passing = f"{count_of(number, 'node')} {'passes' if number == 1 else 'pass'}"
    return Diagnosis(
        targets=(subject.key,),
        workloads=(subject.workload.short,),
        verdict="schedulable",
        headline=text,
        narrative=tuple(sentence for sentence in told if sentence),
        feasible_nodes=nodes.names_at(evaluation.feasible),
        hints=hints(subject, rules),
        short="every node has room" if number == nodes.total else passing,
        remedy="-",
        nodes_table=nodes_table(subject, rules),
    )
